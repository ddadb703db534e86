package oracle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A Generator writes random expressions of given types about fields. It is not safe for concurrent
// use.
type Generator struct {
	*rand.Rand
	// Risk is the share of operations that are likely to be errors of an entry, Mistypes that of
	// operands of any type.
	Risk, Mistypes float64

	fields map[string][]variable // by the name of their type; "*" has all arrays and maps
	items  []itemTypes
	lets   []variable
	count  int // of names so far
}

// A variable is text that has a type.
type variable struct {
	text string
	Type
	name string // of the type
}

func newVariable(text string, t Type) variable { return variable{text, t, t.String()} }

// Types are the types that a Generator writes expressions of.
var Types = []string{"bool", "int", "float", "string", "[bool]", "[int]", "[float]", "[string]", "[[float]]", "[[int]]"}

// NewGenerator returns a Generator of expressions about fields.
func NewGenerator(r *rand.Rand, fields map[string]Type) *Generator {
	g := &Generator{Rand: r, Risk: 0.05, fields: map[string][]variable{}}
	var all []variable
	for name, t := range fields {
		text := name
		if strings.ContainsFunc(name, func(r rune) bool { return r == ':' || r == ' ' }) {
			text = fmt.Sprintf("$env[%q]", name)
		}
		all = append(all, paths(text, t, 3)...)
	}
	slices.SortFunc(all, func(a, b variable) int { return strings.Compare(a.text, b.text) })
	for _, v := range all {
		g.fields[v.name] = append(g.fields[v.name], v)
		if v.is(Array, Map) {
			g.fields["*"] = append(g.fields["*"], v)
		}
	}
	return g
}

// paths returns a value, and the members and items that it leads to.
func paths(text string, t Type, depth int) []variable {
	all := []variable{newVariable(text, t)}
	if depth == 0 {
		return all
	}
	switch t.Kind {
	case Array:
		for _, at := range []string{"[0]", "[-1]", "[1]"} {
			all = append(all, paths(text+at, t.elem(), depth-1)...)
		}
	case Map:
		value := t.elem().Members[1]
		if t.elem().Members[0].Kind == String {
			all = append(all, paths(text+`["a"]`, value, depth-1)...)
		}
		all = append(all, newVariable("keys("+text+")", ArrayOf(t.elem().Members[0])),
			newVariable("values("+text+")", ArrayOf(value)))
	case Tuple:
		for i, m := range t.Members {
			all = append(all, paths(fmt.Sprintf("%s[%d]", text, i), m, depth-1)...)
		}
	case Record:
		for i, m := range t.Members {
			name := "." + t.Names[i]
			if strings.HasPrefix(t.Names[i], ":") {
				name = fmt.Sprintf("[%q]", t.Names[i])
			}
			path := text + name
			if strings.HasPrefix(path, "#.") {
				path = path[1:]
			}
			all = append(all, paths(path, m, depth-1)...)
		}
	case Variant:
		for _, m := range t.Members {
			if m.is(Int, Float, String) {
				all = append(all, newVariable(fmt.Sprintf("%v(%s)", m, text), m))
			}
		}
	}
	return all
}

// Expression returns a random expression of one of Types.
func (g *Generator) Expression(depth int) string { return g.write(one(g, Types), depth) }

// Condition returns a random condition, as physicists write them.
func (g *Generator) Condition(depth int) string { return g.expand(one(g, conditions), depth) }

func one[T any](g *Generator, of []T) T { return of[g.IntN(len(of))] }

// write returns an expression of a type.
func (g *Generator) write(typ string, depth int) string {
	if g.Float64() < g.Mistypes {
		typ = one(g, Types)
	}
	rules := rules[typ]
	if depth <= 0 || g.IntN(8) == 0 || rules == nil && !strings.HasPrefix(typ, "[") {
		return g.leaf(typ)
	}
	if some := risky[typ]; some != nil && g.Float64() < g.Risk {
		rules = some
	} else if elem, ok := strings.CutPrefix(typ, "["); ok {
		if elem = strings.TrimSuffix(elem, "]"); g.IntN(2) == 0 || rules == nil {
			return g.expand(strings.ReplaceAll(one(g, listRules), "T", elem), depth)
		}
	} else if g.IntN(4) == 0 {
		return g.expand(strings.ReplaceAll(one(g, anyRules), "T", typ), depth)
	}
	return g.expand(one(g, rules), depth)
}

