package interop

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestArrow has pyarrow, pandas, Polars, DuckDB and awkward read every type in every encoding,
// compression and layout through rnt arrow. The values must be ROOT's, and uproot's but for
// what python/tests/test_values.py explains.
func TestArrow(t *testing.T) {
	needed(t)
	if os.Getenv("RNTUPLE_CAMPAIGN") == "" {
		t.Skip("skipped without RNTUPLE_CAMPAIGN=1: python/tests read a part of the matrix")
	}
	good, err := matrix()
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("../../bridge/python/test.sh", filepath.Join(cache, "go-rntuple", "python"), "-k",
		"test_root or test_uproot or test_tools")
	cmd.Env = append(os.Environ(), "RNTUPLE_GOOD="+good)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}
