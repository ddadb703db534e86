package inflate

import (
	"encoding/binary"
	"errors"
	"sync"
)

var (
	errTruncated = errors.New("input ends too early")
	errBlockType = errors.New("reserved block type")
	errStored    = errors.New("stored block whose lengths disagree")
	errCodes     = errors.New("codes for more symbols than there are")
	errLengths   = errors.New("code lengths that make no code")
	errNoEnd     = errors.New("no code for the end of the block")
	errSymbol    = errors.New("unused code")
	errDistance  = errors.New("distance beyond the start of the data")
	errShort     = errors.New("fewer bytes than expected")
	errLong      = errors.New("more bytes than expected")
)

// Decode fills dst exactly from the DEFLATE stream at the front of src and
// returns the length of the stream. After an error the content of dst is
// undefined. Decode is safe for concurrent use.
//
// Like zlib, it refuses incomplete codes, except for a distance code with no or
// one symbol, and a literal code whose only symbol is the end of the block.
func Decode(dst, src []byte) (int, error) {
	d := decoders.Get().(*decoder)
	d.reader = reader{src: src}
	d.dst, d.at = dst, 0
	err := d.stream()
	n := d.used()
	d.src, d.dst = nil, nil // do not keep them alive
	decoders.Put(d)
	return n, err
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// A decoder is the state of one call of Decode.
type decoder struct {
	reader
	dst    []byte
	at     int // dst[:at] is done
	lens   [maxLits + maxDists]uint8
	tables tables
}

// stream decodes all blocks (section 3.2.3).
func (d *decoder) stream() error {
	for last := uint(0); last == 0; {
		d.refill()
		var kind uint
		last, kind = d.take(1), d.take(2) // BFINAL, BTYPE
		if d.n < 0 {
			return errTruncated
		}
		var err error
		switch kind {
		case 0:
			err = d.stored()
		case 1:
			err = d.block(fixed())
		case 2:
			if err = d.readCodes(); err == nil {
				err = d.block(&d.tables)
			}
		default:
			err = errBlockType
		}
		if err != nil {
			return err
		}
	}
	if d.at < len(d.dst) {
		return errShort
	}
	return nil
}

// stored copies a block that is not compressed (section 3.2.4): LEN, its
// complement NLEN, and LEN bytes.
func (d *decoder) stored() error {
	d.reader = reader{src: d.src, pos: d.used()} // start at the next whole byte
	rest := d.src[d.pos:]
	if len(rest) < 4 {
		return errTruncated
	}
	size := binary.LittleEndian.Uint16(rest)
	if size != ^binary.LittleEndian.Uint16(rest[2:]) {
		return errStored
	}
	n := int(size)
	switch rest = rest[4:]; {
	case n > len(rest):
		return errTruncated
	case n > len(d.dst)-d.at:
		return errLong
	}
	copy(d.dst[d.at:], rest[:n])
	d.at += n
	d.pos += 4 + n
	return nil
}

// readCodes reads the literal/length code and the distance code of a block into
// the tables (section 3.2.7).
func (d *decoder) readCodes() error {
	d.refill()
	lits, dists, lens := 257+int(d.take(5)), 1+int(d.take(5)), 4+int(d.take(4))
	if lits > maxLits || dists > maxDists {
		return errCodes
	}
	var lenLens [len(lenOrder)]uint8
	for i := range lens {
		d.refill()
		lenLens[lenOrder[i]] = uint8(d.take(3))
	}
	if d.n < 0 {
		return errTruncated
	}
	table := d.tables.dist[:1<<maxLenLen] // not in use yet
	if !build(table, maxLenLen, lenLens[:], lenEntries[:], false) {
		return errLengths
	}
	all := d.lens[:lits+dists]
	for i := 0; i < len(all); {
		d.refill()
		e := table[d.buf&(1<<maxLenLen-1)]
		d.take(e.bits())
		symbol, repeat, value := e.value(), 1, uint8(0)
		switch symbol {
		case 16:
			if i == 0 {
				return errLengths
			}
			repeat, value = 3+int(d.take(2)), all[i-1]
		case 17:
			repeat = 3 + int(d.take(3))
		case 18:
			repeat = 11 + int(d.take(7))
		default:
			value = uint8(symbol)
		}
		if d.n < 0 {
			return errTruncated
		}
		if repeat > len(all)-i {
			return errLengths
		}
		for range repeat {
			all[i] = value
			i++
		}
	}
	if all[endOfBlock] == 0 {
		return errNoEnd
	}
	if !build(d.tables.lit[:], litBits, all[:lits], litEntries[:], true) ||
		!build(d.tables.dist[:], distBits, all[lits:], distEntries[:], true) {
		return errLengths
	}
	return nil
}

// block decodes a block with the codes in t (section 3.2.5): fast while the ends
// of src and dst are far away, then step by step.
func (d *decoder) block(t *tables) error {
	end, err := d.fast(t)
	for !end && err == nil {
		end, err = d.step(t)
	}
	return err
}

const (
	// A round of fast reads 8 bytes after advancing by at most 7.
	srcMargin = 15
	// A round of fast yields 3 literals, or 2 and a match, and copies up to 15
	// bytes in excess.
	dstMargin = 2 + maxMatch + 15
)

// fast decodes until the end of the block, or until the end of src or dst is
// near. The low 6 bits of n count the bits in buf; its higher bits are
// meaningless.
func (d *decoder) fast(t *tables) (end bool, err error) {
	src, dst := d.src, d.dst
	pos, at, buf, n := d.pos, d.at, d.buf, uint(d.n)
	for pos <= len(src)-srcMargin && at <= len(dst)-dstMargin {
		buf |= binary.LittleEndian.Uint64(src[pos:]) << (n & 63)
		pos += int(7 - n>>3&7)
		n |= 56
		e := t.lit[buf&(1<<litBits-1)]
		if e.literal() {
			buf >>= e & 63
			n -= uint(e)
			dst[at] = byte(e >> 16)
			at++
			e = t.lit[buf&(1<<litBits-1)]
			if e.literal() {
				buf >>= e & 63
				n -= uint(e)
				dst[at] = byte(e >> 16)
				at++
				e = t.lit[buf&(1<<litBits-1)]
				if e.literal() {
					buf >>= e & 63
					n -= uint(e)
					dst[at] = byte(e >> 16)
					at++
					continue
				}
			}
			buf |= binary.LittleEndian.Uint64(src[pos:]) << (n & 63)
			pos += int(7 - n>>3&7)
			n |= 56
		}
		if e&special != 0 {
			if e&subtable != 0 {
				buf >>= e & 63
				n -= uint(e)
				e = t.lit[uint64(e.value())+buf&(1<<(maxLen-litBits)-1)]
				if e.literal() {
					buf >>= e & 63
					n -= uint(e)
					dst[at] = byte(e >> 16)
					at++
					continue
				}
			}
			if e&special != 0 {
				buf >>= e & 63
				n -= uint(e)
				if end = e.value() == endOfBlock; !end {
					err = errSymbol
				}
				break
			}
		}
		length := int(e>>16) + int(buf&(1<<(e&63)-1)>>(e>>8&63))
		buf >>= e & 63
		n -= uint(e)
		e = t.dist[buf&(1<<distBits-1)]
		if e&special != 0 {
			if e&subtable != 0 {
				buf >>= e & 63
				n -= uint(e)
				e = t.dist[uint64(e.value())+buf&(1<<(maxLen-distBits)-1)]
			}
			if e&special != 0 {
				err = errSymbol
				break
			}
		}
		distance := int(e>>16) + int(buf&(1<<(e&63)-1)>>(e>>8&63))
		buf >>= e & 63
		n -= uint(e)
		from := at - distance
		if from < 0 {
			err = errDistance
			break
		}
		to := at + length
		switch {
		case distance >= 16:
			for {
				*(*[16]byte)(dst[at:]) = *(*[16]byte)(dst[from:])
				at += 16
				from += 16
				if at >= to {
					break
				}
			}
		case distance >= 8:
			for ; at < to; at, from = at+8, from+8 {
				*(*[8]byte)(dst[at:]) = *(*[8]byte)(dst[from:])
			}
		default:
			period := periods[distance&7]
			v := binary.LittleEndian.Uint64(dst[from:]) & period.mask * period.factor
			for step := int(period.step); at < to; at += 2 * step {
				binary.LittleEndian.PutUint64(dst[at:], v)
				binary.LittleEndian.PutUint64(dst[at+step:], v)
			}
		}
		at = to
	}
	d.pos, d.at, d.buf, d.n = pos, at, buf, int(n&63)
	return end, err
}

// A period tells how to repeat fewer than 8 bytes: those under mask, multiplied
// by factor, are 8 bytes, the first step of which are whole repetitions.
type period struct {
	mask, factor uint64
	step         uint8
}

var periods = func() (p [8]period) {
	for n := 1; n < 8; n++ {
		p[n].mask = 1<<(8*n) - 1
		for i := 0; i < 8; i += n {
			p[n].factor |= 1 << (8 * i)
		}
		p[n].step = uint8(8 - 8%n)
	}
	return p
}()

// step decodes one literal or match, at any position.
func (d *decoder) step(t *tables) (end bool, err error) {
	d.refill()
	e := d.symbol(t.lit[:], litBits)
	if e&special != 0 && e.value() != endOfBlock {
		return false, errSymbol
	}
	if e&special != 0 || e.literal() {
		d.take(e.bits())
		switch {
		case d.n < 0:
			return false, errTruncated
		case !e.literal():
			return true, nil
		case d.at == len(d.dst):
			return false, errLong
		}
		d.dst[d.at] = byte(e.value())
		d.at++
		return false, nil
	}
	length := d.number(e)
	e = d.symbol(t.dist[:], distBits)
	if e&special != 0 {
		return false, errSymbol
	}
	distance := d.number(e)
	switch {
	case d.n < 0:
		return false, errTruncated
	case distance > d.at:
		return false, errDistance
	case length > len(d.dst)-d.at:
		return false, errLong
	}
	match := d.dst[d.at-distance : d.at+length]
	for n := distance; n < len(match); {
		n += copy(match[n:], match[:n])
	}
	d.at += length
	return false, nil
}

// symbol looks up the next symbol. It consumes no bits, except for those that
// lead to a subtable.
func (d *decoder) symbol(table []entry, bits uint) entry {
	e := table[d.buf&(1<<bits-1)]
	if e&subtable != 0 {
		d.take(bits)
		e = table[uint64(e.value())+d.buf&(1<<(maxLen-bits)-1)]
	}
	return e
}

// number consumes the bits of a length or a distance, with its extra bits.
func (d *decoder) number(e entry) int {
	bits := d.take(e.bits())
	return e.value() + int(bits>>e.codeBits())
}

// A reader reads src bit by bit, the lowest bits of a byte first (section 3.1.1).
// The bits in buf beyond n are those that follow in src, or 0 after its end.
type reader struct {
	src []byte
	pos int // src[:pos] has been moved into the n bits of buf
	buf uint64
	n   int // bits in buf; negative if more were taken than there were
}

// refill makes n at least 56, unless src ends.
func (r *reader) refill() {
	if r.n < 0 {
		return
	}
	if r.pos+8 <= len(r.src) {
		r.buf |= binary.LittleEndian.Uint64(r.src[r.pos:]) << r.n
		r.pos += (63 - r.n) >> 3
		r.n |= 56
		return
	}
	for ; r.n < 56 && r.pos < len(r.src); r.pos++ {
		r.buf |= uint64(r.src[r.pos]) << r.n
		r.n += 8
	}
}

// take consumes the next bits and returns them.
func (r *reader) take(bits uint) uint {
	v := r.buf & (1<<bits - 1)
	r.buf >>= bits
	r.n -= int(bits)
	return uint(v)
}

// used returns the number of bytes of src of which some bits have been consumed.
func (r *reader) used() int { return r.pos - max(r.n, 0)>>3 }
