package main

import (
	"fmt"
	"slices"
)

// A program does the pieces of work that cpp/bench.cpp describes.
type program int

const (
	ours program = iota
	root
	peers
	uproot
	pyarrow
	stock   // ours, with the codecs of libraries
	native  // the codecs of C libraries
	earlier // ours, of another checkout
)

// A row of the table compares our program with others for one piece of work.
type row struct {
	name        string
	work        string  // of ours
	data        string  // F, J, S or wide
	program     program // that does our work: ours, or another one that starts our tool
	file        string  // that is read
	values      string  // an RNTuple with the values of that file, if it is none itself
	compression string  // of the file that is written, if one is
	suffix      string  // of its name, if it is not .root
	tool        string  // arguments of the tool that does the work, if it is what uses the memory
	part        bool    // that file has only a part of the entries
	cpu         bool    // measure processor time
	scaling     ratio   // goal for the ratio of our time with one thread to that with two, if there is one
	rivals      []rival
}

// A rival is another program that does the same work.
type rival struct {
	name    string
	program program
	work    string
	file    string  // that is read, if not the row's
	goals   []ratio // for one thread, and for two; without a goal it is not measured
	threads int     // with which it is measured where the row has two, if not with as many
}

// A ratio of our speed to that of others; as a goal, 0 stands for none.
type ratio = float64

// rows returns the table.
func rows() []row {
	var table []row
	add := func(r row) { table = append(table, r) }
	codecs := []struct{ name, settings string }{
		{"zstd", "505"}, {"lz4", "404"}, {"uncompressed", "0"}, {"zlib", "101"}, {"lzma", "207"},
	}

	reading := map[string][]ratio{
		"F505": {2.3, 2.6}, "J505": {2.3, 2.0},
		"F404": {3.5, 4.5}, "J404": {4.2, 4.0},
		"F0": {2.4, 3.5}, "J0": {4.0, 4.0},
		"F101": {1.6, 1.8}, "J101": {1.6, 1.8},
		"J207": {1, 1},
	}
	for _, codec := range codecs {
		for _, data := range []string{"F", "J"} {
			goals := reading[data+codec.settings]
			if goals == nil {
				continue
			}
			r := row{
				name: "all columns, " + data + " " + codec.name, work: "bulk", data: data,
				file:   data + "-" + codec.settings + ".root",
				rivals: []rival{{name: "ROOT bulk", program: root, work: "bulk", goals: goals}},
			}
			if codec.name == "zstd" {
				r.rivals = append(r.rivals,
					rival{name: "uproot", program: uproot, work: "bulk", goals: []ratio{0}},
					rival{name: "parquet-go columns", program: peers, work: "columns", file: data + ".parquet", goals: []ratio{3, 3}},
					rival{name: "arrow-go records", program: peers, work: "records", file: data + ".parquet", goals: []ratio{4, 6}},
					rival{name: "one thread", program: ours, work: "bulk", goals: []ratio{0, 1.7}, threads: 1})
			}
			add(r)
		}
	}

	add(row{
		name: "batches of all fields, J zstd", work: "batches", data: "J", file: "J-505.root",
		rivals: []rival{
			{name: "ROOT bulk", program: root, work: "bulk", goals: []ratio{2.3, 4}},
			{name: "uproot", program: uproot, work: "bulk", goals: []ratio{4}},
			{name: "our columns", program: ours, work: "bulk", goals: []ratio{0, 0}},
		},
	})

	for i, goals := range [][]ratio{{2.2, 3.0}, {3.5, 5.0}} {
		data := []string{"F", "J"}[i]
		add(row{
			name: "entries into structs, " + data + " zstd", work: "entries", data: data, file: data + "-505.root",
			rivals: []rival{
				{name: "ROOT entry loop", program: root, work: "entries", goals: goals},
				{name: "parquet-go rows", program: peers, work: "rows", file: data + ".parquet", goals: []ratio{10, 10}},
				{name: "groot, TTree", program: peers, work: "tree", file: data + "-tree.root", goals: []ratio{4}},
			},
		})
	}
	add(row{
		name: "entries with Reuse, J zstd", work: "reuse", data: "J", file: "J-505.root",
		rivals: []rival{{name: "our columns", program: ours, work: "bulk", goals: []ratio{0.75, 0.75}}},
	})
	add(row{
		name: "entries into structs, S zstd", work: "entries", data: "S", file: "S-505.root",
		rivals: []rival{
			{name: "ROOT entry loop", program: root, work: "entries", goals: []ratio{3, 4}},
			{name: "uproot", program: uproot, work: "bulk", goals: []ratio{1.5}},
		},
	})
	add(row{
		name: "the same with Go maps", work: "maps", data: "S", file: "S-505.root",
		rivals: []rival{{name: "ROOT entry loop", program: root, work: "entries", goals: []ratio{0, 0}}},
	})
	add(row{
		name: "4 of 26 columns, F zstd", work: "views", data: "F", file: "F-505.root",
		rivals: []rival{{name: "ROOT direct views", program: root, work: "views", goals: []ratio{1.7, 2.0}}},
	})
	add(row{
		name: "dimuon mass, 4 of 60 fields, J zstd", work: "dimuon", data: "J", file: "J-505.root",
		rivals: []rival{
			{name: "ROOT RVec views", program: root, work: "dimuon", goals: []ratio{2.2, 2.5}},
			{name: "uproot", program: uproot, work: "dimuon", goals: []ratio{3}},
		},
	})
	for _, codec := range []struct {
		name, settings string
		goals          []ratio
	}{{"zstd", "505", []ratio{2.2, 2.5}}, {"zlib", "101", []ratio{1.5, 1.8}}} {
		for _, loop := range []struct{ name, work string }{{"", "loop"}, {" with Reuse", "reuseloop"}} {
			add(row{
				name: "dimuon mass, loop over structs" + loop.name + ", J " + codec.name, work: loop.work, data: "J",
				file:   "J-" + codec.settings + ".root",
				rivals: []rival{{name: "ROOT RVec views", program: root, work: "dimuon", goals: codec.goals}},
			})
		}
	}
	add(row{
		name: "histogram with a condition on jagged fields, J zstd", work: "histogram", data: "J", file: "J-505.root",
		rivals: []rival{{name: "RDataFrame, compiled", program: root, work: "histogram", goals: []ratio{4, 5}}},
	})
	for _, name := range []string{"flat", "arithmetic", "count", "masked-sum", "max", "argmax", "sort", "pair-mass",
		"combinations", "broadcast"} {
		add(row{
			name: "expression, " + name + ", J uncompressed", work: "expression-" + name, data: "J", file: "J-0.root",
			rivals: []rival{
				{name: "uproot, NumPy and Awkward Array", program: uproot, work: "expression-" + name, goals: []ratio{3}},
				{name: "the same, of arrays in memory", program: uproot, work: "expression-memory-" + name, goals: []ratio{0}},
			},
		})
	}

	scaling := map[string]ratio{"505": 1.7}
	writing := map[string][]ratio{"505": {4, 4}, "404": {5, 5}, "0": {2.5, 1.5}}
	for _, codec := range codecs[:3] {
		for _, data := range []string{"F", "J"} {
			add(row{
				name: "writing columns, " + data + " " + codec.name, work: "write", data: data, file: data + "-505.root",
				compression: codec.settings,
				scaling:     scaling[codec.settings],
				rivals:      []rival{{name: "ROOT writer", program: root, work: "write", goals: writing[codec.settings]}},
			})
		}
	}
	for _, data := range []string{"F", "J"} {
		add(row{
			name: "writing structs, " + data + " zstd", work: "writerows", data: data,
			file: data + "-505.root", compression: "505",
			rivals: []rival{{name: "ROOT writer", program: root, work: "write", goals: []ratio{4, 4}}},
		})
		add(row{
			name: "writing structs from goroutines, " + data + " zstd", work: "fillrows", data: data,
			file: data + "-505.root", compression: "505",
			rivals: []rival{{name: "ROOT parallel writer", program: root, work: "write", goals: []ratio{0, 4.5}}},
		})
	}

	for _, skim := range []struct {
		survivors, met string
		goal           ratio
	}{{"0.7", "149", 6}, {"2.6", "109.5", 6}, {"60", "15.3", 4.5}} {
		add(row{
			name: "skim, " + skim.survivors + " % of the entries, J zstd", work: "skim-" + skim.met, data: "J",
			file: "J-505.root", compression: "505", part: true,
			rivals: []rival{{name: "RDataFrame Snapshot", program: root, work: "skim-" + skim.met,
				goals: []ratio{skim.goal, skim.goal}}},
		})
	}

	add(row{
		name: "10,000 single entries, F zstd", work: "random", data: "F", file: "F-505.root",
		rivals: []rival{{name: "ROOT view", program: root, work: "random", goals: []ratio{2}}},
	})
	add(row{
		name: "opening, many fields and clusters", work: "open", data: "wide", file: "wide.root",
		rivals: []rival{{name: "ROOT", program: root, work: "open", goals: []ratio{2.5}}},
	})
	add(row{
		name: "opening, many fields", work: "open", data: "wide", file: "wide-flat.root",
		rivals: []rival{
			{name: "ROOT", program: root, work: "open", goals: []ratio{2.5}},
			{name: "uproot", program: uproot, work: "open", goals: []ratio{10}},
		},
	})
	return table
}

