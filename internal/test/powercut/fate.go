package powercut

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/internal/disk/diskfile"
)

// A fate is what a power cut makes of a write or of a truncation that was not synced.
type fate struct {
	kind fateKind
	at   int    // sector of the write
	bits []bool // for random
}

type fateKind uint8

const (
	absentKind fateKind = iota
	wholeKind           // all of it is on disk
	prefix              // the sectors before at
	suffix              // the sectors from at on
	lost                // all but the sector at
	random              // the sectors of bits
	length              // the length of the file only
)

var absent, whole = fate{}, fate{kind: wholeKind}

// keeps reports whether a sector of a write, of n, is on disk.
func (f fate) keeps(i int) bool {
	switch f.kind {
	case wholeKind:
		return true
	case prefix:
		return i < f.at
	case suffix:
		return i >= f.at
	case lost:
		return i != f.at
	case random:
		return f.bits[i]
	}
	return false
}

// apply changes the contents of a file by what is left of an operation. It may change b, or
// return other bytes, never bytes of op.
func (f fate) apply(b []byte, op Op) []byte {
	if op.Kind == diskfile.TruncateOp {
		if f.kind == wholeKind {
			return resize(b, int(op.Off))
		}
		return b
	}
	first, end := int(op.Off), int(op.Off)+len(op.Data)
	if f.kind == length {
		return resize(b, max(len(b), end))
	}
	for i := range sectors(op) {
		lo := max(first, (first/sector+i)*sector)
		hi := min(end, (first/sector+i+1)*sector)
		if f.keeps(i) {
			b = resize(b, max(len(b), hi))
			copy(b[lo:hi], op.Data[lo-first:])
		}
	}
	return b
}

// resize cuts b, or fills it up with zeros.
func resize(b []byte, n int) []byte {
	if n <= len(b) {
		return b[:n]
	}
	old := len(b)
	b = slices.Grow(b, n-old)[:n]
	clear(b[old:]) // there may be bytes that were cut off
	return b
}

// sectors returns the number of sectors that a write touches; 1 for a truncation.
func sectors(op Op) int {
	if len(op.Data) == 0 {
		return 1
	}
	return int((op.Off+int64(len(op.Data))-1)/sector - op.Off/sector + 1)
}

// tears returns the ways in which one operation may be done in part.
func tears(op Op) (all []fate) {
	if op.Kind == diskfile.TruncateOp || len(op.Data) == 0 {
		return nil
	}
	n := sectors(op)
	for i := 1; i < n; i++ {
		all = append(all, fate{kind: prefix, at: i}, fate{kind: suffix, at: i})
	}
	for i := range n {
		if n > 2 {
			all = append(all, fate{kind: lost, at: i})
		}
	}
	return append(all, fate{kind: length})
}

func (f fate) String() string {
	switch f.kind {
	case absentKind:
		return "lost"
	case wholeKind:
		return "done"
	case prefix:
		return fmt.Sprintf("first %d sectors", f.at)
	case suffix:
		return fmt.Sprintf("without %d sectors", f.at)
	case lost:
		return fmt.Sprintf("without sector %d", f.at)
	case random:
		var kept []string
		for i, on := range f.bits {
			if on {
				kept = append(kept, fmt.Sprint(i))
			}
		}
		return "sectors " + strings.Join(kept, " ")
	}
	return "length only"
}

// A Plan says how many images are made.
type Plan struct {
	// All is the number of combinations of fates up to which all are taken.
	All int
	// Random is the number of combinations that are drawn where there are more.
	Random int
	// Cuts is about the number of cuts, of a log that is longer: one half of those before a
	// sync, where most is not durable, and after an acknowledgement; the other half of all
	// others. 0 stands for all.
	Cuts int
	// Last says that the power is cut after the last operation only.
	Last bool
	// Failures is the number of images that fail after which no more are made. 0 stands for
	// none.
	Failures int
	Seed     uint64
}

// fates calls yield for combinations of the fates of ops, until it returns false. It must
// not keep the slice. There may be some twice.
func (p Plan) fates(ops []Op, rng *rand.Rand, yield func([]fate) bool) {
	n, limit := len(ops), max(1, p.All)
	options := make([][]fate, n)
	product, subsets := 1, 1
	for i, op := range ops {
		options[i] = append([]fate{absent, whole}, tears(op)...)
		if product <= limit {
			product *= len(options[i])
		}
		if subsets <= limit {
			subsets *= 2
		}
	}
	if product <= limit {
		combine(options, yield)
		return
	}
	row := make([]fate, n)
	set := func(i int, before, at, behind fate) bool {
		for j := range row {
			switch {
			case j < i:
				row[j] = before
			case j == i:
				row[j] = at
			default:
				row[j] = behind
			}
		}
		return yield(row)
	}
	for i := range ops {
		for _, f := range options[i] {
			for _, others := range [][2]fate{{absent, absent}, {whole, absent}, {absent, whole}, {whole, whole}} {
				if !set(i, others[0], f, others[1]) {
					return
				}
			}
		}
	}
	if subsets <= limit {
		for i := range options {
			options[i] = options[i][:2]
		}
		if !combine(options, yield) {
			return
		}
	}
	for range p.Random {
		for i, op := range ops {
			switch k := rng.IntN(5); {
			case k < 2:
				row[i] = absent
			case k < 4 || op.Kind == diskfile.TruncateOp:
				row[i] = whole
			default:
				f := fate{kind: random, bits: make([]bool, sectors(op))}
				for j := range f.bits {
					f.bits[j] = rng.IntN(2) == 0
				}
				row[i] = f
			}
		}
		if !yield(row) {
			return
		}
	}
}

// combine calls yield for all combinations of options, until it returns false.
func combine(options [][]fate, yield func([]fate) bool) bool {
	row := make([]fate, len(options))
	var next func(i int) bool
	next = func(i int) bool {
		if i == len(row) {
			return yield(row)
		}
		for _, row[i] = range options[i] {
			if !next(i + 1) {
				return false
			}
		}
		return true
	}
	return next(0)
}
