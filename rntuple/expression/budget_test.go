//go:build !race

// The race detector needs several times the memory that these tests measure.

package expression

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// A doomed is an entry for hostile conditions.
type doomed struct {
	S, T string
	N    int32
	V    []float64
	W    []string
	H    []struct{ L []float64 }
	M    map[string]float64
	O    *int32
}

// doomedFile makes a file of entries with some long ones among them.
func doomedFile(t *testing.T, opts *rntuple.ReadOptions) *rntuple.Reader {
	t.Helper()
	return fileOf(t, "n", nil, func(w *rntuple.Writer[doomed]) {
		for i := range 9000 {
			e := doomed{S: strings.Repeat("a", 60), T: "(a|b)*c", N: int32(i), M: map[string]float64{"a": 1}}
			n := 8
			if i%1000 == 0 {
				n, e.T = 3000, "a"
			}
			for k := range n {
				e.V, e.W = append(e.V, float64(k%7)), append(e.W, fmt.Sprint(k))
			}
			e.H = append(e.H, struct{ L []float64 }{e.V}, struct{ L []float64 }{e.V})
			w.Write(&e)
		}
	}, opts)
}

// doubled returns an expression whose value is that of the first one, doubled many times by
// another one.
func doubled(first, next string, times int, body string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "let v0 = %s; ", first)
	for i := range times {
		fmt.Fprintf(&b, "let v%d = %s; ", i+1, strings.ReplaceAll(next, "v", fmt.Sprint("v", i)))
	}
	return b.String() + strings.ReplaceAll(body, "v", fmt.Sprint("v", times))
}

// patterned returns a condition with many large patterns.
func patterned() string {
	var all []string
	for i := range 300 {
		all = append(all, fmt.Sprintf(`S matches "%da{1,900}b{1,900}[ab]{1,900}c{1,900}d{1,900}"`, i))
	}
	return strings.Join(all, " or ")
}

