module github.com/go-rntuple/go-rntuple/viewer/test

go 1.26.0

require (
	github.com/chromedp/chromedp v0.23.0
	github.com/go-rntuple/go-rntuple v0.1.0
	github.com/go-rntuple/go-rntuple/viewer v0.1.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/chromedp/cdproto v0.159.0 // indirect
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/klauspost/cpuid/v2 v2.4.2 // indirect
	github.com/pierrec/lz4/v4 v4.1.33 // indirect
	github.com/ulikunitz/xz v0.5.17 // indirect
	github.com/zeebo/xxh3 v1.1.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace (
	github.com/go-rntuple/go-rntuple => ../..
	github.com/go-rntuple/go-rntuple/viewer => ..
)
