package rntuple

import (
	"math/bits"
	"slices"
	"sort"

	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
)

// An entrySet is a set of entries, which are added in order. It needs 8 bytes for each run
// of entries that follow each other, or a bit and a sixteenth for each entry where that is
// less. The zero value is empty. It implements field.Chosen.
type entrySet struct {
	blocks []entryBlock
	n      int64 // entries
}

// blockSize is the number of entries per block, a multiple of 512.
const blockSize = 1 << 19

// maxBlockRuns is the number of runs from which on a bitmap takes less memory.
const maxBlockRuns = blockSize / 64

// An entryBlock holds the entries of a set from first up to first+blockSize, at least one.
// One of its forms is set: runs, or bits.
type entryBlock struct {
	first  int64 // a multiple of blockSize
	before int64 // entries of the set in earlier blocks
	n      int64 // entries
	runs   []blockRun
	words  []uint64
	ranks  []uint32 // entries before each 8 words
}

// A blockRun is a run of entries that reaches up to the n-th entry of its block, where n is
// before of the next run.
type blockRun struct {
	first  uint32 // counted in the block
	before uint32 // entries of the block in earlier runs
}

// end returns how many entries of the block there are up to the end of run i.
func (b *entryBlock) end(i int) int64 {
	if i+1 < len(b.runs) {
		return int64(b.runs[i+1].before)
	}
	return b.n
}

// add adds the entries of a range. They must come after all others.
func (s *entrySet) add(r EntryRange) {
	for r.First < r.End {
		first := r.First / blockSize * blockSize
		last := len(s.blocks) - 1
		if last < 0 || s.blocks[last].first != first {
			s.seal()
			s.blocks = append(s.blocks, entryBlock{first: first, before: s.n})
			last++
		}
		end := min(r.End, first+blockSize)
		b := &s.blocks[last]
		b.add(r.First-first, end-first)
		s.n += end - r.First
		r.First = end
	}
}

// add adds the entries from lo up to but not including hi, counted in the block.
func (b *entryBlock) add(lo, hi int64) {
	switch last := len(b.runs) - 1; {
	case b.words != nil:
		b.set(lo, hi)
	case last >= 0 && int64(b.runs[last].first)+b.n-int64(b.runs[last].before) == lo:
	case len(b.runs) < maxBlockRuns:
		b.runs = append(b.runs, blockRun{uint32(lo), uint32(b.n)})
	default:
		b.words = make([]uint64, blockSize/64)
		for i, r := range b.runs {
			b.set(int64(r.first), int64(r.first)+b.end(i)-int64(r.before))
		}
		b.set(lo, hi)
		b.runs = nil
	}
	b.n += hi - lo
}

// set sets the bits from lo up to but not including hi.
func (b *entryBlock) set(lo, hi int64) {
	for i := lo / 64; i*64 < hi; i++ {
		word := ^uint64(0)
		if lo > i*64 {
			word <<= uint(lo - i*64)
		}
		if hi < (i+1)*64 {
			word &= 1<<uint(hi-i*64) - 1
		}
		b.words[i] |= word
	}
}

// seal ends the last block. It must be called after the last entry was added.
func (s *entrySet) seal() {
	if len(s.blocks) == 0 {
		return
	}
	b := &s.blocks[len(s.blocks)-1]
	b.runs = slices.Clip(b.runs)
	if b.words != nil {
		b.ranks = make([]uint32, len(b.words)/8)
		n := 0
		for i, w := range b.words {
			if i%8 == 0 {
				b.ranks[i/8] = uint32(n)
			}
			n += bits.OnesCount64(w)
		}
	}
}

// join adds the entries of another set, which must come after all others. Both are sealed.
func (s *entrySet) join(other *entrySet) {
	if len(other.blocks) == 0 {
		return
	}
	blocks := other.blocks
	if last := len(s.blocks) - 1; last >= 0 && s.blocks[last].first == blocks[0].first {
		for span := range blocks[0].spans(0, blockSize) {
			first := blocks[0].first + span.First
			s.add(EntryRange{first, first + span.N})
		}
		s.seal()
		blocks = blocks[1:]
	}
	for _, b := range blocks {
		b.before = s.n
		s.blocks = append(s.blocks, b)
		s.n += b.n
	}
}

