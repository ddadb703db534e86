//go:build cgo

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/go-rntuple/go-rntuple/bridge/rntarrow"
	"github.com/go-rntuple/go-rntuple/remote"
	_ "github.com/go-rntuple/go-rntuple/remote/https"
	_ "github.com/go-rntuple/go-rntuple/remote/xrootd"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
	"github.com/go-rntuple/go-rntuple/schema"
)

// parse decodes options, and refuses unknown ones.
func parse(text string, to any) error {
	if text == "" {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return argumentf("options: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); err != io.EOF {
		return argumentf("options: there is something behind the object")
	}
	return nil
}

// texts is a string or an array of strings in JSON.
type texts []string

func (t *texts) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(b, []byte(`"`)) {
		*t = texts{""}
		return json.Unmarshal(b, &(*t)[0])
	}
	return json.Unmarshal(b, (*[]string)(t))
}

type openOptions struct {
	Name          string `json:"name"`
	Threads       int    `json:"threads"`
	Memory        int64  `json:"memory"`
	SkipChecksums bool   `json:"skip_checksums"`
	Anonymous     bool   `json:"anonymous"`
}

func (o openOptions) remote() *remote.Options { return &remote.Options{Anonymous: o.Anonymous} }

// read returns options for reading. Files are not mapped: a handler that the host installs for SIGBUS would see
// it if one is truncated.
func (o openOptions) read(ctx context.Context) (*rntuple.ReadOptions, error) {
	if o.Threads < 0 || o.Memory < 0 {
		return nil, argumentf("options: threads and memory must not be negative")
	}
	return &rntuple.ReadOptions{Context: ctx, Workers: o.Threads, ReadAhead: o.Memory, SkipChecksums: o.SkipChecksums,
		NoMap: true, Remote: *o.remote()}, nil
}

// files returns the paths that patterns name. A path of a file is no pattern.
func files(patterns []string) ([]string, error) {
	var all []string
	for _, p := range patterns {
		if p == "" {
			return nil, argumentf("a path is empty")
		}
		if remote.IsURL(p) || !strings.ContainsAny(p, "*?[") {
			all = append(all, p)
			continue
		}
		if _, err := os.Lstat(p); err == nil {
			all = append(all, p)
			continue
		}
		found, err := filepath.Glob(p)
		if err != nil {
			return nil, argumentf("pattern %q: %v", p, err)
		}
		if len(found) == 0 {
			return nil, &fs.PathError{Op: "open", Path: p, Err: fs.ErrNotExist}
		}
		all = append(all, found...)
	}
	if len(all) == 0 {
		return nil, argumentf("no file is named")
	}
	return all, nil
}

// A dataset is an RNTuple, or several. It is closed when it is released for the last time.
type dataset struct {
	reader *rntuple.Reader // the only one, or nil
	chain  *rntuple.Chain  // or nil
	first  *rntuple.Reader // has the schema

	path string // of the first file

	mu   sync.Mutex
	refs int
}

// named returns an error of reading with the path of the file that it is about.
func (d *dataset) named(err error) error {
	var in *rntuple.InputError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &in):
		return err
	}
	switch codeOf(err) {
	case codeNoField, codeArgument, codeExpression, codeCanceled, codeClosed, codeInternal:
		return err
	}
	return fmt.Errorf("%s: %w", remote.Redact(d.path), err)
}

func open(ctx context.Context, patterns []string, o openOptions) (*dataset, error) {
	paths, err := files(patterns)
	if err != nil {
		return nil, err
	}
	// The context is the dataset's, which outlives the call: the other files are opened when they are read.
	c := newCanceler()
	defer context.AfterFunc(ctx, func() { c.cancel(context.Cause(ctx)) })()
	read, err := o.read(c.ctx)
	if err != nil {
		return nil, err
	}
	d := &dataset{path: paths[0], refs: 1}
	if d.first, err = rntuple.Open(paths[0], o.Name, read); err != nil {
		return nil, err
	}
	if len(paths) == 1 {
		d.reader = d.first
		return d, nil
	}
	if d.chain, err = rntuple.OpenChain(o.Name, paths, read); err != nil {
		d.first.Close()
		return nil, err
	}
	return d, nil
}

