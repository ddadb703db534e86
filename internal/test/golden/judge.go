package golden

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// Append appends the value v of field f to dst, in the form for comparison.
func Append(dst []byte, f *schema.Field, v any) []byte {
	if v == nil {
		return append(dst, "null"...)
	}
	for f.Shape == schema.Wrapper || f.Shape == schema.Optional {
		f = f.Children[0]
	}
	switch v := v.(type) {
	case value.Alternative:
		return Append(dst, f.Children[v.Index], v.Value)
	case value.Some:
		return Append(dst, f, v.Value)
	case float32:
		return fmt.Appendf(dst, `"0x%08x"`, math.Float32bits(v))
	case float64:
		return fmt.Appendf(dst, `"0x%016x"`, math.Float64bits(v))
	case []any:
		items := make([][]byte, len(v))
		for i, e := range v {
			child := f.Children[0]
			if f.IsTuple() {
				child = f.Children[i]
			}
			items[i] = Append(nil, child, e)
		}
		return appendItems(dst, f, items)
	case value.Map:
		pair := f.Children[0].Children
		items := make([][]byte, len(v.Elements))
		object := v.StringKeys && !f.Kind().IsUnordered()
		keys := map[any]bool{}
		for _, kv := range v.Elements {
			object = object && !keys[kv.Key]
			if v.StringKeys {
				keys[kv.Key] = true
			}
		}
		for i, kv := range v.Elements {
			key, val := Append(nil, pair[0], kv.Key), Append(nil, pair[1], kv.Value)
			if object {
				items[i] = fmt.Appendf(nil, "%s:%s", key, val)
			} else {
				items[i] = fmt.Appendf(nil, "[%s,%s]", key, val)
			}
		}
		if object {
			return append(append(append(dst, '{'), bytes.Join(items, []byte(","))...), '}')
		}
		return appendItems(dst, f, items)
	case value.Record:
		dst = append(dst, '{')
		for i, name := range v.Names {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(value.AppendJSON(dst, name), ':')
			dst = Append(dst, f.Children[i], v.Values[i])
		}
		return append(dst, '}')
	}
	return value.AppendJSON(dst, v)
}

func appendItems(dst []byte, f *schema.Field, items [][]byte) []byte {
	if f.Kind().IsUnordered() {
		slices.SortFunc(items, bytes.Compare)
	}
	return append(append(append(dst, '['), bytes.Join(items, []byte(","))...), ']')
}

// Entries calls each for every entry of r, in the form for comparison, without the
// objects of ROOT's streamers, which only ROOT can print.
func Entries(r *rntuple.Reader, each func(entry int64, line []byte) error) error {
	return Fields(r, r.Schema().Fields, each)
}

// Fields is like Entries for the top-level fields of r that have the names of the
// given fields, in the order of these.
func Fields(r *rntuple.Reader, fields []*schema.Field, each func(entry int64, line []byte) error) error {
	entry := &schema.Field{Shape: schema.Record}
	var names []string
	for _, f := range fields {
		chain, err := r.Schema().Lookup(f.Name)
		if err != nil {
			return err
		}
		if !streamed(chain[0]) {
			entry.Children, names = append(entry.Children, chain[0]), append(names, f.Name)
		}
	}
	v, err := rntuple.RecordsOf(r, names...)
	if err != nil {
		return err
	}
	var line []byte
	for i, record := range v.All() {
		line = Append(line[:0], entry, record)
		if err := each(i, line); err != nil {
			return err
		}
	}
	return v.Err()
}

func streamed(f *schema.Field) bool {
	return f.Shape == schema.Streamer || slices.ContainsFunc(f.Children, streamed)
}

// Compare compares all entries of r with the JSON Lines in a file, which may be
// compressed with gzip. The error names the first entry that differs, and its
// fields that do.
func Compare(r *rntuple.Reader, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			return err
		}
	}
	if len(r.Schema().Hidden) > 0 {
		return fmt.Errorf("hidden field %q: %w", r.Schema().Hidden[0].Field.Name, r.Schema().Hidden[0].Err)
	}
	want := bufio.NewReaderSize(in, 1<<20)
	err = Entries(r, func(i int64, got []byte) error {
		line, err := want.ReadBytes('\n')
		if err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)) {
			return fmt.Errorf("entry %d is not expected: %w", i, err)
		}
		if line = bytes.TrimSuffix(line, []byte("\n")); !bytes.Equal(line, got) {
			return fmt.Errorf("entry %d: %w", i, difference(line, got))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if rest, _ := want.ReadBytes('\n'); len(rest) > 0 {
		return fmt.Errorf("only %d entries, more are expected", r.NumEntries())
	}
	return nil
}

// difference returns an error that names the members in which two objects differ.
func difference(want, got []byte) error {
	var w, g map[string]json.RawMessage
	if err := json.Unmarshal(want, &w); err != nil {
		return fmt.Errorf("expected values: %w", err)
	}
	if err := json.Unmarshal(got, &g); err != nil {
		return fmt.Errorf("values read: %w", err)
	}
	var diffs []string
	for name, value := range w {
		if !bytes.Equal(value, g[name]) {
			diffs = append(diffs, fmt.Sprintf("%s\n\twant %.300s\n\thave %.300s", name, value, g[name]))
		}
	}
	for name := range g {
		if _, ok := w[name]; !ok {
			diffs = append(diffs, name+" is not expected")
		}
	}
	slices.Sort(diffs)
	if len(diffs) == 0 {
		return errors.New("the order of the fields differs")
	}
	return fmt.Errorf("%d fields differ:\n%s", len(diffs), strings.Join(diffs[:min(len(diffs), 10)], "\n"))
}
