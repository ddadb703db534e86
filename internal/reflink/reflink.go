package reflink

// maxBlock is the largest block that a caller is asked to align with.
const maxBlock = 64 << 10
