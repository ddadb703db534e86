package zonemap_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/go-rntuple/go-rntuple/remote/https"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

// lie makes a sample with a zone map that claims that N has its least value in all entries of a
// cluster.
func lie(t *testing.T) (path string) {
	t.Helper()
	path = write(t, &rntuple.WriteOptions{ZoneMap: []string{"*"}})
	if err := surgery.RemoveIndex(t.Context(), surgery.Input{Path: path}, nil); err != nil {
		t.Fatal(err)
	}
	return remade(t, write(t, &rntuple.WriteOptions{ZoneMap: []string{"*"}}), path,
		func(_ *rntuple.EntryRange, a *record) {
			if a.Field == "N" {
				a.IntGreatest = a.IntLeast
			}
		})
}

// served returns the URL of a local file.
func served(t *testing.T, path string) string {
	t.Helper()
	s := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(path))))
	t.Cleanup(s.Close)
	return s.URL + "/" + filepath.Base(path)
}

// TestTrust selects entries with a zone map that lies. It is believed of a local file, as
// docs/reference/zonemaps.md says, and of one at a URL only if the option says so.
func TestTrust(t *testing.T) {
	good, lying := write(t, &rntuple.WriteOptions{ZoneMap: []string{"*"}}), lie(t)
	url := served(t, lying)
	e, err := expression.Parse("N == 40")
	if err != nil {
		t.Fatal(err)
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	sources := map[string]func(path string, opts *rntuple.ReadOptions) (_ rntuple.Source, others int64){
		"file": func(path string, opts *rntuple.ReadOptions) (rntuple.Source, int64) {
			r, err := rntuple.Open(path, "sample", opts)
			check(err)
			return r, 0
		},
		"chain": func(path string, opts *rntuple.ReadOptions) (rntuple.Source, int64) {
			c, err := rntuple.OpenChain("sample", []string{good, path}, opts)
			check(err)
			return c, 1
		},
		"join": func(path string, opts *rntuple.ReadOptions) (rntuple.Source, int64) {
			r, err := rntuple.Open(path, "sample", opts)
			check(err)
			friend, err := rntuple.Open(good, "sample", nil)
			check(err)
			j, err := rntuple.NewJoin(r, rntuple.Friend("other", friend))
			check(err)
			return j, 0
		},
	}
	for _, c := range []struct {
		path string
		opts rntuple.ReadOptions
		want int64 // entries of the file that lies
	}{
		{lying, rntuple.ReadOptions{}, 0},
		{lying, rntuple.ReadOptions{ZoneMaps: rntuple.TrustNone}, 1},
		{url, rntuple.ReadOptions{}, 1},
		{url, rntuple.ReadOptions{ZoneMaps: rntuple.TrustAll}, 0},
	} {
		for name, open := range sources {
			s, others := open(c.path, &c.opts)
			n := int64(0)
			for part, err := range e.Condition().Select(s, rntuple.EntryRange{End: 100 * (1 + others)}) {
				check(err)
				n += part.Len()
			}
			if n != c.want+others {
				t.Errorf("%s, %s, trust %d: %d entries, want %d", name, c.path, c.opts.ZoneMaps, n, c.want+others)
			}
		}
		report, err := surgery.Skim(t.Context(), filepath.Join(t.TempDir(), "skim.root"),
			[]surgery.Input{{Path: c.path}}, e.Condition(),
			&surgery.SkimOptions{Options: surgery.Options{Read: c.opts}})
		check(err)
		if report.Entries != c.want {
			t.Errorf("skim, %s, trust %d: %d entries, want %d", c.path, c.opts.ZoneMaps, report.Entries, c.want)
		}
	}
}

// TestTrustInOutputs copies a file with a zone map that lies. An output has no lie that verify does
// not find, none of a URL, and none if pages are decompressed or made anew.
func TestTrustInOutputs(t *testing.T) {
	lying := lie(t)
	url := served(t, lying)
	all, err := expression.Parse("N >= -50")
	if err != nil {
		t.Fatal(err)
	}
	untrusted, trusted := rntuple.ReadOptions{ZoneMaps: rntuple.TrustNone}, rntuple.ReadOptions{ZoneMaps: rntuple.TrustAll}
	type cases map[string][]surgery.Options // by what comes of the zone map: lie, right or none
	copied := map[string]cases{
		lying: {"lie": {{}}, "none": {{Read: untrusted}}},
		url:   {"none": {{}}, "lie": {{Read: trusted}}},
	}
	for _, op := range []struct {
		name   string
		do     func(ctx context.Context, out string, in surgery.Input, o surgery.Options) error
		inputs map[string]cases
	}{
		{"merge", func(ctx context.Context, out string, in surgery.Input, o surgery.Options) error {
			_, err := surgery.Merge(ctx, out, []surgery.Input{in}, &surgery.MergeOptions{Options: o})
			return err
		}, map[string]cases{
			lying: {
				"lie":   {{}},
				"right": {{AtLeast: surgery.Rewrite}, {AtLeast: surgery.Reseal}, {Write: rntuple.WriteOptions{Compression: 101}}},
				"none":  {{Read: untrusted}, {Read: untrusted, AtLeast: surgery.Rewrite}},
			},
			url: {
				"none":  {{}, {AtLeast: surgery.Rewrite}},
				"lie":   {{Read: trusted}},
				"right": {{Read: trusted, AtLeast: surgery.Rewrite}},
			},
		}},
		{"hmerge", func(ctx context.Context, out string, in surgery.Input, o surgery.Options) error {
			_, err := surgery.HMerge(ctx, out, []surgery.Input{in}, &surgery.HMergeOptions{Options: o})
			return err
		}, copied},
		{"concat", func(ctx context.Context, out string, in surgery.Input, o surgery.Options) error {
			_, err := surgery.Concat(ctx, out, []surgery.Piece{{Input: in}}, &surgery.MergeOptions{Options: o})
			return err
		}, copied},
		{"skim", func(ctx context.Context, out string, in surgery.Input, o surgery.Options) error {
			_, err := surgery.Skim(ctx, out, []surgery.Input{in}, all.Condition(), &surgery.SkimOptions{Options: o})
			return err
		}, copied},
		{"slim", func(ctx context.Context, out string, in surgery.Input, o surgery.Options) error {
			_, err := surgery.Slim(ctx, out, in, &surgery.SlimOptions{Options: o, Keep: []string{"N", "F"}})
			return err
		}, copied},
		{"rename", func(ctx context.Context, out string, in surgery.Input, o surgery.Options) error {
			_, err := surgery.Rename(ctx, out, in, surgery.Renaming{Name: "renamed"}, &o)
			return err
		}, copied},
		{"repack", func(ctx context.Context, out string, in surgery.Input, o surgery.Options) error {
			_, err := surgery.Repack(ctx, out, in, &surgery.RepackOptions{Options: o})
			return err
		}, copied},
		{"split", func(ctx context.Context, out string, in surgery.Input, o surgery.Options) error {
			_, err := surgery.Split(ctx, out+".%d", in, surgery.PartSize{Entries: 100}, &surgery.SplitOptions{Options: o})
			if err == nil {
				err = os.Rename(out+".0", out)
			}
			return err
		}, copied},
	} {
		for in, byZones := range op.inputs {
			for want, options := range byZones {
				for i, opts := range options {
					out := filepath.Join(t.TempDir(), "out.root")
					if err := op.do(t.Context(), out, surgery.Input{Path: in}, opts); err != nil {
						t.Fatal(op.name, err)
					}
					r, err := rntuple.Open(out, "", nil)
					if err != nil {
						t.Fatal(err)
					}
					m, err := r.ZoneMap()
					if err != nil {
						t.Fatal(err)
					}
					zones := "right"
					if paths, _ := m.Fields(); !slices.Contains(paths, "N") {
						zones = "none"
					} else if strings.Contains(strings.Join(verified(t, out), "\n"), ": the bounds are ") {
						zones = "lie"
					}
					if zones != want {
						t.Errorf("%s of %s, options %d: zones %s, want %s", op.name, in, i, zones, want)
					}
					r.Close()
				}
			}
		}
	}
}

// TestPrefix has an attribute set that a prefix would make the zone map of the output.
func TestPrefix(t *testing.T) {
	path := write(t, nil)
	w, err := rntuple.Append[event](path, "sample", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rntuple.NewAttributes[record](w, "zonemap", nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = surgery.HMerge(t.Context(), filepath.Join(t.TempDir(), "out.root"), []surgery.Input{{Path: path}},
		&surgery.HMergeOptions{Prefix: []string{"rnt_"}})
	if !errors.As(err, new(*surgery.IncompatibleError)) ||
		!strings.Contains(err.Error(), `attribute set "rnt_zonemap": the zone map already has one with this name`) {
		t.Error(err)
	}
}
