package rntuple

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"unsafe"
)

// tableOf returns the table of the source's keys, which the first call makes.
func (s *side) tableOf(ctx context.Context) (*table, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.table != nil {
		return s.table, nil
	}
	t, err := s.makeTable(ctx)
	if err != nil {
		return nil, fmt.Errorf("join of %q: %w", s.name, err)
	}
	s.table = t
	return t, nil
}

func (s *side) makeTable(ctx context.Context) (*table, error) {
	p, err := bindKeys(s.src, s.keys)
	if err != nil {
		return nil, err
	}
	t := newTable(s.keys)
	p.inOrder(0, math.MaxInt64, nil)
	defer p.stop()
	k := len(s.keys)
	words := make([]uint64, k<<13)
	for at := int64(0); ; {
		n, err := p.read(ctx, nil, at, int64(len(words)/k), unsafe.Pointer(unsafe.SliceData(words))) // checks ctx each time
		if err != nil || n == 0 {
			return t, err
		}
		for i := range int(n) {
			if err := t.add(words[i*k:(i+1)*k], at+int64(i)); err != nil {
				return nil, err
			}
		}
		at += n
	}
}

// A table finds the first entry that has given values in the key fields: a hash
// table with open addressing.
type table struct {
	seed   uint64 // random, so that no file can make all of its values collide
	signed []bool // by key
	words  []uint64
	entry  []int64  // parallel to words: the first entry with these values
	slots  []uint32 // 1 + index into entry, or 0 if free; at most 3 of 4 are taken
}

func newTable(keys []key) *table {
	t := &table{seed: rand.Uint64(), slots: make([]uint32, 16)}
	for _, k := range keys {
		t.signed = append(t.signed, k.signed())
	}
	return t
}

// add records the values of an entry, unless an earlier entry has the same.
func (t *table) add(words []uint64, entry int64) error {
	slot, found := t.slot(words)
	switch {
	case found:
		return nil
	case uint64(len(t.entry)) == math.MaxUint32:
		return fmt.Errorf("%w: more than %d different values to match entries by", ErrUnsupported, len(t.entry))
	}
	t.words = append(t.words, words...)
	t.entry = append(t.entry, entry)
	t.slots[slot] = uint32(len(t.entry))
	if len(t.entry) > len(t.slots)/4*3 {
		t.slots = make([]uint32, 2*len(t.slots))
		for i := range t.entry {
			slot, _ := t.slot(t.wordsOf(uint32(i)))
			t.slots[slot] = uint32(i) + 1
		}
	}
	return nil
}

// find returns the first entry with the given values, -1 if there is none.
func (t *table) find(words []uint64, signed []bool) int64 {
	for i, w := range words {
		if signed[i] != t.signed[i] && int64(w) < 0 {
			return -1 // negative in one source, above math.MaxInt64 in the other
		}
	}
	slot, found := t.slot(words)
	if !found {
		return -1
	}
	return t.entry[t.slots[slot]-1]
}

// slot returns the slot of the values, or the free slot where they belong.
func (t *table) slot(words []uint64) (slot uint64, found bool) {
	mask := uint64(len(t.slots) - 1)
	for slot = t.hash(words) & mask; ; slot = (slot + 1) & mask {
		n := t.slots[slot]
		if n == 0 {
			return slot, false
		}
		if slices.Equal(t.wordsOf(n-1), words) {
			return slot, true
		}
	}
}

func (t *table) wordsOf(n uint32) []uint64 {
	k := len(t.signed)
	return t.words[int(n)*k : (int(n)+1)*k]
}

// hash mixes the values with the seed: the two halves of a product depend on all
// bits of its factors.
func (t *table) hash(words []uint64) uint64 {
	h := t.seed
	for _, w := range words {
		hi, lo := bits.Mul64(w^h, 0x9e3779b97f4a7c15|t.seed<<1)
		h = hi ^ lo ^ h
	}
	return h ^ h>>32
}
