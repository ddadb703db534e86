package surgery

import (
	"cmp"
	"context"
)

// HMerge makes a ROOT file at out with one RNTuple, which has the fields of all inputs
// side by side. They must have the same number of entries: those of the same number
// become one. All inputs are open at the same time.
//
// Pages are copied where clusters end at the same entries in all inputs. Where they do
// so after a few clusters, up to twice the size that Write.ClusterSize says,
// these become one: pages are copied, except those of offsets. Otherwise clusters are
// rewritten.
//
// Fields that were added to an input while it was written are added later here, too.
// Attribute sets are kept. The name is that of the first input.
//
// The error is an *IncompatibleError if names clash or inputs have another number of
// entries than the first. It lists all of them.
func HMerge(ctx context.Context, out string, inputs []Input, o *HMergeOptions) (*Report, error) {
	o = cmp.Or(o, new(HMergeOptions))
	c := o.config()
	c.Name, c.prefixes = o.Name, o.Prefix
	return c.asStored().create(ctx, out, &job{inputs: inputs, sideBySide: true})
}