// expand writes a rule. In ‹ and › it has alternatives, separated by commas, each a type or text,
// after one of
//
//	=   let a name, which is $ from there on, have a value of the type
//	@   an array of items of the type: * is any, {} records, (scalar) what groupBy takes, $ the array of that name
//	:   a predicate about the items of that array
//	#   the same, where #acc has the type as well
func (g *Generator) expand(rule string, depth int) string {
	var b strings.Builder
	lets, name := len(g.lets), ""
	var item Type // of the last @
	for rule != "" {
		text, rest, found := strings.Cut(rule, "‹")
		b.WriteString(strings.ReplaceAll(text, "$", name))
		if !found {
			break
		}
		text, rule, _ = strings.Cut(rest, "›")
		choice := one(g, strings.Split(strings.TrimLeft(text, "=@:#"), ","))
		switch text[0] {
		case '=':
			g.count++
			name = fmt.Sprintf("v%d", g.count)
			fmt.Fprintf(&b, "let %s = %s; ", name, g.write(choice, depth-1))
			g.lets = append(g.lets, newVariable(name, parseType(choice)))
		case '@':
			list := g.list(choice, depth-1)
			item = list.elem()
			b.WriteString(list.text)
		case ':', '#':
			top := itemTypes{value: item}
			if text[0] == '#' {
				top.acc = new(Type)
				*top.acc = parseType(choice)
			}
			g.items = append(g.items, top)
			b.WriteString(g.write(choice, depth-1))
			g.items = g.items[:len(g.items)-1]
		default:
			b.WriteString(g.choice(choice, depth-1))
		}
	}
	g.lets = g.lets[:lets]
	return b.String()
}

// choice writes a type, or text.
func (g *Generator) choice(text string, depth int) string {
	if slices.Contains(Types, strings.Trim(text, "[]")) {
		return g.write(text, depth)
	}
	return text
}

// list returns an array for @.
func (g *Generator) list(choice string, depth int) variable {
	switch {
	case choice == "$":
		return g.lets[len(g.lets)-1]
	case strings.Contains(choice, ".."):
		return newVariable(choice, ArrayOf(integer))
	}
	v, ok := g.variable(g.fields["*"], func(v variable) bool {
		elem := v.elem()
		return v.is(Array, Map) && (choice == "*" || choice == "{}" && elem.Kind == Record || choice == "(scalar)" &&
			elem.scalar() && !elem.Missing)
	})
	if ok && g.IntN(4) > 0 {
		return v
	}
	switch choice {
	case "(scalar)":
		return newVariable("[2, 1, 2]", ArrayOf(integer))
	case "*", "{}":
		choice = one(g, []string{"bool", "int", "float", "string"})
	}
	return newVariable(g.write("["+choice+"]", depth), ArrayOf(parseType(choice)))
}

// variable returns a field, one of lets or of the innermost item, rather one with a short text, or
// false if none fits.
func (g *Generator) variable(fields []variable, fits func(v variable) bool) (variable, bool) {
	near := slices.Clone(g.lets)
	if len(g.items) > 0 {
		top := g.items[len(g.items)-1]
		near = append(near, newVariable("#index", integer))
		near = append(near, paths("#", top.value, 2)...)
		if top.acc != nil {
			near = append(near, newVariable("#acc", *top.acc))
		}
	}
	choose := func(all []variable) (v variable, ok bool) {
		for range 2 {
			i := g.IntN(len(all) + 1)
			for k := range all {
				if w := all[(i+k)%len(all)]; fits(w) && (!ok || len(w.text) < len(v.text)) {
					v, ok = w, true
					break
				}
			}
		}
		return v, ok
	}
	v, ok := choose(near)
	if ok && g.IntN(2) == 0 {
		return v, true
	}
	if v, ok := choose(fields); ok {
		return v, true
	}
	return v, ok
}

