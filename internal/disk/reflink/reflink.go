package reflink

// maxBlock is the largest block size that BlockSize returns, in bytes.
const maxBlock = 64 << 10