func (d *dataset) retain() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refs == 0 {
		return false
	}
	d.refs++
	return true
}

func (d *dataset) release() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refs--; d.refs > 0 {
		return nil
	}
	err := d.first.Close()
	if d.chain != nil {
		err = errors.Join(err, d.chain.Close())
	}
	return err
}

// source returns what to read from, within a context.
func (d *dataset) source(ctx context.Context) rntuple.Source {
	if d.chain != nil {
		return d.chain.WithContext(ctx)
	}
	return d.reader.WithContext(ctx)
}

// A table has the datasets that are open, by their handles, which are never used again.
type table struct {
	mu   sync.Mutex
	last int64
	all  map[int64]*dataset
}

var datasets = table{all: map[int64]*dataset{}}

func (t *table) add(d *dataset) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last++
	t.all[t.last] = d
	return t.last
}

// get returns a dataset, which the caller must release.
func (t *table) get(handle int64) (*dataset, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	d := t.all[handle]
	if d == nil || !d.retain() {
		return nil, errClosed
	}
	return d, nil
}

func (t *table) remove(handle int64) (*dataset, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	d := t.all[handle]
	if d == nil {
		return nil, errClosed
	}
	delete(t.all, handle)
	return d, nil
}

// listed is an RNTuple in a file.
type listed struct {
	Path   string `json:"path"`
	Class  string `json:"class"`
	Newest bool   `json:"newest"`
}

func list(ctx context.Context, path string, o openOptions) ([]listed, error) {
	infos, err := rntuple.ListFile(ctx, path, o.remote())
	if err != nil {
		return nil, err
	}
	all := []listed{}
	for _, i := range infos {
		all = append(all, listed{i.Path, i.Class, i.Newest})
	}
	return all, nil
}

// described is what rntuple_describe tells.
type described struct {
	Name        string           `json:"name"`
	Description string           `json:"description"`
	Entries     int64            `json:"entries"`
	Clusters    [][2]int64       `json:"clusters"`
	Fields      []describedField `json:"fields"`
	Hidden      []hidden         `json:"hidden"`
}

// A hidden is a field that cannot be read.
type hidden struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

type describedField struct {
	Name        string           `json:"name"`
	Type        string           `json:"type"`
	Description string           `json:"description,omitempty"`
	Fields      []describedField `json:"fields,omitempty"`
}

func (d *dataset) describe(ctx context.Context) (*described, error) {
	s := d.first.Schema()
	all := &described{Name: d.first.Name(), Description: d.first.Header().Description, Clusters: [][2]int64{},
		Fields: describeFields(s.Fields), Hidden: []hidden{}}
	for _, h := range s.Hidden {
		all.Hidden = append(all.Hidden, hidden{h.Field.Name, h.Err.Error()})
	}
	clusters, err := d.clusters(ctx)
	for _, c := range clusters {
		all.Clusters = append(all.Clusters, [2]int64{c.First, c.End})
		all.Entries = c.End
	}
	return all, d.named(err)
}

// count returns the number of entries, for which several files are opened.
func (d *dataset) count(ctx context.Context) (int64, error) {
	if d.chain != nil {
		return d.chain.WithContext(ctx).NumEntries()
	}
	return d.reader.NumEntries(), nil
}

// clusters returns the clusters, or of several files the entries of each.
func (d *dataset) clusters(ctx context.Context) ([]rntuple.EntryRange, error) {
	if d.chain != nil {
		return d.chain.WithContext(ctx).Entries()
	}
	return d.reader.WithContext(ctx).Clusters()
}

func describeFields(fields []*schema.Field) []describedField {
	all := []describedField{}
	for _, f := range fields {
		all = append(all, describedField{f.Name, f.CppType(), f.Description, describeFields(f.Children)})
	}
	return all
}