// leaf returns a variable or a literal of a type.
func (g *Generator) leaf(typ string) string {
	if g.IntN(4) > 0 {
		if v, ok := g.variable(g.fields[typ], func(v variable) bool { return v.name == typ }); ok {
			return v.text
		}
	}
	if all := literals[typ]; all != nil {
		return one(g, all)
	}
	elem := strings.TrimSuffix(strings.TrimPrefix(typ, "["), "]")
	if elem == typ {
		return "nil"
	}
	return fmt.Sprintf("[%s, %s]", g.leaf(elem), g.leaf(elem))
}

// parseType returns the type of a name in Types.
func parseType(text string) Type {
	if elem, ok := strings.CutPrefix(text, "["); ok {
		return ArrayOf(parseType(strings.TrimSuffix(elem, "]")))
	}
	return map[string]Type{"bool": boolean, "int": integer, "float": float, "string": str}[text]
}

// literals are leaves without variables.
var literals = map[string][]string{
	"bool": {"true", "false"},
	"int": {"0", "1", "2", "-1", "-2", "3", "63", "64", "9007199254740991", "9007199254740992", "9007199254740993",
		"9223372036854775807", "(-9223372036854775807 - 1)", "-9007199254740993", "0x1f", "1_000"},
	"float": {"0.0", "-0.0", "1.5", "-2.5", "0.1", "3.0", "1e308", "-1e308", "5e-324", "9007199254740992.0",
		"9.223372036854775807e18",
		"(0.0 / 0.0)", "(1.0 / 0.0)", "(-1.0 / 0.0)", ".5", "1e-3"},
	"string": {`""`, `"a"`, `"b"`, `'ab'`, `"é"`, `"12"`, `"-1.5"`, `"nan"`},
}

// anyRules are those of every scalar type T.
var anyRules = []string{
	"(‹T› ?? ‹T›)", "(‹bool› ? ‹T› : ‹T›)", "(if ‹bool› { ‹T› } else { ‹T› })", "‹[T]›[‹int›]", "first(‹[T]›)",
	"last(‹[T]›)", "(‹bool› ? ‹T› : nil)",
	"(‹=T›[$, ‹T›][‹int›])", "(‹=float,int,[float],[int],string›‹T›)", "find(‹@T›, ‹:bool›)",
	"findLast(‹@T›, ‹:bool›)", "get(‹[T]›, ‹int›)",
	"reduce(‹@*›, ‹#T›, ‹T›)", "reduce(‹@T›, ‹#T›)", "({a: ‹T›, b: ‹float›}).a", `({a: ‹T›})["a"]`,
	"([‹T›, ‹T›] | first())", "(nil ?? ‹T›)",
	"(first(groupBy(‹@(scalar)›, ‹:int› ?? 0)[‹int›]) == nil ? ‹T› : ‹T›)",
	"map(‹@{}›, ‹:T›)[‹int›]",
}

