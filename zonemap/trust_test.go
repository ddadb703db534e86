package zonemap_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/expression"
	_ "github.com/go-rntuple/go-rntuple/remote/https"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/surgery"
)

// TestTrust has a zone map that lies. It is believed of a local file, as docs/zonemaps.md says, and of
// one at a URL only if that is wanted. An output has no lie that verify does not find, and one of
// which pages are decompressed or made anew has none.
func TestTrust(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	lying := write(t, rntuple.ZoneMap())
	if err := surgery.RemoveIndex(ctx, surgery.Input{Path: lying}); err != nil {
		t.Fatal(err)
	}
	remade(t, write(t, rntuple.ZoneMap()), lying, func(_ *rntuple.EntryRange, a *record) {
		if a.Field == "N" {
			a.IntGreatest = a.IntLeast
		}
	})
	s := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(lying))))
	defer s.Close()
	url := s.URL + "/" + filepath.Base(lying)
	trust := rntuple.TrustZoneMaps(true)

	e, err := expression.Parse("N == 40")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		opts []rntuple.Option
		want int64 // entries
	}{{lying, nil, 0}, {url, nil, 1}, {url, []rntuple.Option{trust}, 0}} {
		report, err := surgery.Skim(ctx, filepath.Join(dir, "skim.root"), []surgery.Input{{Path: c.path}}, e.Condition(), surgery.Read(c.opts...))
		if err != nil {
			t.Fatal(err)
		}
		if report.Entries != c.want {
			t.Errorf("%s: %d entries, want %d", c.path, report.Entries, c.want)
		}
	}

	out := filepath.Join(dir, "out.root")
	for _, c := range []struct {
		path  string
		opts  []surgery.Option
		zones string // lie, right or none
	}{
		{lying, nil, "lie"},
		{lying, []surgery.Option{surgery.AtLeast(surgery.Rewrite)}, "right"},
		{lying, []surgery.Option{surgery.Compression(101)}, "right"},
		{lying, []surgery.Option{surgery.AtLeast(surgery.Reseal)}, "right"},
		{url, nil, "none"},
		{url, []surgery.Option{surgery.Read(trust)}, "lie"},
		{url, []surgery.Option{surgery.AtLeast(surgery.Rewrite)}, "none"},
	} {
		if _, err := surgery.Merge(ctx, out, []surgery.Input{{Path: c.path}}, c.opts...); err != nil {
			t.Fatal(err)
		}
		_, m := open(t, out)
		zones := "right"
		if paths, _ := m.Fields(); !slices.Contains(paths, "N") {
			zones = "none"
		} else if strings.Contains(strings.Join(verified(t, out), "\n"), ": the bounds are ") {
			zones = "lie"
		}
		if zones != c.zones {
			t.Errorf("%s, %d options: %s, want %s", c.path, len(c.opts), zones, c.zones)
		}
	}
}
