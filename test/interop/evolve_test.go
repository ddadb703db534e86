package interop

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/cpp"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A readAs is a line that evolve.C prints.
type readAs struct {
	Field   string
	As      string
	Refused string
	Values  []any // by entry; a map with an error for those that ROOT could not read
}

// An exception is an intended difference between this library and ROOT in what can
// be read as what. Its functions match the C++ types on disk and in memory.
type exception struct {
	disk, memory func(string) bool
	typ          func(reflect.Type) bool // if only some of the Go types are meant
	why          string
}

func anything(string) bool { return true }

func oneOf(prefixes ...string) func(string) bool {
	return func(s string) bool {
		for _, p := range prefixes {
			if strings.HasPrefix(s, p) {
				return true
			}
		}
		return false
	}
}

var (
	numbers   = oneOf("bool", "char", "std::int", "std::uint", "Evolve", "std::atomic<std::int")
	optionals = oneOf("std::optional<std::int", "std::unique_ptr<std::int")
	sequences = oneOf("std::vector", "ROOT::VecOps::RVec", "std::set", "std::multiset", "std::unordered_", "std::map",
		"std::multimap", "std::array", "std::optional", "std::unique_ptr")
	asSlice = func(t reflect.Type) bool { return t.Kind() == reflect.Slice }
)

// wider lists what this library reads and ROOT does not.
var wider = []exception{
	{anything, oneOf("EvolveA", "EvolveB"), nil, "Go has no enums, they are integers; ROOT was not asked"},
	{sequences, oneOf("std::set", "std::multiset", "std::unordered_", "std::multimap"), asSlice,
		"[]T stands for every collection"},
	{oneOf("std::byte"), func(s string) bool { return numbers(s) || optionals(s) }, nil,
		"std::byte is a uint8 where it loses nothing"},
	{numbers, oneOf("std::byte"), nil, "byte is uint8"},
	{oneOf("std::bitset"), oneOf("std::vector<bool>"), nil, "[]bool takes bits"},
}

// narrower lists what ROOT reads and this library refuses.
var narrower = []exception{
	{oneOf("std::map", "std::unordered_map"), oneOf("std::set<std::pair"),
		func(t reflect.Type) bool { return t.Kind() == reflect.Map }, "a map becomes a map[K]V, not a map[Pair]struct{}"},
}

// TestEvolve has ROOT read every type as every other one, and reads the
// corresponding Go types itself.
func TestEvolve(t *testing.T) {
	needed(t)
	file := filepath.Join(t.TempDir(), "evolve.root")
	lines := script(t, "evolve.sh", file)
	r, err := rntuple.Open(file, "evolve", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	onDisk := map[string]string{}
	for _, f := range r.Schema().Fields {
		onDisk[f.Name] = f.CppType()
	}
	counts := map[string]int{}
	used := map[string]int{}
	scanner := bufio.NewScanner(bytes.NewReader(lines))
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var root readAs
		decoder := json.NewDecoder(bytes.NewReader(scanner.Bytes()))
		decoder.UseNumber()
		if err := decoder.Decode(&root); err != nil {
			t.Fatalf("%v in %s", err, scanner.Bytes())
		}
		disk := onDisk[root.Field]
		stands, known := targets[root.As]
		if !known {
			t.Errorf("no Go type is known for %s", root.As)
		}
		for _, target := range stands {
			typ := target.typ
			values, err := target.read(r, root.Field)
			what := fmt.Sprintf("%s as %s, that is %v", disk, root.As, typ)
			var mismatch *schema.MismatchError
			refused := errors.As(err, &mismatch)
			switch {
			case err != nil && !refused:
				t.Errorf("%s: %v", what, err)
			case refused && root.Refused != "":
				counts["refused by both"]++
			case refused:
				counts["refused here"]++
				explain(t, narrower, used, what, disk, root.As, typ, err)
			case root.Refused != "":
				counts["read here"]++
				explain(t, wider, used, what, disk, root.As, typ, errors.New(root.Refused))
			default:
				counts["read by both"]++
				compare(t, what, values, root.Values, !oneOf("std::vector", "ROOT", "std::array")(root.As))
			}
		}
	}
	t.Log(counts)
	for _, e := range append(wider, narrower...) {
		t.Logf("%d: %s", used[e.why], e.why)
		if used[e.why] == 0 {
			t.Errorf("nothing differs any more for the reason that %s", e.why)
		}
	}
}

