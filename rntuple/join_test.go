package rntuple_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// TestFriends reads sources side by side.
func TestFriends(t *testing.T) {
	const n = 1000
	want := hits(0, n)
	type calibration struct {
		Mass float32   `rntuple:"mass"` // the primary source has a field of this name as well
		Off  []float64 `rntuple:"off"`
	}
	calibrations := make([]calibration, n)
	for i := range calibrations {
		calibrations[i] = calibration{float32(-i), slices.Repeat([]float64{float64(i)}, i%3)}
		if i%3 == 0 {
			calibrations[i].Off = nil
		}
	}
	var s shelf
	events := chainOf(t, s.inputs(fileOf(t, want[:301], 50), fileOf(t, want[301:], 77)), &rntuple.ReadOptions{MaxOpen: 1})
	calib := chainOf(t, s.inputs(fileOf(t, calibrations[:700], 111), fileOf(t, calibrations[700:], 9)),
		&rntuple.ReadOptions{MaxOpen: 1})
	ids := readerOf(t, fileOf(t, want, 33), nil)
	inner, err := rntuple.NewJoin(events, rntuple.Friend("cal", calib))
	if err != nil {
		t.Fatal(err)
	}
	join, err := rntuple.NewJoin(inner, rntuple.Friend("other", ids), rntuple.Friend("self", inner))
	if err != nil {
		t.Fatal(err)
	}
	sameHits(t, inner, want, rand.New(rand.NewPCG(1, 2)))

	type entry struct {
		ID    int32       `rntuple:"id"`
		Mass  float64     `rntuple:"mass"`
		Cal   float32     `rntuple:"cal.mass"`
		Off   []float64   `rntuple:"cal.off"`
		Other int64       `rntuple:"other.id"`
		Deep  calibration `rntuple:"self.cal"`
		Whole hit         `rntuple:"other"`
		Any   any         `rntuple:"self.tag"`
	}
	all, err := collect[entry](join)
	if err != nil || len(all) != n {
		t.Fatalf("%d entries, %v", len(all), err)
	}
	for i, got := range all {
		h, c := want[i], calibrations[i]
		if w := (entry{h.ID, h.Mass, c.Mass, c.Off, int64(h.ID), c, h, h.Tag}); !reflect.DeepEqual(got, w) {
			t.Fatalf("entry %d is %v, want %v", i, got, w)
		}
	}

	masses, err1 := rntuple.ViewOf[float32](join, "self.cal.mass")
	off, err2 := rntuple.JaggedOf[float64](join, "cal.off")
	whole, err3 := rntuple.ViewOf[calibration](inner, "cal")
	records, err4 := rntuple.RecordsOf(inner)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	m, err1 := masses.At(713)
	c, err2 := whole.At(713)
	r, err3 := records.At(713)
	items, _, err4 := off.Read(make([]int64, 3), nil, 712)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	if m != -713 || !reflect.DeepEqual(c, calibrations[713]) || !slices.Equal(items, []float64{712, 713, 713}) {
		t.Errorf("mass %v, calibration %v, items %v", m, c, items)
	}
	if got, want := string(value.AppendJSON(nil, r)),
		`{"id":713,"mass":89.125,"tag":"xx713","adc":[0],"cal.mass":-713,"cal.off":[713,713]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}

	// The error says both counts.
	short, err := rntuple.NewJoin(events, rntuple.Friend("short", readerOf(t, fileOf(t, want[:999], 50), nil)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rntuple.ViewOf[int32](short, "short.id"); err == nil ||
		!strings.Contains(err.Error(), `"short" has 999 entries, the primary source has 1000`) {
		t.Errorf("error %v", err)
	}
	if _, err := rntuple.JaggedOf[int16](short, "short.adc"); err == nil {
		t.Error("a friend with fewer entries was read")
	}
}

// The fields that matching is tested with: of all widths and signs, few values,
// some that only one of the types has.
type (
	left struct {
		N int   `rntuple:"n"`
		A int8  `rntuple:"a"`
		B int64 `rntuple:"b"`
		C uint64
		D uint16
		E int32 `rntuple:"e,enum=E"`
	}
	right struct {
		A int64  `rntuple:"a"`
		B uint64 `rntuple:"b"`
		C int32
		D uint64
		E int16   `rntuple:"e"`
		N int     `rntuple:"n"`
		S string  `rntuple:"s"`
		P *uint16 `rntuple:"p"`
	}
)

func lefts(n int, random *rand.Rand) []left {
	all := make([]left, n)
	for i := range all {
		all[i] = left{
			N: i, A: int8(random.IntN(5) - 2), B: int64(random.IntN(5) - 2), C: uint64(random.IntN(4) - 1),
			D: uint16(random.IntN(3)), E: int32(random.IntN(3) - 1),
		}
	}
	return all
}

func rights(n int, random *rand.Rand) []right {
	all := make([]right, n)
	for i := range all {
		all[i] = right{
			A: int64(random.IntN(6) - 3), B: uint64(random.IntN(5) - 2), C: int32(random.IntN(4) - 1),
			D: uint64(random.IntN(3)), E: int16(random.IntN(3) - 1), N: i, S: strings.Repeat("s", i%5),
		}
		if i%2 == 0 {
			v := uint16(i)
			all[i].P = &v
		}
	}
	return all
}

// number makes integers of all types comparable by value.
func number(v reflect.Value) string { return fmt.Sprint(v.Interface()) }

// matchOf returns the first element of all with l's values in fields, or nil if there is none.
func matchOf(l left, all []right, fields []string) *right {
	for i := range all {
		if !slices.ContainsFunc(fields, func(f string) bool {
			f = strings.ToUpper(f)
			return number(reflect.ValueOf(l).FieldByName(f)) != number(reflect.ValueOf(all[i]).FieldByName(f))
		}) {
			return &all[i]
		}
	}
	return nil
}

// TestMatch matches entries by one to four fields and compares what is found with a
// search through all: duplicates, entries without a match, negative numbers that
// have the bits of large ones, chains on both sides.
func TestMatch(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const n = 700
	l, r := lefts(n, random), rights(n/2, random)
	var s shelf
	primary := chainOf(t, s.inputs(fileOf(t, l[:300], 100), fileOf(t, l[300:], 333)), &rntuple.ReadOptions{MaxOpen: 1})
	aux := chainOf(t, s.inputs(fileOf(t, r[:10], 3), fileOf(t, r[10:10], 1), fileOf(t, r[10:233], 100),
		fileOf(t, r[233:], 7)), &rntuple.ReadOptions{MaxOpen: 1})
	for _, fields := range [][]string{{"n"}, {"a"}, {"b"}, {"C"}, {"a", "b"}, {"n", "e"}, {"C", "D", "e"},
		{"a", "b", "C", "D"}} {
		for _, workers := range []int{1, 3} {
			t.Run(fmt.Sprint(fields, workers), func(t *testing.T) {
				strict, err1 := rntuple.NewJoin(primary, rntuple.Match("aux", aux, fields...))
				loose, err2 := rntuple.NewJoin(primary, rntuple.Match("aux", aux, fields...).ZeroValues())
				if err := errors.Join(err1, err2); err != nil {
					t.Fatal(err)
				}
				type entry struct {
					N     int      `rntuple:"n"`
					Aux   *int     `rntuple:"aux.n"`
					S     *string  `rntuple:"aux.s"`
					P     **uint16 `rntuple:"aux.p"`
					Whole *right   `rntuple:"aux"`
					Any   any      `rntuple:"aux.p"`
				}
				type zeros struct {
					Whole right   `rntuple:"aux"`
					S     string  `rntuple:"aux.s"`
					P     *uint16 `rntuple:"aux.p"`
					B     int64   `rntuple:"b"`
				}
				got, err1 := collect[entry](strict)
				zero, err2 := collect[zeros](loose)
				if err := errors.Join(err1, err2); err != nil || len(got) != n || len(zero) != n {
					t.Fatalf("%d entries, %d with zeros, %v", len(got), len(zero), err)
				}
				found := 0
				for i := range l {
					wantZero := zeros{B: l[i].B}
					want := entry{N: i}
					if m := matchOf(l[i], r, fields); m != nil {
						found++
						want.Aux, want.S, want.P, want.Whole, want.Any = &m.N, &m.S, &m.P, m, value.Some{}
						if m.P != nil {
							want.Any = *m.P
						}
						wantZero = zeros{*m, m.S, m.P, l[i].B}
					}
					if !reflect.DeepEqual(got[i], want) || !reflect.DeepEqual(zero[i], wantZero) {
						t.Fatalf("entry %d is %+v and %+v, want %+v and %+v", i, got[i], zero[i], want, wantZero)
					}
				}
				if found == 0 {
					t.Error("no entries match")
				}
				t.Log(found, "of", n, "match")

				names, err1 := rntuple.ViewOf[*string](strict, "aux.s")
				records, err2 := rntuple.RecordsOf(strict, "aux.n", "n")
				if err := errors.Join(err1, err2); err != nil {
					t.Fatal(err)
				}
				for range 20 {
					at := random.IntN(n)
					name, err1 := names.At(int64(at))
					record, err2 := records.At(int64(at))
					var aux any
					if got[at].Aux != nil {
						aux = int64(*got[at].Aux)
					}
					if err := errors.Join(err1, err2); err != nil || !reflect.DeepEqual(name, got[at].S) ||
						!reflect.DeepEqual(record.Values, []any{aux, int64(at)}) {
						t.Fatalf("entry %d is %v, %v, %v, want %v", at, name, record, err, got[at])
					}
				}
			})
		}
	}
	if n := s.most.Load(); n > 2 {
		t.Errorf("%d files were open at a time, one of each chain is wanted", n)
	}
}

// TestMatchNested matches within what is matched, and chains joins.
func TestMatchNested(t *testing.T) {
	type event struct {
		Run int64 `rntuple:"run"`
	}
	type run struct {
		Run  int64 `rntuple:"run"`
		Fill int32 `rntuple:"fill"`
	}
	type fill struct {
		Fill   int64   `rntuple:"fill"`
		Energy float64 `rntuple:"energy"`
	}
	events := readerOf(t, fileOf(t, []event{{1}, {2}, {3}, {1}}, 2), nil)
	runs := readerOf(t, fileOf(t, []run{{3, 30}, {1, 10}}, 1), nil)
	fills := readerOf(t, fileOf(t, []fill{{10, 6.5}, {99, 1}}, 5), nil)
	known, err1 := rntuple.NewJoin(runs, rntuple.Match("fills", fills, "fill"))
	join, err2 := rntuple.NewJoin(events, rntuple.Match("runs", known, "run"))
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	type entry struct {
		Run    int64     `rntuple:"run"`
		Energy **float64 `rntuple:"runs.fills.energy"`
		Of     *struct {
			Fill *int32 `rntuple:"fill"`
			Of   *fill  `rntuple:"fills"`
		} `rntuple:"runs"`
	}
	chain := chainOf(t, []rntuple.Input{{Source: join}, {Source: join}}, nil)
	all, err := collect[entry](chain)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range all {
		switch {
		case e.Energy == nil && e.Of == nil:
			got = append(got, fmt.Sprint(e.Run))
		case *e.Energy == nil && e.Of.Of == nil:
			got = append(got, fmt.Sprint(e.Run, *e.Of.Fill))
		default:
			got = append(got, fmt.Sprint(e.Run, *e.Of.Fill, *e.Of.Of, **e.Energy))
		}
	}
	want := []string{"1 10 {10 6.5} 6.5", "2", "3 30", "1 10 {10 6.5} 6.5"}
	if !slices.Equal(got, slices.Concat(want, want)) {
		t.Errorf("got %q, want %q twice", got, want)
	}
	checkBatches(t, chain, 0, 8, rntuple.BatchOptions{Size: 3})
}

// TestMatchMany matches in random order, with values all over the range of 64 bits.
func TestMatchMany(t *testing.T) {
	const n = 30_000
	type entry struct {
		K int64  `rntuple:"k"`
		L uint64 `rntuple:"l"`
		X int    `rntuple:"x"`
	}
	random := rand.New(rand.NewPCG(5, 6))
	all := make([]entry, n)
	for i := range all {
		all[i] = entry{int64(random.Uint64()), random.Uint64(), i}
	}
	all[0], all[1] = entry{math.MinInt64, math.MaxUint64, 0}, entry{math.MaxInt64, 0, 1}
	aux := readerOf(t, fileOf(t, all, 4999), nil)
	order := random.Perm(n)
	shuffled := make([]entry, n)
	for i, at := range order {
		shuffled[i] = all[at]
	}
	for _, fields := range [][]string{{"k"}, {"l"}, {"l", "k"}} {
		join, err := rntuple.NewJoin(readerOf(t, fileOf(t, shuffled, 7001), nil), rntuple.Match("aux", aux, fields...))
		if err != nil {
			t.Fatal(err)
		}
		v, err := rntuple.ViewOf[*int](join, "aux.x")
		if err != nil {
			t.Fatal(err)
		}
		found := make([]*int, n)
		if got, err := v.Read(found, 0); got != n || err != nil {
			t.Fatalf("%d entries, %v", got, err)
		}
		for i, x := range found {
			if x == nil || *x != order[i] {
				t.Fatalf("entry %d has the match %v, want %d", i, x, order[i])
			}
		}
	}
}

// TestJoinErrors makes sure that what cannot be joined is said when it is tried.
func TestJoinErrors(t *testing.T) {
	r := readerOf(t, fileOf(t, hits(0, 3), 2), nil)
	for _, test := range []struct {
		joined []rntuple.Joined
		want   string
	}{
		{[]rntuple.Joined{rntuple.Friend("", r)}, "name"},
		{[]rntuple.Joined{rntuple.Friend("a.b", r)}, "name"},
		{[]rntuple.Joined{rntuple.Friend("a", r), rntuple.Match("a", r, "id")}, "two sources"},
		{[]rntuple.Joined{rntuple.Friend("mass", r)}, "a field of this name"},
		{[]rntuple.Joined{rntuple.Match("a", r)}, "0 fields"},
		{[]rntuple.Joined{rntuple.Match("a", r, "1", "2", "3", "4", "5")}, "5 fields"},
		{[]rntuple.Joined{rntuple.Match("a", r, "id", "id")}, "twice"},
		{[]rntuple.Joined{rntuple.Match("a", r, "nothing")}, "no field"},
		{[]rntuple.Joined{rntuple.Match("a", r, "mass")}, `"mass" of type double: entries are matched by integers`},
		{[]rntuple.Joined{rntuple.Match("a", r, "adc")}, "integers"},
	} {
		if _, err := rntuple.NewJoin(r, test.joined...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want one with %q", err, test.want)
		}
	}
	join, err := rntuple.NewJoin(r, rntuple.Match("a", r, "id"), rntuple.Friend("b", r))
	if err != nil {
		t.Fatal(err)
	}
	mismatch := func(_ *rntuple.View[int32], err error) {
		t.Helper()
		var mismatch *schema.MismatchError
		if !errors.As(err, &mismatch) || mismatch.Mismatches[0].Fits != "*int32" {
			t.Errorf("error %v", err)
		}
	}
	mismatch(rntuple.ViewOf[int32](join, "a.id"))
	if _, err := rntuple.ViewOf[int32](join, "b.nothing"); !errors.Is(err, rntuple.ErrNoField) {
		t.Errorf("error %v", err)
	}
	if _, err := rntuple.ViewOf[any](join, ""); err == nil {
		t.Error("entries were read as any")
	}
	if _, err := rntuple.JaggedOf[int16](join, "a.adc"); err == nil {
		t.Error("a matched source was read in columnar form")
	}
}