// measuredWith reports whether a row has rivals with the given number of threads.
func (r row) measuredWith(threads int) bool {
	return slices.ContainsFunc(r.rivals, func(rival rival) bool { return rival.measuredWith(threads) })
}

// measuredWith reports whether the rival is measured in a row with the given number of threads.
func (r rival) measuredWith(threads int) bool {
	return len(r.goals) >= threads && (r.threads == 0 || threads == 2)
}

// scalingRows returns rows of three sizes each: entries, fields and clusters.
func (w *workshop) scalingRows() []row {
	var table []row
	for _, part := range []int{4, 2, 1} {
		n := w.entries["F"] / part
		r := row{
			name: fmt.Sprintf("all columns, %d entries of F, zstd", n), work: "bulk", data: "F",
			file:   fmt.Sprintf("F-505-%d.root", n),
			rivals: []rival{{name: "ROOT bulk", program: root, work: "bulk", goals: []ratio{0}}},
		}
		table = append(table, r)
		r.name = fmt.Sprintf("writing columns, %d entries of F, zstd", n)
		r.work, r.compression = "write", "505"
		r.rivals = []rival{{name: "ROOT writer", program: root, work: "write", goals: []ratio{0}}}
		table = append(table, r)
	}
	open := func(fields, clusters int) {
		table = append(table, row{
			name: fmt.Sprintf("opening, %d fields, %d clusters", fields, clusters),
			work: "open", data: "wide", file: fmt.Sprintf("wide-%d-%d.root", fields, clusters),
			rivals: []rival{{name: "ROOT", program: root, work: "open", goals: []ratio{0}}},
		})
	}
	for _, part := range []int{4, 2, 1} {
		open(w.fields/part, w.clusters/10)
	}
	for _, part := range []int{4, 2, 1} {
		open(w.fields/10, w.clusters/part)
	}
	return table
}
