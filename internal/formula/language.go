package formula

import "strings"

// A Row is a line of a table of the documentation. Of is in Markdown, as Value is.
type Row struct {
	Forms     []string // code; nil for fields
	Of, Value string   // operands, or fields, and what their value is
}

// A Section is a part of the documentation. Its paragraphs are in Markdown; those that begin with
// "- " are items of a list, and those that begin with four spaces are examples. Rows come last.
type Section struct {
	Title string
	Text  []string
	Rows  []Row
}

var examples = []string{
	"    nMuon == 2 && all(Muon_pt, # > 20)",
	"    any(Electron_eta, abs(#) < 1.4) or MET.pt > 100",
	"    sum(Jet_pt[Jet_pt > 30]) / 2 > 100 and \"HLT_Mu17\" in triggers",
	"    let c = combinations(Muon_pt); any(c[0], Muon_charge[#] > 0)",
}

// Language is the language, in the order of the documentation. Functions are in Groups.
var Language = []Section{
	{"Variables", []string{
		"The variables are the top-level fields. `$env[\"a:b\"]` is the field a:b, for names that are not identifiers or that a definition hides.",
	}, fields},
	{"Values", []string{
		"A value is a bool, an integer, a float, a string, an array, a record or a map, and may be missing. All types are checked before anything is read.",
		"    1  0x1F  1_000  2.5  1e3  \"muon\"  'muon'  `muon`  true  false  nil",
		"    [1, 2.5]  {pt: MET.pt, phi: MET.phi}",
		"Where values of two types meet, as in `? :`, `??`, `concat` and array literals, an integer and a float become floats, nil becomes a missing value " +
			"of the other type, and arrays and records are combined item by item and member by member. Other combinations are an error.",
	}, nil},
	{"Operators", []string{
		"In descending order of precedence. It is the same for `*`, `/` and `%`, for `+` and `-`, and from `==` to `matches`. " +
			"If an operand is an array, so is the value.",
	}, Operators},
	{"Predicates", []string{
		"The second argument of `any`, `filter`, `map` and the like is evaluated for each item of the array: `#` is the item, `#index` its index, `.name` its " +
			"member, and `#acc`, in `reduce`, the accumulated value: a number, a string or a bool of constant type. A predicate with let needs braces, a record literal parentheses:",
		"    any(Muon_pt, # > 20)",
		"    filter(jets, .pt > 30 and abs(.eta) < 2.4)",
		"    map(Muon_pt, {let pt = #; count(Jet_pt, # > pt)})",
	}, nil},
	{"Missing values", []string{
		"These are missing: an item `x[i]` out of range, an empty optional, a key that a map lacks, a member of a missing record, and the `min`, `max`, " +
			"`mean` and `median` of an empty array (`sum` is 0).",
		"- Arithmetic and functions of a missing value are missing.",
		"- Comparisons with a missing value are false, also `!=` and `in`. `x == nil` tests for it; `x ?? y` replaces it by y.",
		"- In `and`, `or`, `not`, `? :`, predicates and conditions, a missing value is false. So `v[0] > 20` and `v[0] <= 20` are both false for an empty " +
			"array, but `not (v[0] > 20)` is true.",
		"- `any`, `count`, `len` and all other functions of a missing array are missing, and so is an elementwise operation if one of its arrays, or a " +
			"number beside an array, is missing.",
		"- A missing item makes `sum`, `min`, `max`, `mean`, `median`, `sort`, `argsort`, `argmin`, `argmax`, `mass` and `join` of the array missing. `filter`, `map`, `reverse`, " +
			"`first`, `last`, `take`, `concat`, `flatten`, `uniq` and slices keep it. Keys of `sortBy` and `groupBy` must not be missing: `sortBy(v, .x ?? 0)`.",
	}, nil},
	{"Numbers", []string{
		"- An integer beside a float becomes a float. Two integers are compared exactly.",
		"- `+`, `-` and `*` of integers wrap around. `/` and `**` yield IEEE 754 floats: 1 / 0 is infinite. `%` takes integers.",
		"- Nothing is equal to NaN. A `float` of the file is widened, so `x == 0.1` is false for the `float` nearest to 0.1.",
		"- `min` and `max` are NaN if the first number is; other NaNs are ignored. " +
			"`sum` and `mean` add in order.",
	}, nil},
	{"Arrays", []string{
		"Operators and functions of numbers are elementwise, also on arrays of arrays, and so are `and`, `or`, `not`, `in`, `contains` and `matches`. Other values are " +
			"broadcast: `Muon_pt / 2`, `Muon_pt > 20 and abs(Muon_eta) < 2.4`. Arrays of different lengths are an error of the entry. A condition must not be an array: " +
			"write `any(Muon_pt > 20, #)`, or `any(Muon_pt, # > 20)`.",
		"    Muon_pt[Muon_eta > 0]",
		"    Muon_pt[argsort(Muon_eta)]",
		"    sum(Jet_pt[Jet_pt > 30][:2])",
	}, nil},
	{"Strings", []string{
		"`len`, slices and `indexOf` count characters. Comparisons are bytewise.",
	}, nil},
	{"Records and maps", []string{
		"Records and maps cannot be compared. Predicates and `len` treat a map as an array of records with the members `key` and `value`: " +
			"`any(m, .value > 1)`. `groupBy` yields a map:",
		"    len(groupBy(Muon_charge, #)[1] ?? [])",
	}, nil},
	{"Variants", []string{
		"If the alternatives have no common type, an operator requires the type of its other operand, or any number beside a " +
			"number. `int(x)` and `float(x)` take numbers, `string(x)` also strings and bools. Another alternative is an error of the entry. `x == nil` is true if the variant is empty.",
	}, nil},
	{"Evaluation", []string{
		"- `and`, `or`, `? :` and `??` evaluate their right side, or sides, only for the entries and items that the left side does not decide. " +
			"Other entries and items cause no errors. If one side of `and` or `or` is an array, both are evaluated.",
		"- Everything else is evaluated, even if the result does not depend on it: the value of an unused let, the items of `len(map(v, int(#)))`, and the " +
			"predicate of `any` or `find` for all items of the array.",
		"- A definition is evaluated where its name is used, like its text in parentheses.",
		"- Entries are evaluated in batches of 8192, or fewer if they need too much memory. Only the fields and members that an expression names are read.",
	}, nil},
	{"Errors", []string{
		"An `*expression.Error` has the line and the character. `Parse` returns errors of syntax, `Compile` and `Condition.Check` those of names and types. Errors " +
			"of an entry name the first such entry, and end the loop:",
		"- arrays of different lengths in one operation, including a mask and its array,",
		"- an index of `argsort` or `combinations` beyond an array,",
		"- an integer of the file beyond signed 64 bits,",
		"- text that `int` or `float` cannot parse, an invalid pattern that is not a literal,",
		"- a negative number in `repeat` or a shift of bits,",
		"- a range as an array, or combinations, of more than a million items,",
		"- a variant that holds another type.",
		"Exceeding a [limit](limits.md) of memory or work is also an error.",
	}, nil},
	{"Differences from expr-lang", []string{
		"The language derives from [expr-lang](https://expr-lang.org). It lacks the functions `" + strings.Join(Dropped,
			"`, `") + "`, comments (`nJet//2` would be nJet), " +
			"byte literals, computed member names, discarded values before a semicolon, and method calls.",
	}, nil},
}