// listRules are those of arrays of T.
var listRules = []string{
	"filter(‹@T›, ‹:bool›)", "map(‹@*›, ‹:T›)", "‹[T]›[‹int›:‹int›]", "‹[T]›[‹1,-2,0›:]", "‹[T]›[:‹1,-1,2›]",
	"[‹T›, ‹T›]", "[‹T›, nil, ‹T›]",
	"(‹=[T]›$[map(‹@$›, ‹:bool›)])", "(‹=[T]›$[argsort(map(‹@$›, ‹:float,int›))])",
	"(‹=[T]›$[argsort(map($, #index % 2))[:‹1,-1›]])", "reverse(‹[T]›)", "take(‹[T]›, ‹0,1,2,7›)",
	"take(‹[T]›, map(‹@*›, ‹:int›))", "‹[T]›[map(‹@*›, ‹:int›)]", "‹[T]›[[0]]", "concat(‹[T]›, ‹[T]›)",
	"concat(‹[T]›, [])", "sortBy(‹@T›, (‹:int,float› ?? 0))", `sortBy(‹@T›, (‹:string› ?? ""), "desc")`,
	"(‹[T]› ?? ‹[T]›)",
	"(‹bool› ? ‹[T]› : ‹[T]›)", "(‹bool› ? ‹[T]› : nil)", "(‹=[T]›$[:])",
	"map(‹@{}›, ‹:T›)", "(‹=[T]›let c = combinations($); $[c[‹0,1›]])", "groupBy(‹@T›, (‹:bool› ?? false))[‹true,false›]",
	"groupBy(‹@T›, ‹:int› ?? 0)[‹int›]",
	"map(values(groupBy(‹@T›, (‹:string› ?? \"\"))), first(#))", "map(‹@1..3,-1..1,2..1›, ‹:T›)",
}

