// Package gateway has the tests of package s3 against versitygw, an S3 server that is not ours. It
// is a module of its own, because it requires much.
package gateway