// spans yields the entries from lo up to but not including hi, all counted in the block.
func (b *entryBlock) spans(lo, hi int64) func(yield func(columnar.Span) bool) {
	return func(yield func(columnar.Span) bool) {
		if b.words == nil {
			i := max(0, sort.Search(len(b.runs), func(i int) bool { return int64(b.runs[i].first) > lo })-1)
			for ; i < len(b.runs) && int64(b.runs[i].first) < hi; i++ {
				first := int64(b.runs[i].first)
				end := min(hi, first+b.end(i)-int64(b.runs[i].before))
				if first = max(first, lo); first < end && !yield(columnar.Span{First: first, N: end - first}) {
					return
				}
			}
			return
		}
		for at := b.find(lo, 0); at < hi; {
			end := min(hi, b.find(at, ^uint64(0)))
			if !yield(columnar.Span{First: at, N: end - at}) {
				return
			}
			at = b.find(end, 0)
		}
	}
}

// find returns the first entry from lo on, counted in the block, that is in the set, or if
// flip is all ones, that is not; or blockSize if there is none.
func (b *entryBlock) find(lo int64, flip uint64) int64 {
	for i := lo / 64; i < int64(len(b.words)); i++ {
		word := b.words[i] ^ flip
		if lo > i*64 {
			word &= ^uint64(0) << uint(lo-i*64)
		}
		if word != 0 {
			return i*64 + int64(bits.TrailingZeros64(word))
		}
	}
	return blockSize
}

// rank returns how many entries of the set are before the given one.
func (s *entrySet) rank(entry int64) int64 {
	i := sort.Search(len(s.blocks), func(i int) bool { return s.blocks[i].first > entry }) - 1
	if i < 0 {
		return 0
	}
	b := &s.blocks[i]
	at := entry - b.first
	switch {
	case at >= blockSize:
		return b.before + b.n
	case b.words != nil:
		n := int64(b.ranks[at/512])
		for w := at / 512 * 8; w < at/64; w++ {
			n += int64(bits.OnesCount64(b.words[w]))
		}
		return b.before + n + int64(bits.OnesCount64(b.words[at/64]&(1<<uint(at%64)-1)))
	}
	k := sort.Search(len(b.runs), func(k int) bool { return int64(b.runs[k].first) > at }) - 1
	if k < 0 {
		return b.before
	}
	r := b.runs[k]
	return b.before + min(b.end(k), int64(r.before)+at-int64(r.first))
}

// entry returns entry i of the set, which must exist.
func (s *entrySet) entry(i int64) int64 {
	b := &s.blocks[sort.Search(len(s.blocks), func(k int) bool { return s.blocks[k].before > i })-1]
	i -= b.before
	if b.words == nil {
		r := b.runs[sort.Search(len(b.runs), func(k int) bool { return int64(b.runs[k].before) > i })-1]
		return b.first + int64(r.first) + i - int64(r.before)
	}
	k := sort.Search(len(b.ranks), func(k int) bool { return int64(b.ranks[k]) > i }) - 1
	i -= int64(b.ranks[k])
	w := 8 * k
	for ; i >= int64(bits.OnesCount64(b.words[w])); w++ {
		i -= int64(bits.OnesCount64(b.words[w]))
	}
	word := b.words[w]
	for range i {
		word &= word - 1
	}
	return b.first + int64(w)*64 + int64(bits.TrailingZeros64(word))
}

// Spans implements field.Chosen.
func (s *entrySet) Spans(first, end int64) (all []columnar.Span) {
	i := max(0, sort.Search(len(s.blocks), func(i int) bool { return s.blocks[i].first > first })-1)
	for ; i < len(s.blocks) && s.blocks[i].first < end; i++ {
		b := &s.blocks[i]
		for span := range b.spans(max(0, first-b.first), min(blockSize, end-b.first)) {
			span.First += b.first
			all = columnar.AddSpan(all, span)
		}
	}
	return all
}

// Next implements field.Chosen.
func (s *entrySet) Next(entry int64) (int64, bool) {
	i := s.rank(entry)
	if i == s.n {
		return 0, false
	}
	return s.entry(i), true
}