// A query is the options of rntuple_stream.
type query struct {
	Fields       []string `json:"fields"`
	Where        texts    `json:"where"`
	Define       []string `json:"define"`
	Compute      []string `json:"compute"`
	EntryNumbers string   `json:"entry_numbers"`
	EntryStart   int64    `json:"entry_start"`
	EntryStop    *int64   `json:"entry_stop"`
	Offset       int64    `json:"offset"`
	Limit        *int64   `json:"limit"`
	BatchSize    int      `json:"batch_size"`
	ZoneMaps     *bool    `json:"zone_maps"`
	Collections  bool     `json:"collections"`
	Lists        int      `json:"lists"`
	Binary       bool     `json:"binary"`
	Structs      bool     `json:"structs"`
	Pairs        bool     `json:"pairs"`
}

// arrow returns the options for converting.
func (q query) arrow(s *schema.Schema) (*rntarrow.Options, error) {
	if q.Lists != 0 && q.Lists != 32 && q.Lists != 64 {
		return nil, argumentf("lists: %d is neither 32 nor 64", q.Lists)
	}
	if q.BatchSize < 0 {
		return nil, argumentf("batch_size: %d is negative", q.BatchSize)
	}
	fields, err := choose(s, q.Fields, q.Collections)
	if err != nil {
		return nil, err
	}
	if len(fields) == 0 && q.Fields != nil && len(q.Compute) == 0 && q.EntryNumbers == "" {
		return nil, argumentf("fields: no field is named")
	}
	computed, err := q.computed()
	if err != nil {
		return nil, err
	}
	return &rntarrow.Options{Fields: fields, Compute: computed, EntryNumbers: q.EntryNumbers, BatchSize: cmp.Or(q.BatchSize, 1<<16), Lists32: q.Lists == 32, Binary: q.Binary,
		Structs: q.Structs, Pairs: q.Pairs}, nil
}

func (d *dataset) schema(q query) (*arrow.Schema, error) {
	o, err := q.arrow(d.first.Schema())
	if err != nil {
		return nil, err
	}
	schema, err := rntarrow.SchemaOf(d.source(context.Background()), o)
	return schema, d.named(err)
}

// defined returns the names for expressions.
func (q query) defined() ([]expression.Definition, error) {
	fields, err := definitions(q.Define)
	if err != nil {
		return nil, err
	}
	for _, f := range fields {
		if f.Type != "" {
			return nil, argumentf("define: %s cannot have a type here", f.Name)
		}
	}
	return fields.Definitions(), nil
}

// computed returns the columns that are computed, or nil.
func (q query) computed() (rntarrow.Columns, error) {
	if len(q.Compute) == 0 {
		return nil, nil
	}
	defined, err := q.defined()
	if err != nil {
		return nil, err
	}
	fields, err := definitions(q.Compute)
	if err != nil {
		return nil, err
	}
	for i := range fields {
		fields[i].Value = fields[i].Value.With(defined...)
	}
	return fields, nil
}

// condition returns the condition of the query, or nil.
func (q query) condition() (rntuple.Condition, error) {
	var all []*expression.Expression
	for _, text := range q.Where {
		e, err := expression.Parse(text)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	defined, err := q.defined()
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, nil
	}
	zones := &rntuple.ZoneUse{Off: q.ZoneMaps != nil && !*q.ZoneMaps}
	return expression.And(all...).With(defined...).ConditionUsing(zones), nil
}

// definitions parses NAME=EXPRESSION.
func definitions(texts []string) (expression.Fields, error) {
	defined, err := expression.ParseFields(texts...)
	if err != nil && !errors.As(err, new(*expression.Error)) {
		err = &argumentError{err}
	}
	return defined, err
}

// span returns a range of first and the others up to end, or an error that names the options.
func span(from string, first int64, to string, end *int64) (rntuple.EntryRange, error) {
	r := rntuple.EntryRange{First: first, End: math.MaxInt64}
	if end != nil {
		r.End = *end
	}
	if first < 0 || r.End < 0 {
		return r, argumentf("%s and %s must not be negative", from, to)
	}
	return r, nil
}