// rules are those of one type.
var rules = map[string][]string{
	"bool": {
		"(‹int,float› < ‹int,float›)", "(‹int,float› ‹!=,==,<=,<,>,>=› ‹int,float›)",
		"(‹int,float› ‹!=,==,<=,<,>,>=› ‹int,float›)",
		"(‹bool› ‹and,or,&&,||,==,!=› ‹bool›)", "(‹bool› ‹and,or› ‹bool›)", "(not ‹bool›)", "!‹bool›",
		"(‹string› ‹!=,==,<,>=,contains,startsWith,endsWith› ‹string›)",
		`(‹string› matches ‹"^a.?","b$","[a-c]+","é"›)`, "‹any,all,none,one›(‹@*›, ‹:bool›)",
		"‹any,all,none,one›(‹@{}›, ‹:bool›)", "(‹int,float,string,bool,[int],[float]› ‹!=,==› nil)",
		"(‹int,float› ‹in,not in› ‹[int],[float]›)", "(‹int,float› in [1, 2, -2])",
		"(‹int,float› ‹in,not in› ‹-1,int›..‹2,int›)", "(‹string› in ‹[string]›)",
		"‹isnan,isinf,isfinite›(‹int,float›)", "‹hasPrefix,hasSuffix›(‹string›, ‹string›)",
		"(‹int› in groupBy(‹@int›, # ?? 0))", "(nil in ‹[int]›)", `("a" in {a: 1})`,
		"(‹int› < ‹int› <= ‹float›)", "(‹=[float]›any($, # == max($)))", "any(‹@*›, ‹:[int],[float]› != nil)",
	},
	"int": {
		"(‹int› ‹+,-,*,%› ‹int›)", "(‹int› ‹+,-,*,%› ‹int›)", "(-‹int›)",
		"len(‹[float],[int],[bool],[string],string,[[float]]›)", "count(‹@*›, ‹:bool›)", "count(‹[bool]›)",
		"count(‹@{}›, ‹:bool›)",
		"‹sum,min,max›(‹[int]›)", "sum(‹[bool]›)", "int(‹float›)", "int(string(‹int›))", "‹argmin,argmax›(‹[int],[float]›)",
		"sum(‹@*›, ‹:int›)", "abs(‹int›)", "‹min,max›(‹int›, ‹int›)", "‹min,max›(‹[int]›, ‹int›)",
		"‹bitand,bitor,bitxor,bitnand›(‹int›, ‹int›)", "bitnot(‹int›)", "‹bitshl,bitshr,bitushr›(‹int›, ‹0,1,63,64,100›)",
		"‹findIndex,findLastIndex›(‹@*›, ‹:bool›)", "‹indexOf,lastIndexOf›(‹string›, ‹string›)",
		"len(uniq(‹[int],[float],[string]›))", "len(groupBy(‹@(scalar)›, ‹:int› ?? 0))",
		"len(combinations(‹[int]›, ‹[float]›)[0])", "len(‹@*›)", "len(keys(groupBy(‹@int›, # ?? 1)))",
		"(if ‹bool› { ‹int› } else if ‹bool› { 3 } else { ‹int› })",
		"len(filter(‹@*›, ‹:bool›))", "len(sortBy(‹@{}›, ‹:int› ?? 0))", "reduce(‹@{}›, #acc + (‹:int› ?? 1), 0)",
		"len(split(‹string›, ‹string›))", "(‹=[int]›sum($[reverse(argsort($))]))", "(‹@int› | filter(# > 0) | len())",
	},
	"float": {
		"(‹float› ‹+,-,*,/› ‹int,float›)", "(‹int,float› ‹+,-,*,/› ‹float›)", "(‹int,float› ‹+,-,*,/› ‹float›)",
		"(‹int,float› ‹/,**,^› ‹int,float›)", "(-‹float›)", "(+‹float›)", "‹sum,min,max,mean,median›(‹[float]›)",
		"‹mean,median›(‹[int]›)",
		"(‹int› ?? ‹float›)", "(‹float› ?? ‹int›)", "(‹bool› ? ‹int› : ‹float›)",
		"‹abs,sign,floor,ceil,round,trunc,sqrt,cbrt,exp,exp2,expm1,log,log2,log10,log1p›(‹float›)",
		"‹sin,cos,tan,asin,acos,atan,sinh,cosh,tanh,asinh,acosh,atanh,erf,erfc,gamma,lgamma›(‹float›)",
		"‹sign,floor,sqrt›(‹int›)", "‹fmod,fmin,fmax,hypot,pow,atan2,deltaPhi,px,py,pz,pt,phi›(‹int,float›, ‹int,float›)",
		"‹energy,eta›(‹float›, ‹int,float›, ‹float›)", "‹deltaR,deltaR2,restMass›(‹float›, ‹float›, ‹int,float›, ‹float›)",
		"mass(‹float›, ‹float›, ‹float›, ‹int,float›, ‹float›, ‹float›, ‹float›, ‹float›)",
		"(‹=[float]›mass($, $ * ‹float›, $, map(‹@$›, ‹:float›)))", "sum(‹@*›, ‹:float›)", "sum(‹@{}›, ‹:float›)",
		"‹min,max›(‹float›, ‹int,float›)", "‹min,max›(‹[float]›, ‹[[int]]›, ‹int›)", "float(string(‹float›))", "float(‹int›)",
		"(‹=[float]›let c = combinations($); ‹sum,max›($[c[0]] ‹+,*› $[c[1]]))",
		"reduce(‹@{}›, #acc * (‹:float› ?? 0.5), 1.0)", "sum(map(‹@*›, ‹:float›))", "(‹[float]› | map(# / 2) | ‹sum,max›())",
		"[‹int›, ‹float›][‹0,1,-1›]", "mean(flatten(‹[[float]]›))",
		"sort(‹[float]›)[‹0,-1›]", "sortBy(‹@float›, ‹:float› ?? 1, \"desc\")[0]",
	},
	"string": {
		"(‹string› + ‹string›)", "‹upper,lower,trim›(‹string›)", "string(‹int,bool›)", "string(‹float›)",
		"‹string›[‹int›:‹int›]", "‹string›[‹1,-1›:]", "‹trim,trimPrefix,trimSuffix›(‹string›, ‹string›)",
		"‹trimPrefix,trimSuffix›(‹string›)",
		"replace(‹string›, ‹string›, ‹string›)", "replace(‹string›, ‹string›, ‹string›, ‹0,1,-1›)",
		"repeat(‹string›, ‹0,1,3›)", "join(‹[string]›)", "join(‹[string]›, ‹string›)",
		"reduce(‹@string›, #acc + (# ?? \"\"), \"\")", "sort(‹[string]›)[0]",
		"split(‹string›, ‹string›)[‹0,-1›]", "(max(‹int›, 1) == 1 ? ‹string› : ‹string›)",
	},
	"[bool]": {
		"(‹[int],[float]› ‹<,>,==,!=› ‹int,float›)", "(‹=[int],[float]›$ ‹<=,>=,!=› map(‹@$›, ‹:int,float›))",
		"(‹=[bool]›$ ‹and,or› map(‹@$›, ‹:bool›))", "(‹bool› ‹and,or› ‹[bool]›)",
		"(‹[bool]› ‹and,or› ‹bool›)", "(not ‹[bool]›)",
		"(‹[string]› ‹!=,==,<,contains,startsWith› ‹string›)", "isnan(‹[float]›)", "(‹[int]› in ‹[int]›)",
		"(‹[float]› in ‹int›..‹int›)", `(‹[string]› matches "a")`,
	},
	"[int]": {
		"(‹[int]› ‹+,-,*,%› ‹int›)", "(‹int› ‹+,-,*,%› ‹[int]›)", "(‹=[int]›$ ‹+,-,*,%› map(‹@$›, ‹:int›))", "(-‹[int]›)",
		"argsort(‹[float],[int]›)", "abs(‹[int]›)", "int(‹[float]›)", "combinations(‹[float]›)[‹0,1›]",
		"combinations(‹[float]›, ‹[int]›)[‹0,1›]",
		`sort(‹[int]›)`, `sort(‹[int]›, ‹"asc","desc"›)`, "uniq(‹[int]›)", "keys(groupBy(‹@int›, # ?? 0))",
		"‹bitand,bitxor›(‹[int]›, ‹int›)", "(‹-1,int›..‹3,2›)", "flatten(‹[[int]]›)", "map(‹[[float]]›, len(#))",
		"map(groupBy(‹@(scalar)›, #), len(.value))",
		"sortBy(‹@int›, ‹:float› ?? 0.0, ‹\"asc\",\"desc\"›)",
	},
	"[float]": {
		"(‹[float]› ‹+,-,*,/› ‹int,float›)", "(‹int,float› ‹+,-,*,/› ‹[float]›)",
		"(‹=[float],[int]›$ ‹/,**› map(‹@$›, ‹:int,float›))", "(‹=[float]›$ ‹+,-,*› $)", "(-‹[float]›)",
		"‹sqrt,abs,sin,floor,exp›(‹[float]›)", "‹hypot,deltaPhi,fmax›(‹[float]›, ‹int,float›)",
		"(‹=[float]›deltaR($, ‹float›, $, map(‹@$›, ‹:float›)))", `sort(‹[float]›)`, `sort(‹[float]›, ‹"asc","desc"›)`,
		"uniq(‹[float]›)", "flatten(‹[[float]]›)", "flatten([‹[float]›, ‹[float]›])", "map(‹[[float]]›, ‹sum,max,mean›(#))",
		"concat(‹[int]›, ‹[float]›)", "(‹bool› ? ‹[int]› : ‹[float]›)", "[‹int›, ‹float›]",
		"map(‹@{}›, ‹:float›)", "float(‹[int]›)",
		"(‹=[float]›let c = combinations($); mass($[c[0]], 1, $[c[0]], 0, $[c[1]], $[c[1]], 2, 0))",
		"groupBy(‹@float›, # > 0)[‹bool›]", "values(groupBy(‹@float›, ‹:int› ?? 1))[0]",
		"reverse(‹[float]›)[argsort(‹[float]›)]",
	},
	"[string]": {"(‹[string]› + ‹string›)", "split(‹string›, ‹string›)", "split(‹string›, ‹string›, ‹1,2,-1›)",
		"splitAfter(‹string›, ‹string›)", "sort(‹[string]›)", `sort(‹[string]›, "desc")`, "uniq(‹[string]›)",
		"map(‹@*›, string(‹:int›))"},
	"[[float]]": {"(‹[[float]]› ‹+,*› ‹float›)", "(‹[[float]]› * map(‹[[float]]›, ‹float›))", "abs(‹[[float]]›)",
		"map(‹@*›, ‹:[float]›)", "values(groupBy(‹@float›, ‹:bool› ?? true))", "(‹[[float]]› / 2)"},
	"[[int]]": {"(‹[[int]]› ‹+,*,%› ‹int›)", "combinations(‹[int]›)", "map(‹@*›, ‹:[int]›)",
		"values(groupBy(‹@int›, ‹:int› ?? 0))"},
}

