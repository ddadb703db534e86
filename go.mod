module github.com/go-rntuple/go-rntuple

go 1.26.0

require (
	github.com/cespare/xxhash/v2 v2.3.0
	github.com/klauspost/compress v1.20.3
	github.com/pierrec/lz4/v4 v4.1.33
	github.com/ulikunitz/xz v0.5.17
	github.com/zeebo/xxh3 v1.1.0
	golang.org/x/sys v0.50.0
)

require github.com/klauspost/cpuid/v2 v2.4.2 // indirect
