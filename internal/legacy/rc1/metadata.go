package rc1

import "github.com/go-rntuple/go-rntuple/frame"

// MetaData is an envelope with user meta-data. A key that occurs several times has
// several versions of its value, numbered from 0.
type MetaData struct {
	Pairs     []KeyValue
	ListExtra []byte
	Extra     []byte
}

// ParseMetaData reads a user meta-data envelope.
func ParseMetaData(b []byte) (*MetaData, error) {
	m := new(MetaData)
	return m, parse(b, "meta-data", m.Wire)
}

// Wire describes user meta-data. Document: "User Meta-data Envelope".
func (m *MetaData) Wire(c *frame.Codec) {
	records(c, "pairs", 12, &m.Pairs, &m.ListExtra, (*KeyValue).Wire)
	c.Rest(&m.Extra)
}

// Types of values. A list has the negated type of its items.
const (
	TypeInt    = 0x01
	TypeBool   = 0x02
	TypeDouble = 0x03
	TypeString = 0x04
)

// A KeyValue is a key with a value or a list of values, held by the slice for its
// type. Values of unknown types are left in Extra.
type KeyValue struct {
	Type      int32
	Key       string // namespaces end in dots; "ROOT." is ROOT's
	Ints      []int64
	Bools     []uint8 // 0 is false
	Doubles   []float64
	Strings   []string
	ListExtra []byte
	Extra     []byte
}

// Wire describes a pair of key and value.
func (k *KeyValue) Wire(c *frame.Codec) {
	record(c, "pair", &k.Extra, func() {
		frame.Int(c, "type", &k.Type)
		c.String("key", &k.Key)
		switch max(k.Type, -k.Type) {
		case TypeInt:
			values(c, k, 8, &k.Ints, func(v *int64, c *frame.Codec) { frame.Int(c, "value", v) })
		case TypeBool:
			values(c, k, 1, &k.Bools, func(v *uint8, c *frame.Codec) { frame.Int(c, "value", v) })
		case TypeDouble:
			values(c, k, 8, &k.Doubles, func(v *float64, c *frame.Codec) { c.Float64("value", v) })
		case TypeString:
			values(c, k, 4, &k.Strings, func(v *string, c *frame.Codec) { c.String("value", v) })
		}
	})
}

// values describes a value, or a list of values that take at least least bytes
// each.
func values[T any](c *frame.Codec, k *KeyValue, least int, v *[]T, value func(*T, *frame.Codec)) {
	if k.Type < 0 {
		records(c, "list", least, v, &k.ListExtra, value)
		return
	}
	if !c.Writing() {
		*v = make([]T, 1)
	}
	value(&(*v)[0], c)
}
