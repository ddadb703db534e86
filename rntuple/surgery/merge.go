package surgery

import (
	"context"
	"errors"
	"slices"

	"github.com/go-rntuple/go-rntuple/internal/location"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
)

// Merge creates a ROOT file at out with one RNTuple that contains the entries of the inputs in
// order. An existing file is replaced on success; it must not be one of the inputs. Other RNTuples
// and objects in the files of the inputs are not copied, but listed in the report; see MergeAll.
//
// The schema is that of the first input: fields and columns with their encodings, projected fields,
// and its schema extension. In the mode Union, fields of other inputs are appended to it. Fields
// are matched by name. They must have the same type, version and structure, and their columns the
// same type, except for split encodings; see also o.ConvertTypes. Type names are compared in
// normalized form. Column representations that the first input lacks are converted to its first
// one, if that can represent all values. Files in formats before 1.0.0.0 are supported as inputs.
//
// The error is an *IncompatibleError if the inputs cannot be merged; nothing is written then. Other
// errors name the input, and wrap those of package rntuple.
//
// Source: ROOT's document "RNTuple merging process" and class RNTupleMerger. Extensions to it are
// attribute sets, several representations, the levels Recompress and Rewrite, and changing the size
// of clusters and cluster groups.
func Merge(ctx context.Context, out string, inputs []Input, o *MergeOptions) (*Report, error) {
	return o.config().create(ctx, out, &job{inputs: inputs})
}

// Merged describes an RNTuple written by MergeAll.
type Merged struct {
	Name   string // with directories
	Report *Report
}

// MergeAll creates a ROOT file at out with all RNTuples of the given files, each merged as by
// Merge. RNTuples with the same name, including directories, are merged, even if not all files
// contain one. They are written in the order in which the files list them. Only the newest cycles
// are merged. Other objects are not copied, but listed in the reports.
func MergeAll(ctx context.Context, out string, files []string, o *MergeOptions) ([]Merged, error) {
	c := o.whole("MergeAll")
	if c.invalid != nil {
		return nil, c.invalid
	}
	var jobs []*job
	var merged []Merged
	var without []string
	for _, path := range files {
		infos, err := ntuple.ListFile(ctx, location.Parse(path), c.read.Remote)
		if err != nil {
			return nil, err
		}
		if len(infos) == 0 {
			without = append(without, path)
		}
		for _, info := range infos {
			if !info.Newest {
				continue
			}
			i := slices.IndexFunc(merged, func(m Merged) bool { return m.Name == info.Path })
			if i < 0 {
				i = len(jobs)
				j := &job{config: *c}
				j.Name = info.Path
				jobs, merged = append(jobs, j), append(merged, Merged{Name: info.Path})
			}
			jobs[i].inputs = append(jobs[i].inputs, Input{path, info.Path})
		}
	}
	if len(jobs) == 0 && len(files) > 0 {
		return nil, errors.New("the inputs have no RNTuples")
	}
	reports, err := execute(ctx, out, ntuple.CreateFile, jobs...)
	if err != nil {
		return nil, err
	}
	for i, r := range reports {
		merged[i].Report = r
	}
	merged[0].Report.Without = without
	return merged, nil
}

// MergeInto appends the entries of the inputs to the RNTuple into, in its file, like Merge with
// into as the first input. Existing entries are neither moved nor read. Readers see the new entries
// when all are written. The RNTuple gets a higher cycle; the earlier one remains readable.
// Compression and the other options apply to the appended entries.
func MergeInto(ctx context.Context, into Input, inputs []Input, o *MergeOptions) (*Report, error) {
	return mergeInto(ctx, ntuple.UpdateFile, into, inputs, o)
}

// mergeInto is MergeInto in the file that open opens.
func mergeInto(ctx context.Context, open opener, into Input, inputs []Input, o *MergeOptions) (*Report, error) {
	if o != nil && o.Write.File.NoReplace {
		return nil, errors.New("surgery.MergeInto does not take the option Write.File.NoReplace")
	}
	j := &job{inputs: append([]Input{into}, inputs...), inPlace: true}
	return o.whole("MergeInto").run(ctx, into.Path, open, j)
}
