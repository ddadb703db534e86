package main

import (
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/clitest"
	"github.com/go-rntuple/go-rntuple/envelope"
)

// A field that is newer than the tool is left out, and that is said.
func TestHidden(t *testing.T) {
	e := clitest.NewEditor(t, dimuon)
	path := e.Write(e.NTuple("Events", func(h *envelope.Header) { h.Fields[1].Role = 77 }))
	stdout, stderr, status := try("cat", path, "--count=1", "--first=79999")
	if status != exitSkipped || !strings.HasPrefix(stdout, `{"run":194125,"event":`) {
		t.Errorf("status %d, %s", status, stdout)
	}
	compare(t, stderr, `rnt: warning: `+path+`: skipping field "luminosityBlock": unsupported: field "luminosityBlock" has the structural role 0x4d`+"\n")

	compare(t, rnt(t, "cat", path, "--count=1", "--first=79999", "-f", "run"), `{"run":194125}`+"\n")
	_, stderr, status = try("cat", path, "-f", "run,luminosityBlock")
	if status != exitError || !strings.Contains(stderr, "structural role 0x4d") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("status %d, %s", status, stderr)
	}
	for _, command := range []string{"cat -q IN --count=1", "head -q -1 IN", "tail -q -1 IN", "convert -q --to csv IN -",
		"arrow -q IN --fields=run --count 1"} {
		want := exitSkipped
		if strings.Contains(command, "--fields") {
			want = exitOK
		}
		if _, stderr, status := try(clitest.Arguments(command, "IN", path)...); status != want || stderr != "" {
			t.Errorf("rnt %s: status %d, %s", command, status, stderr)
		}
	}
	if out := rnt(t, "schema", path); !strings.Contains(out, "13 top-level fields (1 hidden)") ||
		!strings.Contains(out, "HIDDEN: ") {
		t.Errorf("schema prints\n%s", out)
	}
	if s := decode[struct {
		Fields []struct {
			Path, Hidden string
			Disk         int64 `json:"disk_bytes"`
		}
	}](t, "stat", "--json", path); s.Fields[1].Path != "luminosityBlock" || s.Fields[1].Hidden == "" ||
		s.Fields[1].Disk != 1150 {
		t.Errorf("got %+v", s.Fields[1])
	}
}
