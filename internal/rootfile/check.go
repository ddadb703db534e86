package rootfile

import (
	"errors"

	"github.com/go-rntuple/go-rntuple/frame"
)

// CheckInfos reads the streamer infos of the file, whose key is k, and returns the
// first error in them. An unknown form of infos is not an error.
func (f *File) CheckInfos(k Key) error {
	object, err := f.Payload(k)
	if err != nil {
		return err
	}
	l := streamerInfos{KeyLen: int(k.KeyLen)}
	c := reader(object, "streamer infos", 0)
	l.Wire(c)
	if err := c.Err(); err != nil && !errors.Is(err, frame.ErrUnsupported) {
		return err
	}
	return nil
}
