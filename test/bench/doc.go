// Bench compares the speed of go-rntuple with ROOT, uproot, parquet-go, arrow-go and groot; see
// README.md.
//
//	go run ./bench [-quick] [-rows REGEXP] [-scaling] [-merge] [-codecs] [-before CHECKOUT] …
package main
