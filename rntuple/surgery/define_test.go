package surgery

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/parallel"
	"github.com/go-rntuple/go-rntuple/internal/test/randtest"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/rntuple/verify"
	"github.com/go-rntuple/go-rntuple/schema"
)

// base has the fields that definitions in tests are computed from, and made the fields that
// one of them makes.
type (
	base struct {
		K int32    `rntuple:"k"`
		V []uint16 `rntuple:"v"`
	}
	made struct {
		A int64    `rntuple:"a"`
		B []string `rntuple:"b"`
	}
)

func text(b base) string { return fmt.Sprint("k=", b.K) }

func halves(b base) (h []float64) {
	for _, v := range b.V {
		h = append(h, float64(v)/2)
	}
	return h
}

func odd(b base) *uint32 {
	if b.K%2 == 0 {
		return nil
	}
	k := uint32(b.K)
	return &k
}

func both(b base) made {
	m := made{A: int64(b.K) * 3}
	for i := range b.V {
		m.B = append(m.B, strings.Repeat("x", i))
	}
	return m
}

// columnsOf is Columns with a function.
type columnsOf func(s rntuple.Source) ([]*schema.FieldDocument,
	func(rntuple.Source, rntuple.EntryRange) iter.Seq2[*rntuple.Batch, error], error)

func (c columnsOf) Columns(s rntuple.Source) ([]*schema.FieldDocument,
	func(rntuple.Source, rntuple.EntryRange) iter.Seq2[*rntuple.Batch, error], error) {
	return c(s)
}

// columnsLike returns columns that are those of other fields, with other names and types.
func columnsLike(types map[string]string, from ...string) Columns {
	return columnsOf(func(rntuple.Source) (docs []*schema.FieldDocument,
		in func(rntuple.Source, rntuple.EntryRange) iter.Seq2[*rntuple.Batch, error], err error) {
		for _, name := range slices.Sorted(maps.Keys(types)) {
			doc, err := schema.FieldOf(name, types[name])
			if err != nil {
				return nil, nil, err
			}
			docs = append(docs, doc)
		}
		return docs, func(s rntuple.Source, r rntuple.EntryRange) iter.Seq2[*rntuple.Batch, error] {
			return rntuple.BatchesIn(s, r, &rntuple.BatchOptions{Fields: from, Size: 7})
		}, nil
	})
}

