package rntgroot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"sync"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/container"
	"github.com/go-rntuple/go-rntuple/frame"
)

// A basket holds the values that a branch has in a range of entries.
type basket struct {
	first, end int64
	data       []byte
	// ends has the offset in data behind each entry; nil if all have the same length, or if only
	// what is in them tells it.
	ends []int

	steps bool // offsets in the record are differences

	// Memory of the data and of ends, which the next basket uses again
	memory []byte
	table  []int
}

// start returns the offset in data of an entry, by its number in the basket, if there are ends.
func (k *basket) start(i int) int {
	if i == 0 {
		return 0
	}
	return k.ends[i-1]
}

// records has memory for records as they are stored.
var records = sync.Pool{New: func() any { return new([]byte) }}

// generatedOffsets is the feature of writers that leave out offsets which the lengths of arrays
// tell.
const generatedOffsets = 1

// find returns the number of the basket that has an entry of b.
func (b *branch) find(entry int64) int {
	return sort.Search(len(b.baskets), func(i int) bool { return b.baskets[i].first > entry }) - 1
}

// check makes sure that the baskets of b have all entries, in order.
func (b *branch) check() error {
	if b.elsewhere != "" {
		return frame.Unsupported("baskets in another file, %q", b.elsewhere)
	}
	if b.entries != b.tree.entries {
		return frame.Unsupported("%d entries in a tree of %d", b.entries, b.tree.entries)
	}
	for i, p := range b.baskets {
		want := int64(0)
		if i > 0 {
			want = b.baskets[i-1].first
		}
		if i == 0 && p.first != 0 || p.first < want || p.first > b.entries {
			return frame.Corrupt("basket %d begins with entry %d", i, p.first)
		}
	}
	if len(b.baskets) == 0 && b.entries > 0 {
		return frame.Corrupt("no baskets for %d entries", b.entries)
	}
	return nil
}

// load reads a basket into k.
func (b *branch) load(i int, k *basket) error {
	p := b.baskets[i]
	end := b.entries
	if i+1 < len(b.baskets) {
		end = b.baskets[i+1].first
	}
	*k = basket{first: p.first, end: end, memory: k.memory, table: k.table}
	var err error
	if p.whole != nil {
		err = k.parse(p.whole, 0, true)
	} else {
		err = b.read(k, p)
	}
	if err != nil {
		return fmt.Errorf("basket %d at byte %d: %w", i, p.seek, err)
	}
	return nil
}

func (b *branch) read(k *basket, p place) error {
	if p.seek < 0 || p.bytes < 0 || p.seek > b.tree.size-int64(p.bytes) {
		return frame.Corrupt("%d bytes in a file of %d", p.bytes, b.tree.size)
	}
	memory := records.Get().(*[]byte)
	defer records.Put(memory)
	*memory = slices.Grow((*memory)[:0], int(p.bytes))
	record := (*memory)[:p.bytes]
	if _, err := b.tree.r.ReadAt(record, p.seek); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return k.parse(record, p.seek, false)
}