// explain makes sure that a difference is one of the known ones.
func explain(t *testing.T, known []exception, used map[string]int, what, disk, memory string,
	typ reflect.Type, err error) {
	for _, e := range known {
		if e.disk(disk) && e.memory(memory) && (e.typ == nil || e.typ(typ)) {
			used[e.why]++
			return
		}
	}
	t.Errorf("%s: only one refuses: %.300v", what, err)
}

// A target is a Go type, and a function that reads all entries of a field as that
// type: values, or errors in their place.
type target struct {
	typ  reflect.Type
	read func(r *rntuple.Reader, path string) ([]any, error)
}

func as[T any]() target {
	return target{reflect.TypeFor[T](), func(r *rntuple.Reader, path string) ([]any, error) {
		v, err := rntuple.ViewOf[T](r, path)
		if err != nil {
			return nil, err
		}
		all := make([]any, r.NumEntries())
		for i := range all {
			if all[i], err = v.At(int64(i)); err != nil {
				all[i] = err
			}
		}
		return all, nil
	}}
}

type evolve struct {
	A int32   `rntuple:"a"`
	B float32 `rntuple:"b"`
}

// targets are the Go types that correspond to C++ types. There is none for
// variants.
var targets = map[string][]target{
	"bool": {as[bool]()}, "char": {as[int8]()}, "std::byte": {as[byte]()},
	"std::int8_t": {as[int8]()}, "std::int16_t": {as[int16]()}, "std::int32_t": {as[int32]()},
	"std::int64_t": {as[int64]()},
	"std::uint8_t": {as[uint8]()}, "std::uint16_t": {as[uint16]()}, "std::uint32_t": {as[uint32]()},
	"std::uint64_t": {as[uint64]()},
	"EvolveA":       {as[int16]()}, "EvolveB": {as[int8]()}, "Evolve": {as[evolve]()},
	"float": {as[float32]()}, "double": {as[float64]()}, "Double32_t": {as[float64]()}, "std::string": {as[string]()},
	"std::atomic<std::int32_t>": {as[int32](), as[cpp.Atomic[int32]]()},
	"std::atomic<std::int8_t>":  {as[cpp.Atomic[int8]]()},
	"std::atomic<double>":       {as[cpp.Atomic[float64]]()},

	"std::vector<std::int32_t>":                {as[[]int32]()},
	"std::vector<std::int8_t>":                 {as[[]int8]()},
	"std::vector<std::uint64_t>":               {as[[]uint64]()},
	"std::vector<bool>":                        {as[[]bool]()},
	"std::vector<char>":                        {as[[]cpp.Char]()},
	"std::vector<float>":                       {as[[]float32]()},
	"std::vector<double>":                      {as[[]float64]()},
	"std::vector<std::string>":                 {as[[]string]()},
	"std::vector<std::optional<std::int8_t>>":  {as[[]*int8]()},
	"std::vector<std::vector<std::int32_t>>":   {as[[][]int32]()},
	"std::vector<std::vector<std::int8_t>>":    {as[[][]int8]()},
	"ROOT::VecOps::RVec<std::int32_t>":         {as[cpp.RVec[int32]]()},
	"ROOT::VecOps::RVec<std::int16_t>":         {as[cpp.RVec[int16]]()},
	"std::set<std::int32_t>":                   {as[map[int32]struct{}](), as[cpp.Set[int32]]()},
	"std::set<std::int64_t>":                   {as[map[int64]struct{}](), as[cpp.Set[int64]]()},
	"std::set<std::int8_t>":                    {as[map[int8]struct{}](), as[cpp.Set[int8]]()},
	"std::unordered_set<std::int32_t>":         {as[map[int32]struct{}](), as[cpp.UnorderedSet[int32]]()},
	"std::multiset<std::int32_t>":              {as[cpp.MultiSet[int32]]()},
	"std::unordered_multiset<std::int32_t>":    {as[cpp.UnorderedMultiSet[int32]]()},
	"std::array<std::int32_t,3>":               {as[[3]int32]()},
	"std::array<std::int8_t,3>":                {as[[3]int8]()},
	"std::array<std::int32_t,2>":               {as[[2]int32]()},
	"std::array<std::int32_t,4>":               {as[[4]int32]()},
	"std::array<float,3>":                      {as[[3]float32]()},
	"std::bitset<8>":                           {as[[8]bool]()},
	"std::bitset<9>":                           {as[[9]bool]()},
	"std::optional<std::int32_t>":              {as[*int32]()},
	"std::optional<std::int8_t>":               {as[*int8]()},
	"std::optional<double>":                    {as[*float64]()},
	"std::optional<std::string>":               {as[*string]()},
	"std::optional<std::vector<std::int64_t>>": {as[*[]int64]()},
	"std::unique_ptr<std::int32_t>":            {as[cpp.UniquePtr[int32]]()},
	"std::unique_ptr<std::int64_t>":            {as[cpp.UniquePtr[int64]]()},

	"std::pair<std::int32_t,std::int32_t>":               {as[cpp.Pair[int32, int32]]()},
	"std::pair<std::int8_t,std::int64_t>":                {as[cpp.Pair[int8, int64]]()},
	"std::tuple<std::int32_t,std::int32_t>":              {as[cpp.Tuple2[int32, int32]]()},
	"std::tuple<std::int8_t,std::int64_t>":               {as[cpp.Tuple2[int8, int64]]()},
	"std::tuple<std::int32_t,std::int32_t,std::int32_t>": {as[cpp.Tuple3[int32, int32, int32]]()},
	"std::map<std::int32_t,std::int32_t>":                {as[map[int32]int32]()},
	"std::map<std::int8_t,std::int64_t>":                 {as[map[int8]int64]()},
	"std::unordered_map<std::int32_t,std::int32_t>":      {as[map[int32]int32]()},
	"std::multimap<std::int32_t,std::int32_t>":           {as[cpp.MultiMap[int32, int32]]()},
	"std::vector<std::pair<std::int32_t,std::int32_t>>":  {as[[]cpp.Pair[int32, int32]]()},
	"std::vector<std::tuple<std::int8_t,std::int64_t>>":  {as[[]cpp.Tuple2[int8, int64]]()},
	"std::set<std::pair<std::int32_t,std::int32_t>>": {as[cpp.Set[cpp.Pair[int32, int32]]](),
		as[map[cpp.Pair[int32, int32]]struct{}]()},
	"std::variant<std::int32_t,std::string>": nil,
	"std::variant<std::int64_t,std::string>": nil,
}

