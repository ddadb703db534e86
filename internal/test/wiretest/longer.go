package wiretest

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

// Longer checks that bytes after the known members are kept, in every frame of v:
// it fills all byte slices whose names end in "Extra", one after the other. It is
// for frames that Codec.Extra does not find.
func Longer[T any](t *testing.T, c Codec[*T], v *T) {
	t.Helper()
	n := 0
	each(reflect.ValueOf(v).Elem(), "", func(extra reflect.Value, path string) {
		for _, more := range [][]byte{{0xee}, make([]byte, 300)} {
			n++
			was := extra.Bytes()
			extra.SetBytes(more)
			b, err := c.Append(nil, v)
			if err != nil {
				t.Errorf("%s%s: %v", c.Name, path, err)
			} else if got, _, err := c.Parse(b); err != nil {
				t.Errorf("%s%s: %v", c.Name, path, err)
			} else if again, err := c.Append(nil, got); err != nil || !bytes.Equal(again, b) || !reflect.DeepEqual(got, v) {
				t.Errorf("%s%s: %v, got %+v, want %+v", c.Name, path, err, got, v)
			}
			extra.SetBytes(was)
		}
	})
	if n == 0 {
		t.Errorf("%s: no member has a name that ends in Extra", c.Name)
	}
}

// each calls visit for all members of v whose names end in "Extra".
func each(v reflect.Value, path string, visit func(extra reflect.Value, path string)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if strings.HasSuffix(f.Name, "Extra") && f.Type.Kind() == reflect.Slice {
				visit(v.Field(i), path+"."+f.Name)
			} else if strings.HasSuffix(f.Name, "Extra") {
				for j := range v.Field(i).Len() {
					visit(v.Field(i).Index(j), path+"."+f.Name)
				}
			} else {
				each(v.Field(i), path+"."+f.Name, visit)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			each(v.Index(i), path+"[]", visit)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			each(v.Elem(), path, visit)
		}
	}
}