// hostile are conditions that need much memory or time, or would without bounds.
var hostile = []string{
	doubled("S", "v + v", 24, `v == "b"`),
	doubled("S", "v + v + v + v + v + v + v + v", 6, `len(v) > 1`),
	doubled("S", "upper(v + v)", 30, `len(v) > 1`),
	doubled("S", "v + v", 40, `v contains "b"`),
	doubled("S", "repeat(v, 1000)", 5, `len(v) > 1`),
	doubled("S", `replace(v, "a", "aa")`, 40, `len(v) > 1`),
	doubled("S", `replace(v, "a", v)`, 6, `len(v) > 1`),
	doubled("S", `replace(v, "", v)`, 6, `len(v) > 1`),
	doubled("W", `[join(v, S + S), join(v, S)]`, 30, `len(v) > 1`),
	doubled("V", "concat(v, v)", 30, `len(v) > 1`),
	doubled("V", "concat(v, v)", 30, `sum(v) > 1`),
	doubled("[V]", "concat(v, v)", 30, `len(v) > 1`),
	doubled("[V, V]", "[v, v]", 25, `len(v) == 3`),
	doubled("[1, 2]", "[v, v, v, v]", 15, `len(flatten(v)) == 3`),
	doubled("[1, 2]", "[v, v, v, v]", 15, `median(v) == 3`),
	doubled("[1, 2]", "[v, v, v, v]", 15, `mean(v) == 3`),
	doubled(`{"a": V}`, `{"a": v, "b": v}`, 12, `v == v`),
	doubled(`{"a": V}`, `{"a": v, "b": v}`, 30, `len(string(v)) == 1`),
	doubled(`{"a": V}`, `{"a": v, "b": v}`, 30, `v in [v]`),
	doubled(`{"a": V}`, `{"a": v, "b": v}`, 30, `len(uniq([v, v])) == 1`),
	doubled("V", "map(v, # + 1)[0:2]", 2000, "v[0] == -1"),
	doubled("V", "v + v", 3000, "any(v, # > 1)"),
	doubled("N", "v + v", 3300, "v > 1"),
	doubled("S", "v + T", 3000, `v == ""`),
	"let r = 1..900000; any(r, let x = #; any(r, let y = #; any(r, # + x + y < 0)))",
	"let r = 1..900000; sum(r, let x = #; count(r, # > x)) > 1",
	"any(1..900000, any(1..900000, # < 0))",
	"any(1..900000, let x = #; any(V, # + x < 0))",
	"sum(map(1..900000, # * N)) == 1",
	"len(sort(map(1..900000, -#))) == N",
	"len(sortBy(1..900000, -#)) == N",
	"len(groupBy(1..900000, # % (N + 1))) == N",
	"len(uniq(1..900000)) == N",
	"len(uniq(map(1..900000, [#]))) == N",
	`len(reduce(1..900000, #acc + S, "")) == N`,
	`len(reduce(1..60, #acc + #acc, S)) == N`,
	`reduce(1..900000, #acc + #, 0) == N`,
	"any(combinations(1..1400)[0], # > N)",
	"let c = combinations(V, V); sum(V[c[0]] * V[c[1]]) == 1",
	"let c = combinations(V); sum(mass(V[c[0]], V[c[0]], V[c[0]], V[c[0]], V[c[1]], V[c[1]], V[c[1]], V[c[1]])) == 1",
	"all(V, let x = #; all(V, let y = #; count(V, # > x + y) < 0 or x > -1))",
	"count(V, let x = #; x in V and (x + 1) in 1..5) == -1 and any(combinations(V, W)[0], # in argsort(V))",
	"any(argsort(V)[argsort(V)][argsort(V)], let x = #; any(map(V, # * x), # in map(1..90000, # / 2)))",
	`S matches "(x+x+)+y` + strings.Repeat("(a|aa){10,90}", 20) + `"`,
	`S matches "(a{1,1000}){1,1}` + strings.Repeat("a{1,1000}", 40) + `"`,
	`(S + S) matches ("(a*)*(a|b|c){1,90}" + T) or repeat(S, 10000) matches "(a*)*(.*)*(a|b){1,900}$"`,
	`any(1..900000, S matches (string(#) + "(a|b)*"))`,
	`len(split(repeat(S, 10000), "")) == N and len(map(split(repeat(S, 10000), ""), # + S)) == N`,
	"N in [" + strings.Repeat("1, ", 9000) + "2] and " + "N in [" + strings.Repeat("1, ", 900) + "2]",
	strings.Repeat("(", 400) + "N" + strings.Repeat(" + 1)", 400) + " > 1",
	strings.Repeat("not ", 2000) + "true",
	strings.Repeat("[S][0] == T or ", 900) + "false",
	strings.Repeat("(let a = [N]; a[0] + ", 900) + "N" + strings.Repeat(")", 900) + " == 5",
	strings.Repeat("(", 5_000_000),
	strings.Repeat("(", 1_000_000),
	strings.Repeat("(", 9999) + "true" + strings.Repeat(")", 9999),
	strings.Repeat("[", 500_000),
	strings.Repeat("-", 500_000) + "1 > 0",
	strings.Repeat("not ", 200_000) + "true",
	strings.Repeat("let a = ", 100_000) + "1",
	strings.Repeat("{a:", 300_000) + "1",
	strings.Repeat("any(V, ", 140_000) + "true",
	strings.Repeat("N ? ", 250_000) + "true",
	strings.Repeat("N.", 250_000) + "N",
	doubled("S", "v + v", 7, strings.Repeat("len(v) + ", 2500)+"0 == -1"),
	doubled("S", "v + v", 7, strings.Repeat(`v contains "b" or `, 1900)+"false"),
	doubled("S", "v + v", 7, strings.Repeat(`v in ["b", "c"] or `, 1200)+"false"),
	strings.Repeat("(argmax(V) ?? 1) + ", 1600) + "0 == -1",
	strings.Repeat("N > -1 and ([S][0] == S and (", 800) + "N == -1" + strings.Repeat("))", 800),
	patterned(),
	`any(1..900000, S matches (string(#) + "(a|b){1,900}(a|b){1,900}(a|b){1,900}"))`,
	`S matches repeat("a", 1000000)`,
	"len(1..999999) == N",
	"(1..999999)[N] == -5",
	doubled(`{"a": 1}`, `{"a": v, "b": v}`, 12,
		"let w = v; ") + strings.ReplaceAll(doubled("w", "N > 0 ? v : v", 700, "true"), "v", "x"),
	doubled("[N]", "[v]", 1400, "v == N"),
	`len(map(1..900000, [{"a": #, "b": 1.5}][0])) == N`,
	"let v = repeat(S, 16000); any(1..900000, len(v) + # < 0)",
	`let v = repeat(S, 16000); any(1..900000, v contains ("b" + string(#)))`,
	`let v = repeat(S, 16000); let w = repeat(S, 15000); any(1..900000, v == w or v endsWith w and # < 0)`,
	`let v = repeat("é", 100000); let w = repeat("a", 200000) + "é"; trim(v, w) == "b"`,
	"let v = 0..1000; len(flatten(map(0..1500, concat(v, [#])))) == -1",
	strings.Repeat(`({"a": V}.a == nil) or `, 800) + "false",
	`len(split(repeat("a", 1000000), "")) == 1`,
	doubled("[1..1000]", "concat(v, v)", 10, "len(flatten(v)) == 1"),
	strings.Repeat("any(V, ", 2400) + "true" + strings.Repeat(")", 2400),
	strings.Repeat("(N > 1 ? ", 1600) + "[N][0]" + strings.Repeat(" : 2)", 1600) + " == 1",
	strings.Repeat("(median(V) ?? 1) + ", 300) + "0 == -1",
	`any(0..100000, S[#:#+1] == "b")`,
	"any(H, any(.L, let x = #; any(H, any(.L, # + x < 0))))",
}

