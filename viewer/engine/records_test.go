package engine

import (
	"bytes"
	"testing"
)

// TestRecords compares the bytes of records with those of the file, and what is listed with what is
// shown.
func TestRecords(t *testing.T) {
	for _, path := range []string{dimuon, good + "/special_dirs.root", good + "/types_none_one.root"} {
		e, o := opened(t, path)
		content := read(t, path)
		list := ask[struct {
			Records  []RecordInfo
			Warnings []string
		}](t, e, "records", map[string]any{})
		whats := map[string]int{}
		for _, info := range list.Records {
			whats[info.What]++
			got, b, err := try[Record](e, "record", map[string]any{"id": info.ID}, nil)
			if err != nil {
				t.Errorf("%s: %+v: %v", path, info, err)
				continue
			}
			if got.Offset != info.Offset || got.Length != info.Length || got.Error != "" || got.Truncated {
				t.Errorf("%s: %+v, want %+v", path, got, info)
			}
			stored := content[info.Offset : info.Offset+info.Length]
			plain := b["bytes"]
			switch {
			case got.Compressed && (!bytes.Equal(b["compressedBytes"], stored) || len(plain) <= len(stored)):
				t.Errorf("%s: %s: %d bytes as stored, %d uncompressed", path, info.Name, len(b["compressedBytes"]), len(plain))
			case !got.Compressed && !bytes.HasPrefix(stored, plain):
				t.Errorf("%s: %s has other bytes", path, info.Name)
			}
			end := 0
			for _, m := range got.Meanings {
				if m.Offset != end {
					t.Errorf("%s: %s: a member is at %d, want %d", path, info.Name, m.Offset, end)
				}
				end += m.Length
			}
			if end != len(plain) {
				t.Errorf("%s: %s: meanings of %d of %d bytes", path, info.Name, end, len(plain))
			}
			at, _, err := try[Record](e, "record", map[string]any{"at": info.Offset}, nil)
			if err != nil || at.Offset > info.Offset || at.Offset+at.Length <= info.Offset {
				t.Errorf("%s: the record at %d: %s at %d, %v", path, info.Offset, at.Name, at.Offset, err)
			}
		}
		if len(list.Warnings) > 0 || whats["container"] < 4 || len(whats) != 1+len(o.NTuples) {
			t.Errorf("%s: %v, %v", path, whats, list.Warnings)
		}
		for _, n := range o.NTuples {
			if whats["ntuple "+n.Name] < 4 {
				t.Errorf("%s: records %v", path, whats)
			}
		}
		c := ask[ClusterPages](t, e, "storage", map[string]any{"ntuple": o.NTuples[0].Name, "cluster": 0})
		for _, column := range c.Columns {
			for _, p := range column.Pages {
				got, _, err := try[Record](e, "record", map[string]any{"id": p.ID}, nil)
				if err != nil || got.Offset != p.Offset || len(got.Elements) != min(int(p.Elements), maxElements) {
					t.Fatalf("%s: page of %s: %+v, %v", path, column.Path, got, err)
				}
			}
		}
	}
}
