// Package gateway tests package s3 against versitygw, an independent S3 server. It is a separate
// module because of its many dependencies.
package gateway