// Operators are the operators, and what else is no function, from the tightest to the loosest.
var Operators = []Row{
	{[]string{"r.a", "r?.a"}, "record or map",
		"member a, or the value of the key \"a\", in both spellings; in a predicate, `.a` is the member of the item"},
	{[]string{"v[i]"}, "array and integer", "item i; from the end if i is negative: `v[-1]`; missing if out of range"},
	{[]string{"v[w]"}, "array and array of integers",
		"the items at indices; missing if one is missing or out of range, which is an error for indices of `argsort` and `combinations`"},
	{[]string{"v[m]"}, "array and array of bools", "the items for which m is true; lengths that differ are an error"},
	{[]string{"m[k]"}, "map and key; record and literal", "value of the first key that is equal, or missing; a member"},
	{[]string{"v[i:j]", "v[i:]", "v[:j]"}, "array or string, integers",
		"items, or characters, from i up to but excluding j; from the end if negative; bounds out of range are clamped"},
	{[]string{"x ?? y"}, "any", "y where x is missing, otherwise x; after it, other operators need parentheses"},
	{[]string{"x ** y", "x ^ y"}, "numbers", "power, a float; groups from the right"},
	{[]string{"-x", "+x"}, "number", "negation; x itself"},
	{[]string{"x * y"}, "numbers", "product"},
	{[]string{"x / y"}, "numbers", "quotient, a float: 1 / 2 is 0.5, 1 / 0 is infinite"},
	{[]string{"x % y"}, "integers", "remainder with the sign of x; missing if y is 0"},
	{[]string{"not x", "!x"}, "bool", "whether x is not true; true if x is missing; `not x == y` is `(not x) == y`"},
	{[]string{"x + y", "x - y"}, "numbers; strings for +", "sum and difference; concatenation"},
	{[]string{"x..y"}, "integers", "array of the integers from x to y; empty if y is less; more than a million are an error"},
	{[]string{"x == y", "x != y"}, "numbers, strings or bools; any and nil",
		"whether they are equal, or not; false if one is missing, except beside nil"},
	{[]string{"x < y", "x <= y", "x > y", "x >= y"}, "numbers or strings",
		"order, of strings by their bytes; false if one is missing; `a < b < c` is `a < b and b < c`"},
	{[]string{"x in y", "x not in y"}, "number, string or bool, and array",
		"whether x is equal to an item; false, or true for `not in`, if it is missing"},
	{[]string{"x in m"}, "key and map; literal and record", "whether m has the key, or the member"},
	{[]string{"x in i..j"}, "number and integers",
		"whether x is one of the integers from i to j, as floats if x is one; no array is made, so the range may have any size"},
	{[]string{"s contains t", "s startsWith t", "s endsWith t"}, "strings",
		"substring, prefix, suffix; false if one is missing"},
	{[]string{"s matches p"}, "strings", "whether the Go regular expression p matches a part of s; false if one is missing"},
	{[]string{"x and y", "x && y"}, "bools", "whether both are true"},
	{[]string{"x or y", "x || y"}, "bools", "whether at least one is true"},
	{[]string{"x | f(y)"}, "any", "`f(x, y)`"},
	{[]string{"x ? y : z", "x ?: y", "if x { y } else { z }"}, "bool and any",
		"y if x is true, otherwise z; `x ?: y` is `x ? x : y`"},
	{[]string{"let x = y; z"}, "any", "z, in which x is a name for y; a field of that name is an error"},
}

// fields are the types of fields, and those of their values.
var fields = []Row{
	{nil, "bool", "bool"},
	{nil, "integers, characters, bytes, cardinalities",
		"signed 64-bit integer; a larger value in the file is an error of the entry"},
	{nil, "float, double, and the types that ROOT packs in fewer bits", "float: 64 bits"},
	{nil, "`std::string`", "string"},
	{nil, "enum, `std::atomic`", "the underlying value"},
	{nil, "vector, RVec, sets, arrays, bitset", "array"},
	{nil, "class, untyped record", "record: `vertex.x`"},
	{nil, "map with strings as keys", "map: `m[\"key\"]`, `\"key\" in m`"},
	{nil, "other maps", "array of records with the members `key` and `value`"},
	{nil, "pair, tuple", "array, if the members have one type; otherwise `t[0]`, with a literal index, is a member"},
	{nil, "optional, `unique_ptr`", "the value, which may be missing"},
	{nil, "variant", "the value, which may be missing, if the alternatives have one type, or are integers and floats, which become floats; otherwise see Variants"},
	{nil, "source of a Join", "record of its fields; those of a matched source may be missing"},
}
