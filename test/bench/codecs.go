package main

import (
	"cmp"
	"fmt"
	"io"
)

// pageKinds lists the kinds of pages with which codecs are measured, and the data
// sets of their values; see go/codecs.go.
var pageKinds = []struct{ name, data, description string }{
	{"momenta", "F", "doubles with the precision of floats, split"},
	{"probabilities", "F", "the same, many of them 0"},
	{"charges", "F", "integers -1 and 1, split"},
	{"truncated", "J", "floats with truncated mantissas, split"},
	{"counts", "J", "small integers, split"},
	{"offsets", "J", "ends of collections, split, differences"},
	{"booleans", "J", "bits"},
	{"events", "J", "event numbers, split"},
	{"text", "S", "identifiers"},
}

// pageCodecs lists the codecs that are measured with pages. The C library makes the
// pages that are decoded.
var pageCodecs = []struct {
	name, settings   string
	decoder, encoder string // libraries in place of our codec
	native           string // the C library
}{
	{"zstd", "505", "klauspost", "klauspost", "libzstd"},
	{"zlib", "101", "klauspost", "Go", "zlib"},
	{"lz4", "404", "pierrec", "pierrec", "liblz4"},
	{"lz4", "405", "pierrec", "pierrec", "liblz4"},
	{"lzma", "207", "ulikunitz", "ulikunitz", "liblzma"},
}

// pageRow returns the row for work on pages of a kind.
func pageRow(work, settings, kind string) row {
	r := row{
		name: work + " " + settings + ", " + kind, work: work, data: kind, file: kind + "-" + settings + ".pages", cpu: true,
		rivals: []rival{
			{name: "libraries", program: stock, work: work, goals: []ratio{0}},
			{name: "C", program: native, work: work, goals: []ratio{0}},
		},
	}
	if work == "encode" {
		r.data = settings
	}
	return r
}

// worthwhile is the factor by which a codec of ours must speed up whole programs.
const worthwhile = 1.3

// codecRows returns the rows for pages, and for whole files, with our codecs and
// with those of libraries. All of them measure processor time, which other programs
// disturb less than elapsed time.
func codecRows() []row {
	var table []row
	whole := func(name, work, settings, compression string, sets ...string) {
		for _, data := range sets {
			table = append(table, row{
				name: name + ", " + data + " " + cmp.Or(compression, settings), work: work, data: data, cpu: true,
				file: data + "-" + settings + ".root", compression: compression,
				rivals: []rival{{name: "libraries", program: stock, work: work, goals: []ratio{worthwhile}}},
			})
		}
	}
	whole("all columns", "bulk", "505", "", "F", "J")
	whole("all columns", "bulk", "101", "", "F", "J")
	whole("all columns", "bulk", "207", "", "J")
	whole("writing columns", "write", "505", "501", "F", "J")
	whole("writing columns", "write", "505", "505", "F", "J")
	for _, c := range pageCodecs {
		for _, kind := range pageKinds {
			table = append(table, pageRow("decode", c.settings, kind.name), pageRow("encode", c.settings, kind.name))
		}
	}
	return table
}

// printCodecs prints a table for each codec: the speed of ours, and how many times
// as long others take.
func (r *Report) printCodecs(w io.Writer) {
	rows := map[string]*Measurement{}
	for _, m := range r.Measurements {
		rows[m.Row] = m
	}
	for _, c := range pageCodecs {
		fmt.Fprintf(w, "\n| %s %s | decode, MB/s | %s | %s | encode, MB/s | %s | %s | size to %s's | %s's |\n|---|---|---|---|---|---|---|---|---|\n",
			c.name, c.settings, c.decoder, c.native, c.encoder, c.native, c.native, c.encoder)
		for _, kind := range pageKinds {
			decode, encode := rows["decode "+c.settings+", "+kind.name], rows["encode "+c.settings+", "+kind.name]
			if decode == nil || encode == nil {
				continue
			}
			size := float64(encode.Rivals[1].FileSize)
			fmt.Fprintf(w, "| %s | %.0f | %.2f | %.2f | %.0f | %.2f | %.2f | %.3f | %.3f |\n", kind.name,
				decode.speed(), decode.Rivals[0].Ratio, decode.Rivals[1].Ratio,
				encode.speed(), encode.Rivals[0].Ratio, encode.Rivals[1].Ratio,
				float64(encode.Ours.FileSize)/size, float64(encode.Rivals[0].FileSize)/size)
		}
	}
	fmt.Fprintln(w, "\n| end to end | ours, s | libraries, s | ratio | size of theirs to ours |\n|---|---|---|---|---|")
	for _, m := range r.Measurements {
		if len(m.Rivals) != 1 {
			continue
		}
		size := ""
		if m.Ours.FileSize > 0 {
			size = fmt.Sprintf("%.3f", float64(m.Rivals[0].FileSize)/float64(m.Ours.FileSize))
		}
		fmt.Fprintf(w, "| %s | %s | %s | %.2f | %s |\n", m.Row, &m.Ours, &m.Rivals[0], m.Rivals[0].Ratio, size)
	}
}

// speed returns the speed of our codec in megabytes of pages per second.
func (m *Measurement) speed() float64 { return float64(m.Bytes) / 1e6 / m.Ours.Median }

// makePages returns the command that makes a file of pages:
//
//	momenta.raw          the pages of a kind
//	momenta-505.pages    the same, and their compressed form by the C library
func (w *workshop) makePages(kind, settings string) ([]string, error) {
	if settings != "" {
		raw, err := w.path(kind + ".raw")
		return w.command(native, "pages", raw, settings), err
	}
	for _, k := range pageKinds {
		if k.name == kind {
			source, err := w.path(k.data + "-505.root")
			return w.command(ours, "pages", kind, source), err
		}
	}
	return nil, fmt.Errorf("unknown kind of pages: %q", kind)
}
