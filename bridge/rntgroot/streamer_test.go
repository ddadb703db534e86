package rntgroot

import (
	"encoding/binary"
	"reflect"
	"testing"
)

// TestBasketSeek reads positions of baskets as versions of TBranch have them (ROOT:
// TBranch::Streamer).
func TestBasketSeek(t *testing.T) {
	for _, c := range []struct {
		version uint16
		present byte
		want    any
	}{
		{9, 0, []any{}},
		{9, 1, []any{int32(7), int32(-1)}},
		{9, 2, []any{int64(7), int64(-1)}},
		{10, 1, []any{int64(7), int64(-1)}},
	} {
		all := classes{}
		all.add(&class{name: "TBranch", version: int32(c.version),
			names: []string{"fMaxBaskets", "fBasketSeek"}, members: []member{
				{kind: "TStreamerBasicType", name: "fMaxBaskets", code: codeCounter},
				{kind: "TStreamerBasicPointer", name: "fBasketSeek", code: codeLong64 + atLength, counter: "fMaxBaskets"},
			}})
		body := append(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(nil, c.version), 2), c.present)
		for _, v := range c.want.([]any) {
			body, _ = binary.Append(body, binary.BigEndian, v)
		}
		s := newStream(all, append(binary.BigEndian.AppendUint32(nil, 1<<30|uint32(len(body))), body...), "branch")
		s.plain = true
		o := s.object("TBranch", -1).(*Object)
		if got := o.member("fBasketSeek"); s.c.Err() != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("version %d, %d: %v, %v, want %v", c.version, c.present, got, s.c.Err(), c.want)
		}
	}
}
