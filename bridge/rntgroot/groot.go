package rntgroot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"

	"go-hep.org/x/hep/groot/rbytes"
	"go-hep.org/x/hep/groot/riofs"
	"go-hep.org/x/hep/groot/root"
	"go-hep.org/x/hep/groot/rtypes"
	_ "go-hep.org/x/hep/groot/ztypes" // all classes of groot; registers its own RNTuple before ours

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// Open opens an RNTuple in a file opened by groot for reading. See rntuple.Open for the name. The
// Reader reads from f, which must stay open; closing the Reader does not close it. The Reader is
// safe for concurrent use if groot's underlying source is, which is the case for local files.
// Because groot does not expose whether a file is local, zone maps are used only with
// rntuple.TrustAll.
func Open(f *riofs.File, name string, opts *rntuple.ReadOptions) (*rntuple.Reader, error) {
	size, err := fileSize(f)
	if err != nil {
		return nil, err
	}
	return rntuple.NewReader(f, size, name, withoutZones(opts))
}

// withoutZones returns options that use zone maps only if opts say so.
func withoutZones(opts *rntuple.ReadOptions) *rntuple.ReadOptions {
	var o rntuple.ReadOptions
	if opts != nil {
		o = *opts
	}
	if o.ZoneMaps == rntuple.TrustLocal {
		o.ZoneMaps = rntuple.TrustNone
	}
	return &o
}

// fileSize returns the size of a file in bytes, from its header if there is no other way.
func fileSize(f *riofs.File) (int64, error) {
	var head [20]byte
	err := recovered(func() error {
		_, err := f.ReadAt(head[:], 0)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("rntgroot: the file is not open for reading: %w", err)
	}
	if info, err := f.Stat(); err == nil && info.Size() > 0 {
		return info.Size(), nil
	}
	const large = 1000000 // added to the version of files with wide offsets
	if binary.BigEndian.Uint32(head[4:]) < large {
		return int64(binary.BigEndian.Uint32(head[12:])), nil
	}
	return int64(binary.BigEndian.Uint64(head[12:])), nil
}

// An RNTuple is the anchor of an RNTuple, as returned by groot's Get.
type RNTuple struct {
	class  string
	object []byte
	file   *riofs.File
}

var (
	_ root.Object        = (*RNTuple)(nil)
	_ rbytes.RVersioner  = (*RNTuple)(nil)
	_ rbytes.Unmarshaler = (*RNTuple)(nil)
	_ riofs.SetFiler     = (*RNTuple)(nil)
)

func init() {
	for _, class := range []string{anchor.ClassName, anchor.ExperimentalClassName} {
		rtypes.Factory.Add(class, func() reflect.Value { return reflect.ValueOf(&RNTuple{class: class}) })
	}
}

// Class returns "ROOT::RNTuple", or "ROOT::Experimental::RNTuple" for
// pre-release formats.
func (n *RNTuple) Class() string { return n.class }

// RVersion returns the version of the class.
func (n *RNTuple) RVersion() int16 {
	const afterCount = 4
	if len(n.object) < afterCount+2 {
		return anchor.ClassVersion
	}
	return int16(binary.BigEndian.Uint16(n.object[afterCount:]))
}

// UnmarshalROOT stores the bytes of r; Open parses them.
func (n *RNTuple) UnmarshalROOT(r *rbytes.RBuffer) error {
	if r.Err() != nil {
		return r.Err()
	}
	n.object = make([]byte, r.Len())
	_, err := io.ReadFull(r, n.object)
	return err
}

// SetFile sets the file that contains the RNTuple. groot's Get calls it.
func (n *RNTuple) SetFile(f *riofs.File) { n.file = f }

// Open opens the RNTuple. See the function Open for requirements on the file.
func (n *RNTuple) Open(opts *rntuple.ReadOptions) (*rntuple.Reader, error) {
	if n.file == nil {
		return nil, errors.New("rntgroot: the RNTuple comes from no file")
	}
	size, err := fileSize(n.file)
	if err != nil {
		return nil, err
	}
	return rntuple.NewReaderFromAnchor(n.file, size, n.class, n.object, withoutZones(opts))
}
