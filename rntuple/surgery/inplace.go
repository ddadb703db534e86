package surgery

import (
	"context"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
)

// inPlace opens the file of an RNTuple with open, and calls write, which writes metadata into it. If
// anything fails the file is as it was.
func (c *config) inPlace(ctx context.Context, open opener, in Input,
	write func(f *ntuple.File, src *source, o *ntuple.WriteOptions) error) error {
	if c.invalid != nil {
		return c.invalid
	}
	o, err := c.writeOptions(ctx)
	if err != nil {
		return err
	}
	f, err := open(in.Path, o)
	if err != nil {
		return err
	}
	if err := c.inFile(ctx, f, in, write); err != nil {
		f.Abort()
		return err
	}
	return f.Close()
}

// inFile is inPlace for the file f.
func (c *config) inFile(ctx context.Context, f *ntuple.File, in Input,
	write func(f *ntuple.File, src *source, o *ntuple.WriteOptions) error) error {
	src, err := openSource(ctx, 0, in, c.read)
	if err != nil {
		return err
	}
	defer src.close()
	if src.Legacy() {
		return src.fail(frame.Unsupported("files from before format 1.0.0.0 are only read"))
	}
	if err := c.compressAs(ctx, src); err != nil {
		return err
	}
	o, err := c.writeOptions(ctx)
	if err != nil {
		return err
	}
	return src.fail(write(f, src, o))
}
