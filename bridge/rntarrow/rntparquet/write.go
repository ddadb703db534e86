package rntparquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/go-rntuple/go-rntuple/bridge/rntarrow"
	"github.com/go-rntuple/go-rntuple/bridge/rntarrow/internal/guard"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// Options configures how entries are written to a Parquet file.
type Options struct {
	// Options selects fields and types. Parquet and Reuse are always set.
	rntarrow.Options
	// Item is the name of list items. Default: "element", as specified by Parquet; earlier versions
	// of Arrow used "item".
	Item string
	// Properties configures the writer. Default: zstd at level 1, as in pyarrow, byte stream split
	// encoding of floating-point numbers, as in RNTuples, and otherwise the defaults of arrow-go.
	Properties []parquet.WriterProperty
	// Plain omits the Arrow schema, from which Arrow readers restore types that Parquet does not
	// have, such as large lists.
	Plain bool
	// Fold configures the goroutines that read and write.
	Fold *rntuple.FoldOptions
}

// Write writes all entries of s to a Parquet file, and returns their number. A row group
// contains the entries of one cluster, or of several if there are thousands of clusters. Row groups
// are encoded by the goroutines of rntuple.Fold, each of which keeps one compressed row group in
// memory.
//
// It does not close w. After an error the file is incomplete and invalid.
func Write(w io.Writer, s rntuple.Source, options *Options) (entries int64, err error) {
	var o Options
	if options != nil {
		o = *options
	}
	o.Parquet, o.Reuse = true, true
	if o.BatchSize == 0 {
		o.BatchSize = 1 << 16
	}
	properties, err := o.properties(s)
	if err != nil {
		return 0, err
	}
	out := &parquetFile{w: w, item: o.Item}
	last, err := rntuple.Fold(s, func(s rntuple.Source, r rntuple.EntryRange) (*rowGroups, error) {
		records, err := rntarrow.NewRangeReader(s, r, &o.Options)
		if err != nil {
			return nil, err
		}
		return rowGroupsOf(records, properties, o.Plain)
	}, func(a, b *rowGroups) *rowGroups {
		out.add(a)
		out.add(b)
		return nil
	}, o.Fold)
	out.add(last)
	if err != nil {
		return out.rows(), err
	}
	return out.rows(), out.close()
}

// properties returns the properties of the writer. Dictionaries of floating-point numbers, which
// repeat rarely, would take most of the time and the memory.
func (o *Options) properties(s rntuple.Source) (*parquet.WriterProperties, error) {
	schema, err := rntarrow.SchemaOf(s, &o.Options)
	if err != nil {
		return nil, err
	}
	columns, err := pqarrow.ToParquet(schema, nil, pqarrow.DefaultWriterProps())
	if err != nil {
		return nil, err
	}
	all := []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Zstd), parquet.WithCompressionLevel(1)}
	for i := range columns.NumColumns() {
		c := columns.Column(i)
		if t := c.PhysicalType(); t == parquet.Types.Float || t == parquet.Types.Double {
			all = append(all, parquet.WithDictionaryPath(c.ColumnPath(), false),
				parquet.WithEncodingPath(c.ColumnPath(), parquet.Encodings.ByteStreamSplit))
		}
	}
	return parquet.NewWriterProperties(append(all, o.Properties...)...), nil
}

// rowGroups are row groups, with all that belongs to them, as they are in a file of their own.
type rowGroups struct {
	file     *pieces
	metadata *metadata.FileMetaData
}

// rowGroupsOf makes row groups of record batches.
func rowGroupsOf(records array.RecordReader, properties *parquet.WriterProperties, plain bool) (*rowGroups, error) {
	defer records.Release()
	b := new(pieces)
	var options []pqarrow.WriterOption
	if !plain {
		options = append(options, pqarrow.WithStoreSchema())
	}
	w, err := pqarrow.NewFileWriter(records.Schema(), b, properties, pqarrow.NewArrowWriterProperties(options...))
	if err != nil {
		return nil, err
	}
	for records.Next() {
		if err := guard.Call(func() error { return w.WriteBuffered(records.RecordBatch()) }); err != nil {
			return nil, err
		}
	}
	if err := records.Err(); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	f, err := file.NewParquetReader(io.NewSectionReader(b, 0, b.size))
	if err != nil {
		return nil, err
	}
	return &rowGroups{b, f.MetaData()}, nil
}

// pieces are what was written, without the copies that a growing buffer would make: columns are
// written at once, and are large.
type pieces struct {
	all  [][]byte
	size int64
}