// risky are rules for errors of an entry.
var risky = map[string][]string{
	"bool": {"any(‹[int]› + ‹[int]›, # > 0)", "(‹bool› and any(‹[float]› > ‹[float]›, #))",
		"(‹bool› or int(‹string›) > 0)", "any(‹@*›, int(‹:string›) > 0)", "(‹string› matches ‹string›)",
		"(int(‹string›) in ‹[int]›)", "(‹string› matches (‹string› + \"[\"))"},
	"int": {"int(‹string›)", "(‹int› ?? int(‹string›))", "(‹bool› ? int(‹string›) : ‹int›)", "len(‹int›..‹int›)",
		"sum(‹[int]›[argsort(‹[int]›)])", "‹bitshl,bitshr,bitushr›(‹int›, ‹int›)", "(let z = int(‹string›); ‹int›)",
		"len(repeat(‹string›, ‹-1,2›))"},
	"float": {"float(‹string›)", "sum(‹[float]› * ‹[float]›)", "mass(‹[float]›, ‹[float]›, ‹[float]›, ‹[float]›)",
		"(‹float› ?? sum(‹[float]› - ‹[float]›))", "(‹bool› ? sum(‹[float]›[‹[bool]›]) : ‹float›)"},
	"string": {"(‹string› ?? string(int(‹string›)))"},
	"[float]": {"‹[float]›[argsort(‹[float]›)]", "‹[float]›[‹[bool]›]",
		"(let c = combinations(‹[float]›); ‹[float]›[c[1]])", "(‹[float]› + ‹[float]›)",
		"deltaR(‹[float]›, ‹[float]›, 1, ‹[float]›)", "map(‹@*›, float(‹:string›))"},
	"[int]":  {"(‹int›..‹int›)", "‹[int]›[argsort(‹[float]›)[‹0,1›:]]", "map(‹@*›, len(‹:[float]› + ‹:[float]›))"},
	"[bool]": {"(‹[bool]› and ‹[bool]›)", "(‹[float]› > ‹[float]› or ‹[bool]›)"},
}