// compare compares the values of all entries. ROOT converts whole pages, so its
// error may be that of any entry.
func compare(t *testing.T, what string, got, root []any, unordered bool) {
	t.Helper()
	failed := false
	for i, w := range root {
		_, rootFailed := w.(map[string]any)
		failed = failed || rootFailed
		err, isErr := got[i].(error)
		switch {
		case isErr && !errors.Is(err, rntuple.ErrRange):
			t.Errorf("%s, entry %d: %v", what, i, err)
		case isErr != rootFailed && !rootFailed:
			t.Errorf("%s, entry %d: %v, ROOT reads %v", what, i, err, w)
		case !rootFailed && !equal(reflect.ValueOf(got[i]), w, unordered):
			t.Errorf("%s, entry %d: %+v, ROOT reads %v", what, i, got[i], w)
		}
	}
	if failed != slices.ContainsFunc(got, func(v any) bool { _, isErr := v.(error); return isErr }) {
		t.Errorf("%s: %v, ROOT reads %v", what, got, root)
	}
}

// equal compares a Go value with what evolve.C prints of a C++ value.
func equal(got reflect.Value, root any, unordered bool) bool {
	list, _ := root.([]any)
	switch got.Kind() {
	case reflect.Slice, reflect.Array:
		var all []reflect.Value
		for i := range got.Len() {
			all = append(all, got.Index(i))
		}
		return equalLists(all, list, unordered)
	case reflect.Pointer:
		if got.IsNil() {
			return len(list) == 0
		}
		return len(list) == 1 && equal(got.Elem(), list[0], false)
	case reflect.Map:
		var all []reflect.Value
		for k, v := range got.Seq2() {
			if v.Type().Size() > 0 {
				k = reflect.ValueOf([2]any{k.Interface(), v.Interface()})
			}
			all = append(all, k)
		}
		return equalLists(all, list, true)
	case reflect.Interface:
		return equal(got.Elem(), root, false)
	case reflect.Struct:
		if got.NumField() == 1 { // stands for the type of its member
			return equal(got.Field(0), root, false)
		}
		var all []reflect.Value
		for i := range got.NumField() {
			all = append(all, got.Field(i))
		}
		return equalLists(all, list, false)
	case reflect.Float32, reflect.Float64:
		n, _ := root.(json.Number)
		f, err := n.Float64()
		return err == nil && f == got.Float()
	}
	return fmt.Sprint(root) == fmt.Sprint(got)
}

func equalLists(got []reflect.Value, root []any, unordered bool) bool {
	left := slices.Clone(root)
	for _, g := range got {
		i := slices.IndexFunc(left, func(w any) bool { return equal(g, w, false) })
		if i < 0 || !unordered && i > 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	return len(left) == 0
}
