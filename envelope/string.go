package envelope

import (
	"fmt"
	"strings"
)

// String says in a line what the header holds.
func (h *Header) String() string {
	return fmt.Sprintf("header of %q by %q: %s", h.Name, h.Writer, h.Schema.counts())
}

// String says in a line what the footer holds.
func (f *Footer) String() string {
	text := "footer: " + count(len(f.ClusterGroups), "cluster group")
	if f.Extension != nil {
		text += "; schema extension: " + f.Extension.counts()
	}
	if n := len(f.AttributeSets); n > 0 {
		text += "; " + count(n, "attribute set")
	}
	return text
}

// String says in a line what the page list holds.
func (p *PageList) String() string {
	pages := 0
	for _, cluster := range p.Pages {
		for _, column := range cluster.Columns {
			pages += len(column.Pages)
		}
	}
	return fmt.Sprintf("page list: %s, %s", count(len(p.Clusters), "cluster"), count(pages, "page"))
}

func (s *Schema) counts() string {
	parts := []string{count(len(s.Fields), "field"), count(len(s.Columns), "column")}
	if n := len(s.Aliases); n > 0 {
		parts = append(parts, count(n, "alias column"))
	}
	if n := len(s.ExtraTypes); n > 0 {
		parts = append(parts, count(n, "extra type"))
	}
	return strings.Join(parts, ", ")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
