package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// Layout returns the differences in the storage of two RNTuples: the format, the clusters and their
// boundaries, and, for fields in both, the encoding, compression, pages and sizes of their columns.
// It reads only metadata, and ignores all options except Only.
func Layout(a, b *rntuple.Reader, o *Options) ([]Difference, error) {
	options, err := o.check()
	if err != nil {
		return nil, err
	}
	x, y, err := both(a, b, func(r *rntuple.Reader) (*rntuple.Inspection, error) { return r.Inspect(nil) })
	if err != nil {
		return nil, err
	}
	d := &differences{}
	d.add("", "format", a.FormatVersion(), b.FormatVersion())
	d.add("", "written by", a.Schema().Writer, b.Schema().Writer)
	d.add("", "bytes", x.Disk(), y.Disk())
	d.add("", "cluster groups", x.ClusterGroups, y.ClusterGroups)
	d.add("", "clusters", x.Clusters, y.Clusters)
	if err := d.borders(a, b); err != nil {
		return nil, err
	}
	var walk func(f, g []*schema.Field)
	walk = func(f, g []*schema.Field) {
		others := byName(g)
		for _, one := range f {
			if other := others[one.Name]; other != nil {
				d.columns(one, other, x, y)
				walk(one.Children, other.Children)
			}
		}
	}
	walk(a.Schema().Fields, b.Schema().Fields)
	return slices.DeleteFunc(d.all, options.uncovered), nil
}

// both returns what get returns for a and for b.
func both[T any](a, b *rntuple.Reader, get func(*rntuple.Reader) (T, error)) (x, y T, err error) {
	if x, err = get(a); err == nil {
		y, err = get(b)
	}
	return x, y, err
}

// borders adds the first cluster that does not have the same entries in both.
func (d *differences) borders(a, b *rntuple.Reader) error {
	x, y, err := both(a, b, (*rntuple.Reader).Clusters)
	if err != nil {
		return err
	}
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			d.add("", fmt.Sprintf("end of cluster %d", i), x[i].End, y[i].End)
			return nil
		}
	}
	return nil
}

// columns compares the columns of a field.
func (d *differences) columns(f, g *schema.Field, x, y *rntuple.Inspection) {
	if f.Source != nil || g.Source != nil {
		return
	}
	path := f.Path()
	d.add(path, "encoding", encodings(f), encodings(g))
	if f.Extended != g.Extended {
		d.add(path, "added late", f.Extended, g.Extended)
	}
	if len(f.Columns) == 0 || len(g.Columns) == 0 {
		return
	}
	u, v := own(f, x), own(g, y)
	d.add(path, "compression", u.compression, v.compression)
	d.add(path, "pages", u.Pages, v.Pages)
	d.add(path, "bytes", u.OwnDisk(), v.OwnDisk())
	d.add(path, "elements", u.Elements, v.Elements)
}

// encodings describes the columns of a field, by representation.
func encodings(f *schema.Field) string {
	var all []string
	for _, representation := range f.Columns {
		var some []string
		for _, c := range representation {
			text := c.Type.String()
			if format := c.Format(); format.Min != 0 || format.Max != 0 {
				text += fmt.Sprintf("[%g, %g]", c.Min, c.Max)
			}
			some = append(some, fmt.Sprintf("%s (%d)", text, c.Bits))
		}
		all = append(all, strings.Join(some, " "))
	}
	return strings.Join(all, " | ")
}

// ownColumns are the columns of a field taken together.
type ownColumns struct {
	rntuple.Storage
	compression string
}

// own returns the sum over the columns of a field, without those of the fields below it.
func own(f *schema.Field, i *rntuple.Inspection) (sum ownColumns) {
	var settings []string
	for _, c := range slices.Concat(f.Columns...) {
		one := i.Columns[c.ID]
		sum.Add(one.Storage)
		for _, s := range one.Compression {
			if !slices.Contains(settings, s.String()) {
				settings = append(settings, s.String())
			}
		}
	}
	sum.compression = strings.Join(settings, ", ")
	return sum
}
