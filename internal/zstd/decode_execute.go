package zstd

import "encoding/binary"

// An executor carries out sequences. lits has margin bytes behind litsEnd.
type executor struct {
	dst        []byte
	out, limit int // dst[:out] is done; nothing is due behind limit
	lits       []byte
	lit        int // next literal
	litsEnd    int
}

// run carries out a batch and reports whether all of it was in bounds.
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

// one carries out a sequence and touches nothing else.
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

// repeat fills dst from out on with what is offset bytes before.
func repeat(dst []byte, out, offset int) {
	// Each copy doubles what there is to copy, until that is large enough.
	from, most := out-offset, max(1, 4<<10/offset)*offset
	for out < len(dst) {
		out += copy(dst[out:], dst[from:min(out, from+most)])
	}
}

// runFastGo carries out sequences while they are in bounds and far enough from
// the end of dst to be written sixteen bytes at a time. It returns how many.
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

// multipliers repeat the first bytes, as many as the index, of a word.
var multipliers = func() (m [8]uint64) {
	for n := 1; n < 8; n++ {
		for shift := 0; shift < 64; shift += 8 * n {
			m[n] |= 1 << shift
		}
	}
	return m
}()

// repeatShort is repeat for offsets below 16; it writes up to 15 bytes more.
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
