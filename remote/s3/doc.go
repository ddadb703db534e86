// Package s3 registers the scheme s3 with package remote, which then reads and writes objects of
// Amazon S3 and compatible stores. Import it for this side effect.
//
// A URL is s3://BUCKET/KEY. As in Amazon's tools, the key is taken literally: "%20" in it is not a
// space. It cannot contain "?" or "#", except in a final "?versionId=ID", which selects a version
// of the object.
//
// Region, credentials and endpoint are found as by Amazon's tools: in AWS_PROFILE, AWS_REGION,
// AWS_ACCESS_KEY_ID and the other variables, the files ~/.aws/config and ~/.aws/credentials, the
// roles named there, and the EC2 instance metadata. AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, or
// endpoint_url in a profile is the URL of another store. Requests are not signed if there are no
// credentials, if AWS_NO_SIGN_REQUEST is set to true, yes or 1, or with remote.Options.Anonymous.
// The region of a bucket is detected automatically.
//
// Requests to Amazon use virtual-hosted-style addresses; for buckets with a dot in their name, and
// for other stores, they use path-style addresses.
//
// Objects of up to 5 GB are written by one request, larger ones in concurrent parts of at least 64
// MiB. In both cases, readers see either the complete new object or the previous one. If the object
// must not exist yet, a store that supports If-None-Match checks this when the object becomes
// visible; for others, it is checked before. S3 verifies the data against the SHA-256 in the
// request's signature.
//
// The package also registers the schemes ntpl+s3+https and ntpl+s3+http, for RNTuples that ROOT has
// written to a store with one object per page: ntpl+s3+https://HOST/BUCKET/PATH. They can only be
// read. As in ROOT, this is experimental and may change; docs/guides/remote.md describes it, with
// its sources. As in ROOT, S3_ACCESS_KEY, S3_SECRET_KEY and S3_REGION, if set, are used to sign
// requests; otherwise credentials are found as described above. AWS_ENDPOINT_URL has no effect: the
// URL names the store.
package s3