// TestHostile evaluates hostile conditions with low limits. Each ends, if not well then with an
// error that says where, and allocates little more than its budget allows.
func TestHostile(t *testing.T) {
	const limit = 4 << 20
	r := doomedFile(t, &rntuple.ReadOptions{Limits: rntuple.Limits{ExpressionBytes: limit}})
	refused := 0
	for _, text := range hostile {
		endless := time.AfterFunc(time.Minute, func() { panic("no end: " + text) }) // never makes the test pass
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := selectedBy(t, r, text)
		runtime.ReadMemStats(&after)
		endless.Stop()
		var e *Error
		if err != nil && (!errors.As(err, &e) || e.Line == 0) {
			t.Errorf("%.100s: %.200v", text, err)
		}
		var limited *frame.LimitError
		if errors.As(err, &limited) {
			refused++
			if limited.Limit != "ExpressionBytes" || limited.Have != limit || limited.Need <= limit {
				t.Errorf("%.100s: %v", text, err)
			}
		}
		if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 256<<20 {
			t.Errorf("%.100s: %d MB were allocated", text, bytes>>20)
		}
	}
	t.Logf("%d of %d are refused", refused, len(hostile))
	if refused < len(hostile)/2 {
		t.Errorf("only %d of %d conditions have met the limit", refused, len(hostile))
	}

	// What takes long is work, also if it takes no memory that stays.
	for _, text := range []string{
		"reduce(1..90000, #acc + # * N, 0) == 1",
		"any(1..90, # < 0 and reduce(1..90000, #acc + #, 0) > 1) or sum(sort(map(1..20000, N - #))) == 0",
		strings.Repeat(`trim(lower(`, 300) + "S" + strings.Repeat("))", 300) + ` matches "(a|b)*(a|b)*c"`,
	} {
		if _, err := selectedBy(t, r, text); err == nil || !strings.Contains(err.Error(), "the work") {
			t.Errorf("%.100s: %.200v", text, err)
		}
	}

	_, err := selectedBy(t, r, `N > 1 and
  len(repeat(S, 100000)) > 1`)
	if want := `line 2, character 7: unsupported: the values of repeat(S, 100000)`; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// A countedContext is canceled by the one who looks at it often enough.
type countedContext struct {
	context.Context
	cancel func()
	looks  int
}

func (c *countedContext) Err() error {
	if c.looks++; c.looks == 30 {
		c.cancel()
	}
	return c.Context.Err()
}

// TestCancel cancels conditions within their first batch, and makes sure that they look at the
// context again soon: at the next of the looks that have led there.
func TestCancel(t *testing.T) {
	r := doomedFile(t, &rntuple.ReadOptions{Limits: rntuple.Limits{ExpressionBytes: math.MaxInt64}})
	for _, text := range []string{
		"any(1..900000, let x = #; any(1..900, # + x < 0))",
		"len(sortBy(1..900000, -#)) == N",
		"all(V, let x = #; count(V, # > x) < 0 or x > -1)",
		"reduce(1..100000, #acc + #, 0) < 0",
		"let c = combinations(V, W[:300]); sum(V[c[0]] * V[c[1]]) == 1",
		"len(argsort(V)[argsort(-V)]) < 0 or sum(sort(V)) + median(V) == N or sum(V + V * 2 - V / 3) == 1",
		`S matches "(a|aa)*(b|c){1,900}$"`,
		`any(0..100000, S[#:#+1] == "b")`,
		`let v = repeat(S, 16000); any(1..900000, v contains ("b" + string(#)))`,
		`let v = 0..1000; len(flatten(map(0..1500, concat(v, [#])))) == -1`,
		doubled("S", "v + v", 7, strings.Repeat("len(v) + ", 500)+"0 == -1"),
		strings.Repeat("sum(V) + N - ", 500) + "0 == -1",
		strings.Repeat(`({"a": V}.a[N] == nil) or `, 300) + "false",
		"any(V, # in [" + strings.Repeat("9, ", 5000) + "9])",
	} {
		ctx, cancel := context.WithCancel(context.Background())
		c := &countedContext{ctx, cancel, 0}
		_, err := selectedBy(t, r.WithContext(c), text)
		if !errors.Is(err, context.Canceled) || c.looks > 32 {
			t.Errorf("%.80s: %v after %d looks", text, err, c.looks)
		}
	}
}