func (p *pieces) Write(b []byte) (int, error) {
	const small = 1 << 16
	last := len(p.all) - 1
	if last >= 0 && len(b) <= cap(p.all[last])-len(p.all[last]) {
		p.all[last] = append(p.all[last], b...)
	} else {
		p.all = append(p.all, append(make([]byte, 0, max(small, len(b))), b...))
	}
	p.size += int64(len(b))
	return len(b), nil
}

// ReadAt is for the metadata at the end.
func (p *pieces) ReadAt(b []byte, off int64) (n int, err error) {
	for _, piece := range p.all {
		if off < int64(len(piece)) {
			k := copy(b[n:], piece[off:])
			n, off = n+k, off+int64(k)
		}
		if n == len(b) {
			return n, nil
		}
		off -= int64(len(piece))
	}
	return n, io.EOF
}

// A parquetFile puts row groups one after the other.
type parquetFile struct {
	w        io.Writer
	item     string
	at       int64
	metadata *metadata.FileMetaData // nil before the first ones
	err      error
}

const parquetMagic = "PAR1"

func (f *parquetFile) write(b []byte) {
	if f.err == nil {
		var n int
		n, f.err = f.w.Write(b)
		f.at += int64(n)
	}
}

// add adds row groups, which may be nil.
func (f *parquetFile) add(g *rowGroups) {
	if g == nil || f.err != nil {
		return
	}
	if f.metadata == nil {
		f.write([]byte(parquetMagic))
	}
	const end = 4 + len(parquetMagic) // the length of the metadata, and the mark
	by := f.at - int64(len(parquetMagic))
	first, left := len(parquetMagic), int(g.file.size)-len(parquetMagic)-end-g.metadata.Size()
	for _, piece := range g.file.all {
		piece = piece[min(first, len(piece)):]
		piece = piece[:min(left, len(piece))]
		f.write(piece)
		first, left = 0, left-len(piece)
	}
	for _, row := range g.metadata.RowGroups {
		move(row.FileOffset, by)
		for _, c := range row.Columns {
			move(&c.FileOffset, by)
			move(&c.MetaData.DataPageOffset, by)
			for _, offset := range []*int64{c.OffsetIndexOffset, c.ColumnIndexOffset, c.MetaData.IndexPageOffset,
				c.MetaData.DictionaryPageOffset, c.MetaData.BloomFilterOffset} {
				move(offset, by)
			}
		}
	}
	if f.metadata == nil {
		f.metadata = g.metadata
	} else {
		f.metadata.RowGroups = append(f.metadata.RowGroups, g.metadata.RowGroups...)
		f.metadata.NumRows += g.metadata.NumRows
	}
}

// move moves an offset in the file, if there is one.
func move(offset *int64, by int64) {
	if offset != nil && *offset != 0 {
		*offset += by
	}
}

func (f *parquetFile) rows() int64 {
	if f.metadata == nil {
		return 0
	}
	return f.metadata.NumRows
}

// close writes the metadata.
func (f *parquetFile) close() error {
	if f.err != nil {
		return f.err
	}
	if len(f.metadata.RowGroups) > math.MaxInt16 {
		return fmt.Errorf("%d row groups are too many for Parquet", len(f.metadata.RowGroups))
	}
	for i, row := range f.metadata.RowGroups {
		ordinal := int16(i)
		row.Ordinal = &ordinal
	}
	if f.item != "" {
		f.nameItems()
	}
	var b bytes.Buffer
	n, err := f.metadata.WriteTo(&b, nil)
	if err != nil {
		return err
	}
	if n > math.MaxUint32 {
		return errors.New("the metadata are too large for Parquet")
	}
	f.write(append(binary.LittleEndian.AppendUint32(b.Bytes(), uint32(n)), parquetMagic...))
	return f.err
}

// nameItems names the items of lists.
func (f *parquetFile) nameItems() {
	elements := f.metadata.FileMetaData.Schema
	var paths [][]string
	next := 0
	var walk func(path []string, depth int)
	walk = func(path []string, inList int) {
		e := elements[next]
		next++
		if inList == 2 {
			e.Name = f.item
		}
		if next > 1 { // the root has no part in paths
			path = append(path[:len(path):len(path)], e.Name)
		}
		if e.NumChildren == nil || *e.NumChildren == 0 {
			paths = append(paths, path)
		}
		below := 0
		switch {
		case e.LogicalType != nil && e.LogicalType.IsSetLIST():
			below = 1
		case inList == 1:
			below = 2
		}
		for range e.GetNumChildren() {
			walk(path, below)
		}
	}
	walk(nil, 0)
	for _, row := range f.metadata.RowGroups {
		for i, c := range row.Columns {
			c.MetaData.PathInSchema = paths[i]
		}
	}
}