// TestRandomDefinitions defines fields while random RNTuples are slimmed and skimmed, at all
// levels: they have what the same functions give for the entries of a slice.
func TestRandomDefinitions(t *testing.T) {
	defined := map[string]string{"d": "double", "s": "std::string", "h": "std::vector<double>",
		"o": "std::optional<std::uint32_t>",
		"a": "std::int64_t", "b": "std::vector<std::string>", "k8": "std::int64_t", "v4": "std::vector<std::uint64_t>"}
	definitions := []Definition{
		Define("d,desc=a third, or so", func(b *base) float64 { return float64(b.K) / 3 }),
		Define("s", func(b *base) string { return text(*b) }),
		Define("", func(b *base) made { return both(*b) }),
		DefineColumns(columnsLike(map[string]string{"k8": "std::int64_t", "v4": "std::vector<std::uint64_t>"}, "k", "v")),
		Define("h", func(b *base) []float64 { return halves(*b) }),
		Define("o", func(b *base) *uint32 { return odd(*b) }),
	}
	for seed := range rounds(200) {
		dir := t.TempDir()
		m := random{randtest.Maker{Rand: rand.New(rand.NewPCG(31, uint64(seed)))},
			map[string]string{"k": "std::int32_t", "v": "std::vector<std::uint16_t>"}}
		names := []string{"k", "v"}
		for i := range m.IntN(4) {
			names = append(names, fmt.Sprint("f", i))
			m.types[names[i+2]] = m.Type(3)
		}
		var inputs []Input
		var entries [][]map[string]any
		for n := range 2 {
			path := filepath.Join(dir, fmt.Sprintf("in%d.root", n))
			entries = append(entries, m.write(t, path, names, m.IntN(len(names))))
			inputs = append(inputs, Input{Path: path})
		}
		opts := everyOption{Define: definitions, Options: Options{
			Write: m.options(), Read: rntuple.ReadOptions{Workers: 1 + m.IntN(4)},
			AtLeast: Level(m.IntN(5) * m.IntN(2)), JoinClusters: m.Int64N(3000) * m.Int64N(2),
		}}
		left := slices.Clone(names)
		switch m.IntN(3) {
		case 0:
			left = left[m.IntN(len(left)):]
			opts.Keep = left
		case 1:
			gone := m.IntN(len(left))
			opts.Drop = left[:gone]
			left = left[gone:]
		}
		maps.Copy(m.types, defined)
		left = append(left, slices.Collect(maps.Keys(defined))...)
		check := func(what string, report *Report, err error, out string, old []map[string]any) {
			t.Helper()
			what = fmt.Sprintf("seed %d: %s", seed, what)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			var want []map[string]any
			for _, e := range old {
				var b base
				b.K, _ = e["k"].(int32) // not there in entries before it was added
				items, _ := e["v"].([]any)
				v4 := []any{}
				for _, i := range items {
					b.V, v4 = append(b.V, i.(uint16)), append(v4, uint64(i.(uint16)))
				}
				e = maps.Clone(e)
				e["d"], e["s"], e["a"], e["k8"], e["v4"], e["o"] = float64(b.K)/3, text(b), int64(b.K)*3, int64(b.K), v4, nil
				h, strs := []any{}, []any{}
				for _, x := range halves(b) {
					h = append(h, x)
				}
				for _, s := range both(b).B {
					strs = append(strs, s)
				}
				if e["h"], e["b"] = h, strs; b.K%2 != 0 {
					e["o"] = uint32(b.K)
				}
				want = append(want, e)
			}
			compareLines(t, what, lines(t, out, ""), m.lines(t, left, want))
			if report.Entries != int64(len(want)) {
				t.Errorf("%s: %d entries", what, report.Entries)
			}
			sound(t, what, out)
			if t.Failed() {
				t.FailNow()
			}
		}
		out := filepath.Join(dir, "out.root")
		report, err := Slim(all, out, inputs[0], opts.slim())
		check("slim", report, err, out, entries[0])
		ranges, condition := m.choose(len(entries[0]))
		report, err = Skim(all, out, inputs[:1], condition, opts.skim())
		check("skim", report, err, out, picked(entries[0], ranges...))
		some := opts.skim()
		some.Mode = []Mode{Filter, Strict, Union}[m.IntN(3)]
		report, err = Skim(all, out, inputs, rntuple.WhereFunc(func(b *base) bool { return b.K%3 != 0 }), some)
		check(fmt.Sprint("skim of two inputs, ", some.Mode), report, err, out,
			slices.DeleteFunc(slices.Concat(entries...), func(e map[string]any) bool {
				k, _ := e["k"].(int32)
				return k%3 == 0
			}))
		var pieces []Piece
		var of []map[string]any
		for i, in := range inputs {
			n := m.IntN(len(entries[i]) + 1)
			first := m.IntN(n + 1)
			if n > 0 {
				pieces, of = append(pieces, Piece{Input: in, First: int64(first), End: int64(n)}),
					append(of, entries[i][first:n]...)
			}
		}
		if len(pieces) == 0 {
			continue
		}
		report, err = SkimPieces(all, out, pieces, nil, opts.skim())
		check("pieces", report, err, out, of)
		report, err = SkimPieces(all, out, pieces, rntuple.WhereFunc(func(b *base) bool { return b.K%3 != 0 }), opts.skim())
		check("skim of pieces", report, err, out, slices.DeleteFunc(slices.Clone(of), func(e map[string]any) bool {
			k, _ := e["k"].(int32)
			return k%3 == 0
		}))
	}
}

// sound makes sure that package verify finds nothing wrong with a file.
func sound(t *testing.T, what, path string) {
	t.Helper()
	_, err := verify.File(context.Background(), path, func(p verify.Problem) error { return fmt.Errorf("%+v", p) }, nil)
	if err != nil {
		t.Errorf("%s: verify: %v", what, err)
	}
}

// storedPages returns the pages of an RNTuple as they are stored, by column and cluster.
func storedPages(t *testing.T, r *rntuple.Reader) map[string][][]byte {
	t.Helper()
	all := map[string][][]byte{}
	clusters, err := r.StoredClusters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for k, c := range clusters {
		for id, list := range c.Columns() {
			col := r.Schema().Columns[id]
			for _, page := range list.Pages {
				b, err := r.StoredPage(t.Context(), nil, col, page)
				if err != nil {
					t.Fatal(err)
				}
				name := fmt.Sprintf("%s/%d/%d in cluster %d", col.Owner.Path(), col.Representation, col.Index, k)
				all[name] = append(all[name], b)
			}
		}
	}
	return all
}

