package zstd

import "encoding/binary"

// An executor executes sequences (section 3.1.1.4). lits has margin more bytes
// after litsEnd.
type executor struct {
	dst        []byte
	out, limit int // dst[:out] is done; the block must not go beyond dst[:limit]
	lits       []byte
	lit        int // next literal
	litsEnd    int
}

// run executes a batch and reports whether all of it was within bounds.
func (x *executor) run(batch []sequence) bool {
	for i := 0; i < len(batch); i++ {
		if i += x.runFast(batch[i:]); i == len(batch) {
			break
		}
		if !x.one(batch[i]) {
			return false
		}
	}
	return true
}

// one executes a sequence. It accesses no byte beyond those of the sequence.
func (x *executor) one(s sequence) bool {
	literals, match, offset := int(s.literals), int(s.match), uint(s.offset)
	if literals > x.litsEnd-x.lit || literals+match > x.limit-x.out || offset-1 >= uint(x.out+literals) {
		return false
	}
	copy(x.dst[x.out:], x.lits[x.lit:x.lit+literals])
	x.lit += literals
	x.out += literals
	repeat(x.dst[:x.out+match], x.out, int(offset))
	x.out += match
	return true
}

// repeat fills dst[out:] with the bytes offset before them.
func repeat(dst []byte, out, offset int) {
	// Each copy doubles what the next one can copy, up to about 4 KiB.
	from, most := out-offset, max(1, 4<<10/offset)*offset
	for out < len(dst) {
		out += copy(dst[out:], dst[from:min(out, from+most)])
	}
}

// runFastGo executes sequences as long as they are within bounds and far enough
// from the end of dst to be written sixteen bytes at a time. It returns how many
// it executed.
func (x *executor) runFastGo(batch []sequence) int {
	dst, out, lits, lit := x.dst, x.out, x.lits, x.lit
	bound := min(x.limit, len(dst)-margin)
	n := 0
	for _, s := range batch {
		literals, match, offset := int(s.literals), int(s.match), int(s.offset)
		mid := out + literals
		if literals > x.litsEnd-lit || mid+match > bound || uint(offset-1) >= uint(mid) {
			break
		}
		copy16(dst[out:], lits[lit:])
		if literals > 16 {
			copy(dst[out+16:mid], lits[lit+16:])
		}
		lit += literals
		out = mid + match
		from := mid - offset
		switch {
		case offset >= 16 && match <= 32:
			copy16(dst[mid:], dst[from:])
			copy16(dst[mid+16:], dst[from+16:])
		case offset >= match:
			copy(dst[mid:out], dst[from:])
		case offset >= 16:
			repeat(dst[:out], mid, offset)
		default:
			repeatShort(dst, mid, out, offset)
		}
		n++
	}
	x.out, x.lit = out, lit
	return n
}

func copy16(dst, src []byte) { *(*[16]byte)(dst) = [16]byte(src) }

// Multiplying a word that has only its n lowest bytes set by multipliers[n]
// repeats these bytes throughout the word.
var multipliers = func() (m [8]uint64) {
	for n := 1; n < 8; n++ {
		for shift := 0; shift < 64; shift += 8 * n {
			m[n] |= 1 << shift
		}
	}
	return m
}()

// repeatShort fills dst[mid:out] with the bytes offset before them; offset is
// below 16. It may write up to 15 bytes more.
func repeatShort(dst []byte, mid, out, offset int) {
	from := mid - offset
	if offset < 8 {
		w := binary.LittleEndian.Uint64(dst[from:])
		w &= 1<<(8*offset) - 1
		w *= multipliers[offset&7]
		step := 8 - 8%offset
		for k := mid; k < out && k < mid+64; k += step {
			binary.LittleEndian.PutUint64(dst[k:], w)
		}
	} else {
		for k := mid; k < out && k < mid+64; k += 8 {
			binary.LittleEndian.PutUint64(dst[k:], binary.LittleEndian.Uint64(dst[k-offset:]))
		}
	}
	if out > mid+64 {
		whole := 64 / offset * offset
		repeat(dst[:out], mid+whole, offset+whole)
	}
}
