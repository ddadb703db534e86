package surgery

import (
	"context"
	"errors"
	"slices"

	"github.com/go-rntuple/go-rntuple/internal/location"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
)

// Merge makes a ROOT file at out with one RNTuple, which has the entries of the inputs
// one after the other. A file that was there is replaced when everything has
// succeeded; it must not be one of the inputs. Other RNTuples and objects in the files
// of the inputs are left behind, which the report says; see MergeAll.
//
// The schema is that of the first input: fields and columns with their encodings,
// projected fields, and what was added to it later as what was added later. In the mode
// Union, fields that only another input has are added behind that. Fields go together
// by name. They must be of the same type, version and structure, and their columns of
// the same type, except that one may be split and the other not; see o.ConvertTypes for
// more. Names of types are compared in their normal form. Column representations that
// the first input does not have are unified into its first one, if that can hold all
// values. Files that ROOT wrote before format 1.0.0.0 can be inputs as well.
//
// The error is an *IncompatibleError if inputs do not go together; nothing is written
// then. Other errors name the input, and wrap those of package rntuple.
//
// Source: ROOT's document "RNTuple merging process" and class RNTupleMerger. What goes
// beyond that: attribute sets, several representations, the levels Recompress and
// Rewrite, clusters and cluster groups of other sizes.
func Merge(ctx context.Context, out string, inputs []Input, o *MergeOptions) (*Report, error) {
	return o.config().create(ctx, out, &job{inputs: inputs})
}

// Merged is an RNTuple that MergeAll has made.
type Merged struct {
	Name   string // with directories
	Report *Report
}

// MergeAll makes a ROOT file at out with all RNTuples of the given files, as Merge does
// with one. Those of the same name, with directories, become one, also if not all files
// have one of that name. They are in the order in which the files list them. Only the
// newest cycles are taken. Other objects are left behind, which the reports say.
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
	if len(merged) > 0 {
		merged[0].Report.Without = without
	}
	return merged, nil
}

// MergeInto adds the entries of the inputs to those of the RNTuple into, as Merge does
// with into as the first input, but in its file: what the RNTuple has stays where it is
// and is not read. Readers see the new entries once all are there. The RNTuple gets a
// higher cycle, and the earlier one stays readable under its own. Compression concerns
// the entries that are added, as do the other options.
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