// TestDefineBesideFiles adds a field to files that ROOT wrote, in format 1: its pages lie
// beside those of the old fields, which have the same bytes as before.
func TestDefineBesideFiles(t *testing.T) {
	for _, in := range goodFiles(t) {
		r, err := rntuple.Open(in.Path, in.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		what, out := in.String(), filepath.Join(t.TempDir(), "out.root")
		before, old := storedPages(t, r), lines(t, in.Path, in.Name)
		entries, format := r.NumEntries(), r.FormatVersion()
		r.Close()
		seven := []Definition{Define("~", func(*struct{}) int8 { return 7 })}
		if _, err := Slim(t.Context(), out, in, &SlimOptions{Define: seven}); err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		after := openReader(t, out, "")
		pages := storedPages(t, after)
		for name, want := range before {
			if got := pages[name]; strings.HasPrefix(format, "1.") && !reflect.DeepEqual(got, want) {
				t.Errorf("%s: other pages of %s", what, name)
			}
			delete(pages, name)
		}
		for name := range pages {
			if !strings.HasPrefix(name, "~/0/0 ") && strings.HasPrefix(format, "1.") {
				t.Errorf("%s: there are pages of %s", what, name)
			}
		}
		for i, l := range old {
			if l = strings.TrimSuffix(l, "}"); l != "{" {
				l += ","
			}
			old[i] = l + `"~":7}`
		}
		if int(entries) != len(old) { // it has no entries, but lines of another kind
			continue
		}
		compareLines(t, what, lines(t, out, ""), old)
		sound(t, what, out)

		if _, err := Skim(t.Context(), out, []Input{in}, these(rntuple.EntryRange{First: entries / 3, End: entries}),
			&SkimOptions{Define: seven}); err != nil {
			if errors.Is(err, rntuple.ErrRange) && strings.Contains(in.Path, "late") {
				continue // zeros from before a field was added lie outside of its range
			}
			t.Errorf("%s: %v", what, err)
			continue
		}
		compareLines(t, what, lines(t, out, ""), old[entries/3:])
		sound(t, what, out)
	}
}

// TestDefineTypes defines fields of types that tags choose, or that are made of structs.
func TestDefineTypes(t *testing.T) {
	type inner struct {
		X float32
		N []int16
	}
	dir := t.TempDir()
	in, out := Input{Path: filepath.Join(dir, "in")}, filepath.Join(dir, "out")
	points(t, in.Path, 0, 50, nil)
	type x struct{ X int32 }
	slim := func(variant string) error {
		_, err := Slim(t.Context(), out, in, &SlimOptions{Keep: []string{"X"}, Define: []Definition{
			Define("f,type=float,desc=narrow, with a comma", func(e *x) float64 { return float64(e.X) / 2 }),
			Define("q,quant=12,min=0,max=100", func(e *x) float32 { return float32(e.X) }),
			Define("r", func(e *x) inner { return inner{float32(e.X), make([]int16, e.X%3)} }),
			Define("rs", func(e *x) []inner { return make([]inner, e.X%2) }),
			Define("c,class=Inner", func(e *x) inner { return inner{X: 1} }),
			Define("m", func(e *x) map[string]bool { return map[string]bool{fmt.Sprint(e.X): true} }),
			Define("t,type="+variant, func(e *x) any { return e.X }),
		}})
		return err
	}
	err := slim("std::variant<std::int32_t;std::string>") // "," would end the option
	if err == nil || !strings.Contains(err.Error(), `surgery.Define("t,type`) {
		t.Fatal(err)
	}
	err = slim("std::variant<std::int32_t,std::string>")
	if err != nil {
		t.Fatal(err)
	}
	r := openReader(t, out, "")
	var got []string
	for _, f := range r.Schema().Fields {
		got = append(got, fmt.Sprintf("%s %s %s", f.Name, f.CppType(), f.Description))
	}
	if want := []string{"X std::int32_t ", "f float narrow, with a comma", "q float ", "r untyped record ",
		"rs untyped collection ", "c Inner ",
		"m std::map<std::string,bool> ", "t std::variant<std::int32_t,std::string> "}; !slices.Equal(got, want) {
		t.Errorf("fields %q, want %q", got, want)
	}
	if want, got := `{"X":5,"c":{"X":"0x3f800000","N":[]},"f":"0x40200000","m":{"5":true},"q":`,
		lines(t, out, "")[5]; !strings.HasPrefix(got, want) {
		t.Errorf("entry 5 is %s, want %s...", got, want)
	}
	sound(t, "types", out)
}

// TestDefineWorkers makes the same file with any number of workers. At most one function
// runs with one, and no more than that many are begun and not written with more of them.
func TestDefineWorkers(t *testing.T) {
	dir := t.TempDir()
	in := Input{Path: filepath.Join(dir, "in")}
	points(t, in.Path, 0, 50_000, &rntuple.WriteOptions{ClusterSize: 20_000})
	var want map[string][][]byte
	for workers := 1; workers < 5; workers++ {
		out := filepath.Join(dir, "out")
		var running, most atomic.Int64
		_, err := Skim(t.Context(), out, []Input{in},
			rntuple.WhereFunc(func(e *struct{ X int32 }) bool { return e.X%7 != 0 || e.X < 9000 }),
			&SkimOptions{Options: Options{Read: rntuple.ReadOptions{Workers: workers}},
				Define: []Definition{Define("d", func(e *struct{ X int32 }) float64 {
					if n := running.Add(1); n > most.Load() {
						most.Store(n)
					}
					defer running.Add(-1)
					return float64(e.X) / 3
				})}})
		if err != nil {
			t.Fatal(err)
		}
		got := storedPages(t, openReader(t, out, ""))
		if want == nil {
			want = got
		}
		if !reflect.DeepEqual(got, want) || most.Load() > int64(workers) {
			t.Errorf("%d workers: %d functions at the same time, or other pages", workers, most.Load())
		}
	}
}

// TestUnits cuts entries of random clusters into units.
func TestUnits(t *testing.T) {
	for seed := range 100 {
		m := rand.New(rand.NewPCG(5, uint64(seed)))
		c := chosen{n: m.Int64N(3*mostUnit) + 1}
		every := 1 + m.Int64N(3) // is chosen
		c.entry = func(i int64) int64 { return i * every }
		var clusters []rntuple.EntryRange
		ends := map[int64]bool{c.n: true}
		for at := int64(0); at < c.n*every; {
			r := rntuple.EntryRange{First: at, End: min(c.n*every,
				at+1+m.Int64N([]int64{1, 100, leastUnit, 2 * mostUnit}[m.IntN(4)]))}
			clusters, at = append(clusters, r), r.End
			ends[(at+every-1)/every] = true
		}
		next := int64(0)
		units := c.units(clusters)
		for i, u := range units {
			n := u.Len()
			if u.First != next || n > mostUnit || n < leastUnit && i < len(units)-1 || n < mostUnit && !ends[u.End] {
				t.Errorf("seed %d: unit %d of %d, %v", seed, i, len(units), u)
			}
			next = u.End
		}
		if next != c.n {
			t.Errorf("seed %d: the units end at %d of %d", seed, next, c.n)
		}
	}
}

// TestDefineErrors has definitions that fail. They leave no file behind.
func TestDefineErrors(t *testing.T) {
	dir := t.TempDir()
	in, second := Input{Path: filepath.Join(dir, "in")}, Input{Path: filepath.Join(dir, "second")}
	points(t, in.Path, 0, 1000, &rntuple.WriteOptions{ClusterSize: 500})
	writeAs(t, second.Path, 10, func(i int) (e struct {
		point
		D bool
	}) {
		return e
	}, nil)
	type x struct{ X int32 }
	d := Define("D", func(e *x) float64 { return float64(e.X) })
	out := filepath.Join(dir, "out")
	slim := func(define ...Definition) error {
		_, err := Slim(t.Context(), out, in, &SlimOptions{Define: define})
		return err
	}
	everything := these(rntuple.EntryRange{End: 10})
	yield := func(b ...*rntuple.Batch) Columns {
		doc, _ := schema.FieldOf("c", "std::int8_t")
		return columnsOf(func(rntuple.Source) ([]*schema.FieldDocument,
			func(rntuple.Source, rntuple.EntryRange) iter.Seq2[*rntuple.Batch, error], error) {
			return []*schema.FieldDocument{doc}, func(rntuple.Source, rntuple.EntryRange) iter.Seq2[*rntuple.Batch, error] {
				return func(yield func(*rntuple.Batch, error) bool) {
					for _, one := range b {
						if !yield(one, nil) {
							return
						}
					}
				}
			}, nil
		})
	}
	numbers := func(n int) *columnar.Array {
		a := columnar.Like(&columnar.Array{Shape: schema.Collection, Children: []*columnar.Array{{Shape: schema.String}}})
		for range n {
			a.Offsets = append(a.Offsets, 0)
		}
		a.Len = n
		return a
	}
	batch := func(n int, columns ...*columnar.Array) *rntuple.Batch {
		return &rntuple.Batch{Len: n, Columns: columns}
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, cancelled := Slim(ctx, out, in,
		&SlimOptions{Define: []Definition{Define("c", func(e *x) float64 { cancel(); return 0 })}})
	_, taken := Skim(t.Context(), out, []Input{in, second}, everything, &SkimOptions{Mode: Union, Define: []Definition{d}})
	_, several := Skim(t.Context(), out, []Input{in, in}, everything,
		&SkimOptions{Options: Options{AtMost: new(Clone)},
			Define: []Definition{DefineColumns(columnsLike(map[string]string{"N": "std::int8_t"}, "X"))}})
	_, none := Slim(t.Context(), out, in, &SlimOptions{Drop: []string{"X", "V", "S"}, Define: []Definition{d}})
	for want, err := range map[string]error{
		`there is a field "X" already; to replace it, drop it`: slim(Define("X",
			func(e *x) int { return 1 })),
		`second: there is a field "D" already`: taken,
		`several fields of the name "D"`:       slim(d, d),
		`no field "Y"`: slim(Define("D",
			func(e *struct{ Y int }) int { return 1 })),
		`Define("D,speed=3"): schema: struct.Value: tag: unknown option "speed"`: slim(Define("D,speed=3",
			func(e *x) int { return 1 })),
		`Define(",desc=x"): the tag has no name`: slim(Define(",desc=x",
			func(e *x) int { return 1 })),
		`Define(""): schema: int is not a struct`: slim(Define("",
			func(e *x) int { return 1 })),
		`Define("D"): schema: D: values of type chan int cannot be written`: slim(Define("D",
			func(e *x) (c chan int) { return c })),
		`has the character ' '`: slim(Define("a b",
			func(e *x) int { return 1 })),
		`entry 128: field "N": value out of range: 128 does not fit int8`: slim(DefineColumns(columnsLike(map[string]string{"N": "std::int8_t"}, "X"))),
		`entry 200: field "N": value out of range: 200 does not fit int8`: slim(Define("N,type=std::int8_t",
			func(e *x) int32 { return e.X / 200 * 200 })),
		`field "N" of type bool does not take values of the Go type int32`: slim(DefineColumns(columnsLike(map[string]string{"N": "bool"}, "X"))),
		`field "c": there are not as many values as entries`:               slim(DefineColumns(yield())),
		`a batch has 2 columns, want 1`: slim(DefineColumns(yield(batch(1,
			numbers(1), numbers(1))))),
		`column 0 changes its shape`: slim(DefineColumns(yield(batch(1,
			numbers(1)), batch(1, numbers(1).Children[0])))),
		`does not take values of the shape collection`: slim(DefineColumns(yield(batch(1000,
			numbers(1000))))),
		`context canceled`:         cancelled,
		`the level is not allowed`: several,
		`no field is left`:         none,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if strings.Contains(want, "out of range") != errors.Is(err, rntuple.ErrRange) {
			t.Errorf("%v: ErrRange?", err)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a file is there")
	}
	twice := Define("X", func(e *x) string { return fmt.Sprint(2 * e.X) })
	if _, err := Slim(t.Context(), out, in, &SlimOptions{Drop: []string{"X"}, Define: []Definition{twice}}); err != nil {
		t.Error(err)
	} else if got := lines(t, out, "")[30]; !strings.Contains(got, `"X":"60"`) {
		t.Error(got)
	}
}

// TestDefineInputsDiffer refuses inputs from which fields of other types are computed.
func TestDefineInputsDiffer(t *testing.T) {
	dir := t.TempDir()
	a, b := Input{Path: filepath.Join(dir, "a")}, Input{Path: filepath.Join(dir, "b")}
	points(t, a.Path, 0, 10, nil)
	points(t, b.Path, 0, 10, nil)
	n := 0
	columns := columnsOf(func(s rntuple.Source) ([]*schema.FieldDocument,
		func(rntuple.Source, rntuple.EntryRange) iter.Seq2[*rntuple.Batch, error], error) {
		n++
		return columnsLike(map[string]string{"N": []string{"std::int64_t", "std::int32_t"}[n/2]}, "X").Columns(s)
	})
	_, err := Skim(t.Context(), filepath.Join(dir, "out"), []Input{a, b}, these(rntuple.EntryRange{End: 10}),
		&SkimOptions{Define: []Definition{DefineColumns(columns)}})
	var incompatible *IncompatibleError
	if n = 1; !errors.As(err, &incompatible) ||
		!strings.Contains(err.Error(), `b: field "N": is computed as std::int32_t, from the first input as std::int64_t`) {
		t.Errorf("%d: %v", n, err)
	}
}

// TestDefinePanics makes a panic of a function one of Slim, after the file is gone. So does a
// goroutine that ends.
func TestDefinePanics(t *testing.T) {
	dir := t.TempDir()
	in := Input{Path: filepath.Join(dir, "in")}
	points(t, in.Path, 0, 10_000, &rntuple.WriteOptions{ClusterSize: 500})
	broken := errors.New("broken")
	for _, workers := range []int{1, 3} {
		for what, end := range map[string]func(){"panic": func() { panic(broken) }, "exit": runtime.Goexit} {
			out := filepath.Join(t.TempDir(), "out")
			returned := false
			ended := make(chan any)
			go func() {
				defer func() { ended <- recover() }()
				Slim(t.Context(), out, in,
					&SlimOptions{Options: Options{Read: rntuple.ReadOptions{Workers: workers}},
						Define: []Definition{Define("d", func(e *struct{ X int32 }) int {
							if e.X == 7000 {
								end()
							}
							return 0
						})}})
				returned = true
			}()
			value := <-ended
			if p, _ := value.(*parallel.PanicError); returned || what == "panic" && (p == nil || !errors.Is(p, broken)) ||
				what == "exit" && value != nil {
				t.Errorf("%s, %d workers: %v", what, workers, value)
			}
			if left, err := os.ReadDir(filepath.Dir(out)); err != nil || len(left) > 0 {
				t.Errorf("%s, %d workers: the files %v are left", what, workers, left)
			}
		}
	}
}

// TestDefineAttributes keeps attribute sets as they are without definitions.
func TestDefineAttributes(t *testing.T) {
	o := makeOperands(t)
	odd := rntuple.WhereFunc(func(e *struct{ X int32 }) bool { return e.X%2 == 1 || e.X > 50 })
	var sets [2][]string
	for i, opts := range []*SkimOptions{nil, {Define: []Definition{Define("d", func(*struct{}) int { return 1 })}}} {
		out := filepath.Join(o.dir, "out")
		if _, err := Skim(t.Context(), out, []Input{o.first, o.first}, odd, opts); err != nil {
			t.Fatal(err)
		}
		set, err := openReader(t, out, "").OpenAttributes("set")
		if err != nil {
			t.Fatal(err)
		}
		view, err := rntuple.AttributesOf[struct{ Where string }](set)
		if err != nil {
			t.Fatal(err)
		}
		for r, a := range view.All() {
			sets[i] = append(sets[i], fmt.Sprint(r, a.Where))
		}
		if view.Err() != nil {
			t.Fatal(view.Err())
		}
	}
	if !slices.Equal(sets[0], sets[1]) || len(sets[0]) != 2 {
		t.Errorf("attributes %v, without definitions %v", sets[1], sets[0])
	}
}

// TestConditionPanics leaves no file behind if a condition panics.
func TestConditionPanics(t *testing.T) {
	in := Input{Path: filepath.Join(t.TempDir(), "in")}
	points(t, in.Path, 0, 10_000, &rntuple.WriteOptions{ClusterSize: 500})
	for _, opts := range []*SkimOptions{nil, {Define: []Definition{Define("d", func(*struct{}) int { return 1 })}}} {
		out := filepath.Join(t.TempDir(), "out")
		func() {
			defer func() {
				if value := recover(); !strings.Contains(fmt.Sprint(value), "broken") {
					t.Errorf("%v", value)
				}
			}()
			Skim(t.Context(), out, []Input{in}, rntuple.WhereFunc(func(e *struct{ X int32 }) bool {
				if e.X == 7000 {
					panic("broken")
				}
				return e.X%3 == 0
			}), opts)
		}()
		if left, err := os.ReadDir(filepath.Dir(out)); err != nil || len(left) > 0 {
			t.Errorf("the files %v are left", left)
		}
	}
}
