//go:build cgo

package main

import (
	"context"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
	"github.com/go-rntuple/go-rntuple/rntuple/verify"
)

// operations are what rntuple_run runs.
var operations = map[string]func(ctx context.Context, options string, p *progress) (any, error){
	"merge": func(ctx context.Context, options string, p *progress) (any, error) {
		var o mergeOptions
		if err := parse(options, &o); err != nil {
			return nil, err
		}
		inputs, common, mode, err := o.prepare(p)
		if err != nil {
			return nil, err
		}
		r, err := surgery.Merge(ctx, o.Output, inputs, &surgery.MergeOptions{Options: common, Name: o.NewName, Mode: mode})
		return reported(r, err)
	},
	"skim":   skim,
	"verify": check,
}

// merged is the result of merge and skim.
type merged struct {
	Inputs       int      `json:"inputs"`
	InputEntries int64    `json:"input_entries"`
	Entries      int64    `json:"entries"`
	Clusters     int64    `json:"clusters"`
	Dropped      []string `json:"dropped"`
	LeftBehind   []string `json:"left_behind"`
}

func reported(r *surgery.Report, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	m := merged{r.Inputs, r.InputEntries, r.Entries, r.Clusters, append(append([]string{}, r.Dropped...), r.Omitted...), []string{}}
	for _, o := range r.LeftBehind {
		m.LeftBehind = append(m.LeftBehind, o.String())
	}
	return m, nil
}

func run(ctx context.Context, operation, options string, p *progress) (any, error) {
	do := operations[operation]
	if do == nil {
		return nil, argumentf("there is no operation %q", operation)
	}
	return do(ctx, options, p)
}

// mergeOptions are the options of merge.
type mergeOptions struct {
	Inputs      texts  `json:"inputs"`
	Name        string `json:"name"`
	Output      string `json:"output"`
	NewName     string `json:"new_name"`
	Overwrite   bool   `json:"overwrite"`
	Compression string `json:"compression"`
	Mode        string `json:"mode"`
	Threads     int    `json:"threads"`
}

func (o mergeOptions) prepare(p *progress) (inputs []surgery.Input, common surgery.Options, mode surgery.Mode, err error) {
	paths, err := files(o.Inputs)
	if err != nil {
		return nil, common, 0, err
	}
	if o.Output == "" {
		return nil, common, 0, argumentf("output: no file is named")
	}
	if o.Mode != "" {
		if mode, err = surgery.ParseMode(o.Mode); err != nil {
			return nil, common, 0, &argumentError{err}
		}
	}
	for _, path := range paths {
		inputs = append(inputs, surgery.Input{Path: path, Name: o.Name})
	}
	common.Progress = p.set
	common.Read = rntuple.ReadOptions{NoMap: true, Workers: o.Threads}
	common.Write = rntuple.WriteOptions{File: rntuple.FileOptions{NoReplace: !o.Overwrite}, Workers: o.Threads}
	common.Write.Compression, err = compressionOf(o.Compression)
	return inputs, common, mode, err
}

// skimOptions are the options of skim.
type skimOptions struct {
	mergeOptions
	Fields []string `json:"fields"`
	Where  texts    `json:"where"`
	Define []string `json:"define"`
}

func skim(ctx context.Context, options string, p *progress) (any, error) {
	var o skimOptions
	if err := parse(options, &o); err != nil {
		return nil, err
	}
	inputs, common, mode, err := o.prepare(p)
	if err != nil {
		return nil, err
	}
	c, err := query{Where: o.Where}.condition()
	if err != nil {
		return nil, err
	}
	defined, err := definitions(o.Define)
	if err != nil {
		return nil, err
	}
	s := &surgery.SkimOptions{Options: common, Name: o.NewName, Keep: o.Fields, Mode: mode}
	if len(defined) > 0 {
		s.Define = []surgery.Definition{surgery.DefineColumns(defined)}
	}
	return reported(surgery.Skim(ctx, o.Output, inputs, c, s))
}

// A problem is what verify finds.
type problem struct {
	File     string `json:"file"`
	RNTuple  string `json:"rntuple,omitempty"`
	Check    string `json:"check"`
	Severity string `json:"severity"`
	Where    string `json:"where"`
	Text     string `json:"text"`
}

func check(ctx context.Context, options string, p *progress) (any, error) {
	var o struct {
		Inputs  texts `json:"inputs"`
		Threads int   `json:"threads"`
	}
	if err := parse(options, &o); err != nil {
		return nil, err
	}
	paths, err := files(o.Inputs)
	if err != nil {
		return nil, err
	}
	problems := []problem{}
	for _, path := range paths {
		_, err := verify.File(ctx, path, func(v verify.Problem) error {
			problems = append(problems, problem{v.File, v.RNTuple, string(v.Check), v.Kind(), v.Path(), v.Err.Error()})
			return nil
		}, &verify.Options{Workers: o.Threads, Progress: p.set})
		if err != nil {
			return nil, err
		}
	}
	return map[string]any{"problems": problems}, nil
}
