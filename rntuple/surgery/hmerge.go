package surgery

import (
	"cmp"
	"context"
)

// HMerge creates a ROOT file at out with one RNTuple that has the fields of all inputs. The inputs
// must have the same number of entries; entries with the same number are combined. All inputs are
// open at the same time.
//
// Pages are copied where cluster boundaries coincide in all inputs. Where they coincide only after
// several clusters, with up to twice Write.ClusterSize in total, these are combined: pages are
// copied, except those of offsets. Otherwise clusters are rewritten.
//
// Late fields of an input, those added during writing, are late fields of the output, too.
// Attribute sets are kept. The default name is that of the first input.
//
// The error is an *IncompatibleError, which lists all problems, if names are not unique or numbers
// of entries differ.
func HMerge(ctx context.Context, out string, inputs []Input, o *HMergeOptions) (*Report, error) {
	o = cmp.Or(o, new(HMergeOptions))
	c := o.config()
	c.Name, c.prefixes = o.Name, o.Prefix
	return c.asStored().create(ctx, out, &job{inputs: inputs, sideBySide: true})
}
