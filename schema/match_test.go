package schema

import (
	"errors"
	"path"
	"testing"

	"github.com/go-rntuple/go-rntuple/envelope"
)

func TestMatch(t *testing.T) {
	named := func(name string, parent *Field) *Field {
		f := &Field{Parent: parent}
		f.Name = name
		return f
	}
	top := named("event", nil)
	list := named("tracks", top)
	list.Role = envelope.RoleCollection
	item := named("_0", list)
	leaf := named("pt", item)
	for _, c := range []struct {
		pattern string
		field   *Field
		want    bool
	}{
		{"event", top, true},
		{"ev*", top, true},
		{"ev*", list, false}, // a star stops at a dot
		{"event.*", list, true},
		{"event.tracks._0.pt", leaf, true},
		{"event.tracks.pt", leaf, true},
		{"event.*.p[a-t]", leaf, true},
		{"event.pt", leaf, false},
		{"event.tracks", item, false},
	} {
		if got, err := Match(c.pattern, c.field); got != c.want || err != nil {
			t.Errorf("%q, %s: %v, %v", c.pattern, c.field.Path(), got, err)
		}
	}
	if _, err := Match("event.[a", leaf); !errors.Is(err, path.ErrBadPattern) {
		t.Errorf("a malformed pattern: %v", err)
	}
}