// parse reads the record of a basket at an offset in the file: a key, which describes the basket at
// its end, and the payload. Within a tree, the description is behind the key, and what follows is
// as in memory.
func (k *basket) parse(record []byte, seek int64, inside bool) error {
	c := frame.NewReader(record, "basket", 0).BigEndian()
	key := container.ReadKey(c)
	var version uint16
	var size, lengths, n, last int32
	var flag uint8
	frame.Int(c, "version", &version)
	frame.Int(c, "buffer size", &size)
	frame.Int(c, "entry lengths", &lengths)
	if lengths < 0 {
		var features uint8
		if frame.Int(c, "features", &features); features != generatedOffsets {
			return frame.Unsupported("features %#x of the writer", features)
		}
		k.steps = true
	}
	frame.Int(c, "entries", &n)
	frame.Int(c, "last", &last)
	frame.Int(c, "flag", &flag)
	border := int64(last) - int64(key.KeyLen)
	switch {
	case c.Err() != nil:
		return c.Err()
	case key.Class != "TBasket":
		return frame.Corrupt("it is a %q", key.Class)
	case int64(n) != k.end-k.first:
		return frame.Corrupt("%d entries, expected %d", n, k.end-k.first)
	case border < 0 || n == 0 && border > 0:
		return frame.Corrupt("%d bytes of %d entries", border, n)
	case inside:
		return k.inside(c, flag, int(n), int64(key.KeyLen), border)
	case key.SeekKey != seek:
		return frame.Corrupt("its key is that of byte %d", key.SeekKey)
	case key.NBytes != int64(len(record)), key.KeyLen != c.Pos():
		return frame.Corrupt("%d bytes, the key %d; expected %d and %d", key.NBytes, key.KeyLen, len(record), c.Pos())
	}
	stored := record[key.KeyLen:]
	if err := compress.Check(stored, key.ObjLen); err != nil {
		return err
	}
	k.memory = slices.Grow(k.memory[:0], int(key.ObjLen))
	data := k.memory[:key.ObjLen]
	if err := compress.Decompress(data, stored); err != nil {
		return err
	}
	if border > int64(len(data)) {
		return frame.Corrupt("%d bytes of entries in %d", border, len(data))
	}
	k.data = data[:border:border]
	if int64(len(data)) == border {
		return nil
	}
	return k.offsets(data[border:], int(n), int64(key.KeyLen))
}

// inside reads what follows the description of a basket within a tree.
func (k *basket) inside(c *frame.Codec, flag uint8, n int, keyLen, border int64) error {
	generated := flag >= 80
	if generated {
		flag -= 80
	}
	if !generated && flag != 0 && flag%10 != 2 && n > 0 {
		c2 := *c
		b := c2.Unread()
		if len(b) < 4*(n+1) {
			return frame.Corrupt("%d offsets in %d bytes", n, len(b))
		}
		c.Skip(4 * (n + 1))
		if err := k.offsets(b[:4*(n+1)], n, keyLen); err != nil {
			return err
		}
		if flag > 40 {
			return frame.Unsupported("displaced entries")
		}
	}
	if flag != 1 && flag <= 10 {
		return frame.Unsupported("a basket without its bytes, flag %d", flag)
	}
	c.Skip(int(keyLen)) // the key again
	c.Raw("entries", int(border), &k.data)
	if c.Err() == nil && k.ends != nil {
		return k.bounds(int(border))
	}
	return c.Err()
}

// offsets reads the offsets of n entries.
func (k *basket) offsets(b []byte, n int, keyLen int64) error {
	if len(b) < 4*(n+1) {
		return frame.Corrupt("%d offsets in %d bytes", n, len(b))
	}
	if got := int(binary.BigEndian.Uint32(b)); got != n && got != n+1 {
		return frame.Corrupt("%d offsets, expected %d", got, n)
	}
	k.table = slices.Grow(k.table[:0], n)
	k.ends = k.table[:n]
	at := 0
	for i := range k.ends {
		k.ends[i] = int(int32(binary.BigEndian.Uint32(b[4+4*i:])))
		if k.steps {
			at += k.ends[i]
			k.ends[i] = at
		} else {
			k.ends[i] -= int(keyLen)
		}
	}
	if n > 0 && k.ends[0] != 0 {
		return frame.Corrupt("the first entry begins at %d", k.ends[0])
	}
	if k.data == nil {
		return nil
	}
	return k.bounds(len(k.data))
}

// bounds makes ends of the entries of their starts.
func (k *basket) bounds(border int) error {
	copy(k.ends, k.ends[min(1, len(k.ends)):])
	if n := len(k.ends); n > 0 {
		k.ends[n-1] = border
	}
	at := 0
	for i, end := range k.ends {
		if end < at || end > border {
			return frame.Corrupt("entry %d is from byte %d to %d of %d", i, at, end, border)
		}
		at = end
	}
	return nil
}