// records returns a reader of what the query asks for, and how many entries there are, as far as that is known, or 0.
func (d *dataset) records(ctx context.Context, q query, p *progress) (array.RecordReader, int64, error) {
	o, err := q.arrow(d.first.Schema())
	if err != nil {
		return nil, 0, err
	}
	c, err := q.condition()
	if err != nil {
		return nil, 0, err
	}
	entries, err := span("entry_start", q.EntryStart, "entry_stop", q.EntryStop)
	if err != nil {
		return nil, 0, err
	}
	chosen, err := span("offset", q.Offset, "limit", q.Limit)
	if err != nil {
		return nil, 0, err
	}
	if q.Limit != nil {
		chosen.End = q.Offset + min(*q.Limit, math.MaxInt64-q.Offset)
	}
	s, total := d.source(ctx), int64(0)
	if d.reader != nil {
		total = d.reader.NumEntries()
	}
	if c == nil {
		// Offset and limit count what entry_start and entry_stop leave.
		entries.First += min(chosen.First, math.MaxInt64-entries.First)
		entries.End = min(entries.End, entries.First+min(chosen.End-chosen.First, math.MaxInt64-entries.First))
		entries.End = max(entries.End, entries.First)
		total = max(0, min(total, entries.End)-entries.First)
		r, err := rntarrow.NewRangeReader(s, entries, o)
		return r, total, d.named(err)
	}
	if entries.First > 0 || q.EntryStop != nil {
		n, err := d.count(ctx)
		if err != nil {
			return nil, 0, d.named(err)
		}
		entries.First = min(entries.First, n)
		entries.End = max(entries.First, min(entries.End, n))
		if s, err = rntuple.Select(s, entries); err != nil {
			return nil, 0, d.named(err)
		}
	}
	selection, err := rntuple.Where(s, c, &rntuple.FoldOptions{Progress: p.set})
	if err != nil {
		return nil, 0, d.named(err)
	}
	total = max(0, min(selection.NumEntries(), chosen.End)-chosen.First)
	r, err := rntarrow.NewRangeReader(selection, chosen, o)
	return r, total, d.named(err)
}

// choose returns the paths of the fields that match patterns, in the order of the patterns. nil stands for all
// fields, without untyped collections of which each member is the source of a projected field unless collections is
// set.
func choose(s *schema.Schema, patterns []string, collections bool) ([]string, error) {
	paths := []string{}
	if patterns == nil {
		for _, f := range s.Fields {
			if collections || !isProjected(f, s) {
				paths = append(paths, f.Name)
			}
		}
		return paths, nil
	}
	for _, p := range patterns {
		if p == "" {
			return nil, argumentf("fields: a name is empty")
		}
		if _, err := s.Lookup(p); err == nil {
			paths = append(paths, p)
			continue
		}
		before := len(paths)
		if err := match(p, s.Fields, &paths); err != nil {
			return nil, err
		}
		if len(paths) == before {
			_, err := s.Lookup(p)
			return nil, err
		}
	}
	return unique(paths), nil
}

// isProjected reports whether a field is an untyped collection, as those that stand for the arrays of a TTree, whose
// members all have projected fields at the top of the schema.
func isProjected(f *schema.Field, s *schema.Schema) bool {
	if f.Shape != schema.Collection || f.TypeName != "" || f.Source != nil || f.Children[0].Shape != schema.Record {
		return false
	}
	return !slices.ContainsFunc(f.Children[0].Children, func(member *schema.Field) bool {
		return !slices.ContainsFunc(s.Fields, func(p *schema.Field) bool {
			return p.Source == f && len(p.Children) == 1 && p.Children[0].Source == member
		})
	})
}

// match appends the paths of the fields that match a pattern, without those below them.
func match(pattern string, fields []*schema.Field, paths *[]string) error {
	for _, f := range fields {
		ok, err := schema.Match(pattern, f)
		if err != nil {
			return argumentf("fields: %q is no pattern", pattern)
		}
		if ok {
			*paths = append(*paths, f.Path())
		} else if err := match(pattern, f.Children, paths); err != nil {
			return err
		}
	}
	return nil
}

// unique returns names without repetitions, in the order of the first ones.
func unique(names []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(names, func(n string) bool {
		again := seen[n]
		seen[n] = true
		return again
	})
}
