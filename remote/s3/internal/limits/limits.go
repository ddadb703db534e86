package limits

// Sizes in bytes, and the number of parts.
//
// Source: Amazon S3 User Guide, "Amazon S3 multipart upload limits".
var (
	Put   int64 = 5e9      // the largest object that one request writes
	Part  int64 = 64 << 20 // the least part of a larger one; 5 MiB would do, but takes more requests
	Parts int64 = 10000    // of an object
)
