package engine

import (
	"testing"
)

// TestVerify finds damage, and none where there is none.
func TestVerify(t *testing.T) {
	content := read(t, dimuon)
	e := new(Engine)
	o := ask[Opened](t, e, "open", map[string]any{"url": serve(t, &backend{b: content}), "name": "a.root"})
	if v := ask[Verdict](t, e, "verify", map[string]any{}); !v.OK || len(v.Findings) > 0 ||
		v.Pages == 0 || o.Name != "a.root" {
		t.Errorf("%+v", v)
	}
	pages := ask[ClusterPages](t, e, "storage", map[string]any{"cluster": 0})
	page := pages.Columns[0].Pages[0]
	content[page.Offset+page.Length/2] ^= 1
	ask[Opened](t, e, "open", map[string]any{"url": serve(t, &backend{b: content})})
	v := ask[Verdict](t, e, "verify", map[string]any{"ntuple": "Events"})
	if v.OK || len(v.Findings) != 1 || v.Findings[0].Offset == nil || *v.Findings[0].Offset != page.Offset ||
		v.Findings[0].What != "pages" || v.Findings[0].Severity != "error" {
		t.Errorf("%+v", v)
	}
	_, _, err := try[Rows](e, "rows", map[string]any{"count": 1}, nil)
	if err == nil || ErrorOf(err).Kind != "checksum" || ErrorOf(err).Offset == nil {
		t.Errorf("%+v", err)
	}
}
