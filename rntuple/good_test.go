package rntuple_test

import (
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/test/golden"
)

// TestGood reads files that ROOT has written, all types in all encodings, and
// compares all values with those that ROOT reads. See testdata/PROVENANCE.md.
func TestGood(t *testing.T) {
	golden.Test(t, "../testdata/good/manifest.json", "../testdata/good")
	golden.Test(t, "../testdata/good/special_manifest.json", "../testdata/good")
}
