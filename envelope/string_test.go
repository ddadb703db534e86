package envelope_test

import (
	"fmt"
	"testing"

	"github.com/go-rntuple/go-rntuple/envelope"
)

func TestStrings(t *testing.T) {
	schema := envelope.Schema{
		Fields: make([]envelope.Field, 3), Columns: make([]envelope.Column, 2),
		Aliases: make([]envelope.Alias, 1), ExtraTypes: make([]envelope.ExtraTypeInfo, 2),
	}
	for _, test := range []struct {
		record fmt.Stringer
		want   string
	}{
		{&envelope.Header{Name: "n", Writer: "w", Schema: schema},
			`header of "n" by "w": 3 fields, 2 columns, 1 alias column, 2 extra types`},
		{&envelope.Footer{}, "footer: 0 cluster groups"},
		{&envelope.Footer{Extension: &schema, ClusterGroups: make([]envelope.ClusterGroup, 1),
			AttributeSets: make([]envelope.AttributeSet, 1)},
			"footer: 1 cluster group; schema extension: 3 fields, 2 columns, 1 alias column, 2 extra types; 1 attribute set"},
		{&envelope.PageList{Clusters: make([]envelope.Cluster, 2), Pages: []envelope.ClusterPages{
			{Columns: []envelope.ColumnPages{{Pages: make([]envelope.Page, 2)}, {Pages: make([]envelope.Page, 1)}}}, {}}},
			"page list: 2 clusters, 3 pages"},
	} {
		if got := test.record.String(); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
