package nearest

import "testing"

func TestName(t *testing.T) {
	names := []string{"", "run", "Muon_pt", "Muon_eta", "x"}
	for name, want := range map[string]string{
		"Run": "run", "rnu": "run", "Muon_px": "Muon_pt", "muon_PT": "Muon_pt", "Muon_mass": "", "nope": "", "y": "", "": "",
	} {
		if got := Name(name, names); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	if d := distance("kitten", "sitting"); d != 3 {
		t.Errorf("distance %d, want 3", d)
	}
}
