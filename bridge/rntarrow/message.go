package rntarrow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/go-rntuple/go-rntuple/bridge/rntarrow/internal/guard"
)

// messages reads the messages of a stream of Arrow's IPC format. Unlike arrow-go's reader, it
// takes the end mark alone for the end, and checks all sizes before memory is allocated for them.
type messages struct {
	r    io.Reader
	left int64 // bytes that there are at most
}

func (m *messages) Retain()  {}
func (m *messages) Release() {}

// Message returns the next message, or io.EOF after the last one. The format is that of the
// section "Encapsulated message format" of Arrow's specification.
func (m *messages) Message() (msg *ipc.Message, err error) {
	n, err := m.word()
	if err == nil && n == 0xffffffff { // of streams since version 0.15
		n, err = m.word()
	}
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, io.EOF
	}
	metadata, err := m.bytes(int64(n))
	if err != nil {
		return nil, err
	}
	err = guard.Call(func() error {
		c := checker{metadata, len(metadata)}
		table := c.root()
		body, err := m.bytes(table.GetInt64Slot(4+2*3, 0))
		if err != nil {
			return err
		}
		if err := c.message(table, body); err != nil {
			return err
		}
		msg = ipc.NewMessage(memory.NewBufferBytes(metadata), memory.NewBufferBytes(body))
		return nil
	})
	return msg, err
}

func (m *messages) word() (uint32, error) {
	b, err := m.bytes(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

func (m *messages) bytes(n int64) ([]byte, error) {
	if n < 0 || n > m.left {
		return nil, fmt.Errorf("the stream is cut off, or damaged: %d more bytes should follow, and there are at most %d", n,
			m.left)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(m.r, b); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the stream is cut off: it has no end mark")
		}
		return nil, err
	}
	m.left -= n
	return b, nil
}

// A checker checks the vectors in the metadata of a message, which are flatbuffers: that they lie
// in the metadata, and that the arrays are no longer than their buffers justify. What lies
// outside of the metadata otherwise makes flatbuffers panic.
type checker struct {
	metadata []byte
	tables   int // how many more tables there may be
}

func (c *checker) root() flatbuffers.Table {
	return flatbuffers.Table{Bytes: c.metadata, Pos: flatbuffers.GetUOffsetT(c.metadata)}
}

// Headers of messages and the union type, as Arrow's Message.fbs and Schema.fbs number them.
const (
	headerSchema, headerDictionary, headerBatch = 1, 2, 3
	typeUnion                                   = 14
)

// at returns the table in a slot of another one.
func at(t flatbuffers.Table, slot int) (inner flatbuffers.Table, ok bool) {
	o := t.Offset(flatbuffers.VOffsetT(4 + 2*slot))
	if o == 0 {
		return t, false
	}
	return flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(t.Pos + flatbuffers.UOffsetT(o))}, true
}

// vector returns the number of elements of the vector in a slot of a table, and where it begins.
func (c *checker) vector(t flatbuffers.Table, slot, size int) (n int, start flatbuffers.UOffsetT, err error) {
	o := flatbuffers.UOffsetT(t.Offset(flatbuffers.VOffsetT(4 + 2*slot)))
	if o == 0 {
		return 0, 0, nil
	}
	n, start = t.VectorLen(o), t.Vector(o)
	if n < 0 || int64(start)+int64(n)*int64(size) > int64(len(c.metadata)) {
		return 0, 0, fmt.Errorf("a vector of %d elements in metadata of %d bytes", n, len(c.metadata))
	}
	return n, start, nil
}

func (c *checker) message(t flatbuffers.Table, body []byte) error {
	header, ok := at(t, 2)
	if !ok {
		return errors.New("a message without a header")
	}
	switch t.GetByteSlot(4+2*1, 0) {
	case headerSchema:
		return c.fields(header, 1, 2, maxDepth)
	case headerDictionary:
		if header, ok = at(header, 1); !ok {
			return errors.New("a dictionary without values")
		}
		return c.batch(header, body)
	case headerBatch:
		return c.batch(header, body)
	}
	return nil
}

// maxDepth is how deep fields may be nested. Who walks them does so recursively.
const maxDepth = 500

// fields checks the vectors of fields and of metadata in the given slots.
func (c *checker) fields(t flatbuffers.Table, fields, metadata, depth int) error {
	if depth == 0 {
		return fmt.Errorf("fields are nested in more than %d others", maxDepth)
	}
	if _, _, err := c.vector(t, metadata, 4); err != nil {
		return err
	}
	n, start, err := c.vector(t, fields, 4)
	if err != nil {
		return err
	}
	if c.tables -= n; c.tables < 0 { // several may share their children
		return errors.New("more fields than there are bytes")
	}
	for i := range n {
		f := flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(start + flatbuffers.UOffsetT(4*i))}
		if inner, ok := at(f, 3); ok && f.GetByteSlot(4+2*2, 0) == typeUnion {
			if _, _, err := c.vector(inner, 1, 4); err != nil {
				return err
			}
		}
		if err := c.fields(f, 5, 6, depth-1); err != nil {
			return err
		}
	}
	return nil
}

// batch checks a record batch.
func (c *checker) batch(t flatbuffers.Table, body []byte) error {
	nodes, node, err := c.vector(t, 1, 16)
	if err != nil {
		return err
	}
	buffers, buffer, err := c.vector(t, 2, 16)
	if err != nil {
		return err
	}
	if _, _, err := c.vector(t, 4, 8); err != nil {
		return err
	}
	_, compressed := at(t, 3)
	total := int64(0)
	for i := range buffers {
		from := t.GetInt64(buffer + flatbuffers.UOffsetT(16*i))
		n := t.GetInt64(buffer + flatbuffers.UOffsetT(16*i+8))
		if from < 0 || n < 0 || from > int64(len(body))-n {
			return fmt.Errorf("a buffer of %d bytes at offset %d in a body of %d", n, from, len(body))
		}
		if compressed && n >= 8 {
			if raw := int64(binary.LittleEndian.Uint64(body[from:])); raw >= 0 {
				n = raw
			}
		}
		total += min(n, 1<<50)
	}
	if most := int64(len(body))*guard.Ratio + 1<<20; total > most {
		return fmt.Errorf("a body of %d bytes for buffers of %d bytes", len(body), total)
	}
	for i := range nodes {
		// Arrays of null or of runs may have any number of values, but a record batch as many
		// as its other columns.
		if n := t.GetInt64(node + flatbuffers.UOffsetT(16*i)); n < 0 || n > 8*total && n > 1<<20 {
			return fmt.Errorf("an array of %d values in %d bytes", n, total)
		}
	}
	return nil
}
