package foreign

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/schema"
)

// A guess is what is known of the type of a field from the values that were seen.
type guess struct {
	seen    map[kind]sighting
	values  int64
	least   int64  // of the integers
	largest uint64 // of those that are not negative
	wide    bool   // an integer that a double does not hold exactly
	items   *guess
	names   []string // of the members, in the order in which they were seen
	members map[string]*guess
}

// A sighting says where a kind of value was seen first, and how often.
type sighting struct{ line, count int64 }

// kind is what a value is.
type kind string

const (
	missing kind = "null"
	boolean kind = "a bool"
	integer kind = "an integer"
	number  kind = "a number"
	special kind = "a NaN or an infinity"
	text    kind = "a string"
	list    kind = "an array"
	object  kind = "an object"
)

func (g *guess) add(k kind, line int64) {
	if g.seen == nil {
		g.seen = map[kind]sighting{}
	}
	s, ok := g.seen[k]
	if !ok {
		s.line = line
	}
	s.count++
	g.seen[k] = s
	g.values++
}

// addInteger adds an integer in decimal digits.
func (g *guess) addInteger(digits string, line int64) {
	i, ok := new(big.Int).SetString(digits, 10)
	switch {
	case !ok:
		g.add(text, line)
		return
	case i.IsInt64():
		g.least = min(g.least, i.Int64())
		g.largest = max(g.largest, uint64(max(0, i.Int64())))
	case i.IsUint64():
		g.largest = max(g.largest, i.Uint64())
	default:
		g.add(number, line)
		g.wide = true
		return
	}
	const exact = 1 << 53
	if i.CmpAbs(big.NewInt(exact)) > 0 {
		g.wide = true
	}
	g.add(integer, line)
}

// isSpecial reports whether a string is what value.AppendJSON prints for a float that is no
// number.
func isSpecial(s string) bool { return s == "NaN" || s == "Infinity" || s == "-Infinity" }

// maxDepth is how deep values may be nested.
const maxDepth = 500

// addJSON adds the value that begins with the next token.
func (g *guess) addJSON(d *json.Decoder, line int64, depth int) error {
	if depth == 0 {
		return fmt.Errorf("values are nested more than %d levels deep", maxDepth)
	}
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch v := token.(type) {
	case nil:
		g.add(missing, line)
	case bool:
		g.add(boolean, line)
	case string:
		if isSpecial(v) {
			g.add(special, line)
		} else {
			g.add(text, line)
		}
	case json.Number:
		if strings.ContainsAny(string(v), ".eE") || v == "-0" {
			g.add(number, line)
		} else {
			g.addInteger(string(v), line)
		}
	case json.Delim:
		if v == '[' {
			g.add(list, line)
			if g.items == nil {
				g.items = &guess{}
			}
			for d.More() {
				if err := g.items.addJSON(d, line, depth-1); err != nil {
					return err
				}
			}
		} else {
			g.add(object, line)
			if err := g.addMembers(d, line, depth); err != nil {
				return err
			}
		}
		_, err := d.Token() // the closing bracket
		return err
	}
	return nil
}

func (g *guess) addMembers(d *json.Decoder, line int64, depth int) error {
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		m := g.member(name.(string))
		if err := m.addJSON(d, line, depth-1); err != nil {
			return err
		}
	}
	return nil
}

// member returns the guess for a member.
func (g *guess) member(name string) *guess {
	if g.members == nil {
		g.members = map[string]*guess{}
	}
	m := g.members[name]
	if m == nil {
		m = &guess{}
		g.members[name] = m
		g.names = append(g.names, name)
	}
	return m
}

// field returns the field for what was seen; all is how many values there should have been.
// Only fields of named ones can be untyped.
func (g *guess) field(name, path string, all int64, named bool) (*schema.FieldDocument, error) {
	typ, err := g.typeName(path)
	if err != nil {
		return nil, err
	}
	optional := g.seen[missing].count > 0 || g.values < all
	d := &schema.FieldDocument{Name: name, Type: typ}
	if typ == "" && (optional || !named) {
		return nil, fmt.Errorf("field %q: no type for objects that can be missing; specify one with --schema", path)
	}
	switch {
	case optional:
		d.Type = "std::optional<" + typ + ">"
	case typ == "" && g.items != nil:
		d.Role = "collection"
		item, err := g.items.field("_0", path+"[]", g.items.values, true)
		d.Fields = []*schema.FieldDocument{item}
		return d, err
	case typ == "":
		d.Role = "record"
		d.Fields, err = g.fields(path + ".")
	}
	return d, err
}

// fields returns the fields for the members.
func (g *guess) fields(prefix string) (fields []*schema.FieldDocument, err error) {
	var errs []error
	for _, name := range g.names {
		f, err := g.members[name].field(name, prefix+name, g.seen[object].count, true)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		fields = append(fields, f)
	}
	return fields, errors.Join(errs...)
}

// typeName returns the name of the type in C++, or "" for objects and lists of objects.
func (g *guess) typeName(path string) (string, error) {
	var kinds []kind
	for _, k := range []kind{boolean, integer, number, special, text, list, object} {
		if g.seen[k].count > 0 {
			kinds = append(kinds, k)
		}
	}
	switch {
	case len(kinds) == 0:
		return "", fmt.Errorf("field %q: no values to infer the type from; specify one with --schema", path)
	case !onlyOf(kinds, special) && onlyOf(kinds, integer, number, special):
		if onlyOf(kinds, integer) {
			switch {
			case g.largest <= math.MaxInt64:
				return "std::int64_t", nil
			case g.least >= 0:
				return "std::uint64_t", nil
			}
			return "", fmt.Errorf("field %q: no integer type holds both %d and %d", path, g.least, g.largest)
		}
		if g.wide {
			return "", fmt.Errorf(
				"field %q: no type holds both fractions and integers above 2^53 exactly; specify one with --schema", path)
		}
		return "double", nil
	case onlyOf(kinds, special, text):
		return "std::string", nil
	case len(kinds) > 1:
		return "", fmt.Errorf("field %q is %s in line %d and %s in line %d", path, kinds[0], g.seen[kinds[0]].line,
			kinds[1], g.seen[kinds[1]].line)
	case kinds[0] == boolean:
		return "bool", nil
	case kinds[0] == object:
		return "", nil
	}
	if g.items.values == 0 {
		return "", fmt.Errorf("field %q: all arrays are empty; specify its type with --schema", path)
	}
	item, err := g.items.typeName(path + "[]")
	if err != nil || item == "" {
		return "", err
	}
	if g.items.seen[missing].count > 0 {
		item = "std::optional<" + item + ">"
	}
	return "std::vector<" + item + ">", nil
}

func onlyOf(kinds []kind, allowed ...kind) bool {
	return !slices.ContainsFunc(kinds, func(k kind) bool { return !slices.Contains(allowed, k) })
}

// addLines adds the entries of a JSON Lines file.
func (g *guess) addLines(r io.Reader) error {
	d := json.NewDecoder(r)
	d.UseNumber()
	for line := int64(1); ; line++ {
		before := g.values
		err := g.addJSON(d, line, maxDepth)
		if errors.Is(err, io.EOF) {
			if g.values == before {
				return nil
			}
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
		if g.seen[object].count < g.values {
			return fmt.Errorf("line %d: want an object", line)
		}
	}
}
