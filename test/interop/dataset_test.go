package interop

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestDataset reads chains, friends and matched entries, and compares them with
// ROOT's RNTupleProcessor.
func TestDataset(t *testing.T) {
	needed(t)
	type event struct {
		ID   int32   `rntuple:"id"`
		ADC  []int16 `rntuple:"adc"`
		Run  uint32  `rntuple:"run"`
		Lumi int64   `rntuple:"lumi"`
		Slot uint8   `rntuple:"slot"`
	}
	type condition struct {
		Run    uint32    `rntuple:"run"`
		Lumi   int64     `rntuple:"lumi"`
		Slot   uint8     `rntuple:"slot"`
		Weight float64   `rntuple:"weight"`
		List   []float32 `rntuple:"list"`
	}
	var events []event
	var conditions []condition
	for i := range 500 {
		events = append(events, event{int32(i), slices.Repeat([]int16{int16(i)}, i%4), uint32(i * i % 97),
			int64(i%7 - 3), uint8(i % 3)})
		j := 500 - i // another order, some more than once, some missing
		conditions = append(conditions, condition{uint32(j * j % 89), int64(j%5 - 3), uint8(j % 2), float64(j) / 4,
			slices.Repeat([]float32{float32(j) / 2}, j%3)})
	}
	dir := t.TempDir()
	one := [][]string{writeSets(t, dir, "event", events, 500), writeSets(t, dir, "condition", conditions, 500)}
	several := [][]string{writeSets(t, dir, "events", events, 100, 0, 1, 250, 149),
		writeSets(t, dir, "conditions", conditions, 33, 467)}
	for _, test := range []struct {
		name        string
		events, aux []string
		on          []string
	}{
		{"chain", several[0], nil, nil},
		{"friends", one[0], one[1], nil},
		{"chain with a friend", several[0], one[1], nil},
		{"by one field", one[0], one[1], []string{"run"}},
		{"by two fields", one[0], one[1], []string{"run", "lumi"}},
		{"by three fields", one[0], one[1], []string{"lumi", "slot", "run"}},
		{"chain by one field", several[0], one[1], []string{"run"}},
		{"chain by two fields", several[0], one[1], []string{"run", "lumi"}},
		{"chain with a chain by one field", several[0], several[1], []string{"run"}},
		{"chain with a chain by two fields", several[0], several[1], []string{"lumi", "run"}},
		{"chain with a chain as friend", several[0], several[1], nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			aux := test.aux
			if test.on != nil {
				aux = one[1] // ROOT 6.40 looks for matches in the first file of a chain only, or crashes
			}
			want := string(script(t, "dataset.sh", strings.Join(test.events, ","), strings.Join(aux, ","),
				strings.Join(test.on, ",")))
			got, err := processed(test.events, test.aux, test.on)
			if err != nil {
				t.Fatal(err)
			}
			gotLines, wantLines := strings.Split(got, "\n"), strings.Split(want, "\n")
			if len(gotLines) != len(wantLines) {
				t.Errorf("%d lines, want %d", len(gotLines), len(wantLines))
			}
			for i := range gotLines {
				if i < len(wantLines) && gotLines[i] != wantLines[i] {
					t.Fatalf("%s\nwant %s", gotLines[i], wantLines[i])
				}
			}
		})
	}
}

// writeSets writes entries to files, the next n to each.
func writeSets[T any](t *testing.T, dir, name string, entries []T, n ...int) (paths []string) {
	t.Helper()
	for i, n := range n {
		path := filepath.Join(dir, fmt.Sprintf("%s%d.root", name, i))
		w, err := rntuple.Create[T](path, "set", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.WriteBatch(entries[:n]); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		paths, entries = append(paths, path), entries[n:]
	}
	return paths
}

// processed prints what dataset.sh prints.
func processed(events, aux, on []string) (string, error) {
	type entry struct {
		ID     int32      `rntuple:"id"`
		ADC    []int16    `rntuple:"adc"`
		Weight *float64   `rntuple:"aux.weight,optional"`
		List   *[]float32 `rntuple:"aux.list,optional"`
	}
	chain, err := rntuple.OpenChain("set", events, nil)
	if err != nil {
		return "", err
	}
	defer chain.Close()
	var all rntuple.Source = chain
	if aux != nil {
		other, err := rntuple.OpenChain("set", aux, nil)
		if err != nil {
			return "", err
		}
		defer other.Close()
		joined := rntuple.Friend("aux", other)
		if on != nil {
			joined = rntuple.Match("aux", other, on...)
		}
		if all, err = rntuple.NewJoin(chain, joined); err != nil {
			return "", err
		}
	}
	var out strings.Builder
	i := 0
	for e, err := range rntuple.Entries[entry](all) {
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "%d %d", i, e.ID)
		printList(&out, &e.ADC)
		if aux != nil {
			if e.Weight == nil {
				fmt.Fprint(&out, " -")
			} else {
				fmt.Fprintf(&out, " %v", *e.Weight)
			}
			printList(&out, e.List)
		}
		fmt.Fprintln(&out)
		i++
	}
	return out.String(), nil
}

func printList[T any](out *strings.Builder, list *[]T) {
	if list == nil {
		fmt.Fprint(out, " -")
		return
	}
	fmt.Fprint(out, " [")
	for _, v := range *list {
		fmt.Fprintf(out, "%v;", v)
	}
	fmt.Fprint(out, "]")
}
