// Package s3 lets package remote read and write objects of Amazon S3 and of stores that speak its
// protocol: it registers the scheme s3. Import it for that effect.
//
// A URL is s3://BUCKET/KEY. The key is taken as it is, as by Amazon's tools: "%20" in it does not
// stand for a space. It cannot have "?" and "#", except for "?versionId=ID" at its end, which names
// a version of the object.
//
// Region, credentials and endpoint come from where Amazon's tools have them: AWS_PROFILE,
// AWS_REGION, AWS_ACCESS_KEY_ID and the other variables, the files ~/.aws/config and
// ~/.aws/credentials, roles that these name, and the metadata of Amazon's machines.
// AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, or endpoint_url in a profile is the URL of another store.
// Requests are not signed if there are no credentials, if AWS_NO_SIGN_REQUEST is set to true, yes
// or 1, or with remote.Options.Anonymous. The region of a bucket need not be known: S3 tells it.
//
// Buckets of Amazon are part of the host's name, as S3 wants it; those with a dot in their name,
// and those of other stores, are the first part of the path.
//
// Objects of up to 5 GB are written by one request, larger ones in parts of 64 MiB or more, several
// at a time. In both cases readers find either the whole object or the one that was there before.
// The condition that there must be no object yet is checked by the store, if it knows
// If-None-Match, when the object becomes visible; others are asked before. S3 checks what arrives
// against the SHA-256 in the request's signature.
//
// The package also registers the schemes ntpl+s3+https and ntpl+s3+http, of RNTuples that ROOT has
// written into a store as objects, one for each page: ntpl+s3+https://HOST/BUCKET/PATH. They are
// read only. As in ROOT, that is experimental, and may change; docs/guides/remote.md describes it,
// with its sources. If S3_ACCESS_KEY and S3_SECRET_KEY are set, requests are signed with them, as
// by ROOT, for the region S3_REGION if that is set; otherwise as described above. AWS_ENDPOINT_URL
// has no effect: the URL names the store.
package s3
