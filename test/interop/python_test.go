package interop

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestRDataFrame has ROOT compute with what the Python package writes of tables without nulls,
// whose columns must be plain numbers and vectors for that. ROOT must not warn of anything.
func TestRDataFrame(t *testing.T) {
	needed(t)
	dir := t.TempDir()
	rnt := filepath.Join(dir, "rnt")
	if out, err := exec.Command("go", "build", "-o", rnt, "../../cmd/rnt").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, warnings, err := run("rdataframe.py", rnt, dir)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) < 3 || len(warnings) > 0 {
		t.Errorf("%s%s", out, warnings)
	}
	for _, line := range lines {
		if !strings.HasSuffix(line, " [2, 4, 6] [1.5, 0.0, 6.0]") {
			t.Error(line)
		}
	}
}
