package diskfile

import "context"

type lastLookKey struct{}

// WithLastLook returns a context whose commits first call look with the path of the file: just
// before a file gets its name, the first byte of a published file changes for its readers, or an
// upload begins. If the context is done when look returns, the commit does not happen. A program
// that learns of an interrupt with a delay cancels the context there, so that no commit follows an
// interrupt.
func WithLastLook(ctx context.Context, look func(path string)) context.Context {
	return context.WithValue(ctx, lastLookKey{}, look)
}

// BeforeCommit must be called just before a write that makes readers see what was written. For a
// published file it returns an error if the context is done; of others, readers see nothing yet.
func (f *File) BeforeCommit() error {
	if !f.Published() {
		return nil
	}
	return f.lastLook()
}

// lastLook returns an error if the context is done.
func (f *File) lastLook() error {
	ctx := f.options.Context
	if look, ok := ctx.Value(lastLookKey{}).(func(string)); ok {
		look(f.path)
	}
	return ctx.Err()
}
