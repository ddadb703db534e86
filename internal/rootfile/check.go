package rootfile

import (
	"errors"

	"github.com/go-rntuple/go-rntuple/internal/wire"
)

// CheckInfos reads the streamer infos of the file, which k is the key of, and
// returns what is wrong with them. Infos of a form that is not known are not wrong.
func (f *File) CheckInfos(k Key) error {
	object, err := f.Payload(k)
	if err != nil {
		return err
	}
	l := streamerInfos{KeyLen: int(k.KeyLen)}
	c := reader(object, "streamer infos", 0)
	l.Wire(c)
	if err := c.Err(); err != nil && !errors.Is(err, wire.ErrUnsupported) {
		return err
	}
	return nil
}