// conditions are what physicists write.
var conditions = []string{
	"‹[float]›[0] > 20 and abs(‹[float]›[0]) < 2.4", "count(‹@float›, # > 0 and abs(#) < 2.5) >= 2",
	"any(‹@{}›, ‹:bool›) and ‹bool›", "len(‹[float]›) >= 2 && ‹[float]›[0] + ‹[float]›[1] > 1",
	"sum(‹@float›, # > 1 ? # : 0) > 2 or ‹bool›", "(‹=[float]›sum($[$ > 1]) / 2 > 1)",
	"(‹=[float]›any(combinations($)[0], $[#] > 1))", "max(‹[float]›) > 2 and min(‹[float]›) < 1",
	"‹bool› and ‹bool› and ‹bool›", "not (‹bool› or ‹bool›)",
	"deltaR(‹float›, ‹float›, ‹float›, ‹float›) > 0.4", "(‹=[float]›mass($, $, $, $) > 3)",
	"count(‹@{}›, ‹:float› > 1 and ‹:int› != 0) == ‹0,1,2›", "‹int› in [1, 2, 3] and ‹float› in 0..3",
	"‹string› in ‹[string]› or ‹string› == \"a\"",
	"(‹=[float]›let lead = $[argsort($)]; lead[-1] > 2 * lead[0])", "any(‹@*›, any(‹@*›, ‹:bool›))",
	"filter(‹@{}›, ‹:float› > 0)[0] != nil", "(‹[float]›[0] ?? -1) > 0", "‹float› > 1 ? ‹bool› : ‹bool›",
	"‹int› % 2 == 0 and ‹float› == ‹float›",
}
