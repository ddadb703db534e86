package rescue

import (
	"encoding/json"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

func TestReportString(t *testing.T) {
	r := &Report{
		Container: "no header",
		NTuples: []NTuple{
			{Path: "a", Entries: 10, Saved: 7, Lost: []Loss{{rntuple.EntryRange{First: 7, End: 10}, "damaged"}},
				Notes: []string{"no extra types"}},
			{Path: "b", Entries: -1, Saved: 2, Lost: []Loss{{rntuple.EntryRange{First: 2, End: -1}, "no page list"}}},
		},
		Lost: []string{"a page list"}, Left: []string{"TTree t"},
	}
	const want = `container: no header
RNTuple "a": 7 of 10 entries saved
  lost: entries [7, 10): damaged
  no extra types
RNTuple "b": 2 entries saved
  lost: entries [2, ?): no page list
lost: a page list
not copied: TTree t`
	if got := r.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestReportJSON has the names that JSON gives entries.
func TestReportJSON(t *testing.T) {
	lost := Loss{rntuple.EntryRange{First: 2, End: -1}, "no page list"}
	if text, err := json.Marshal(lost); string(text) != `{"first":2,"end":-1,"why":"no page list"}` {
		t.Errorf("%s, %v", text, err)
	}
}
