package main

import (
	"cmp"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/test/bench/work"
)

func main() { work.Main(run) }

func run(args []string) error {
	if len(args) < 4 {
		return fmt.Errorf("too few arguments: %q", args)
	}
	file := args[2]
	if args[0] == "pages" {
		return writePages(args[1], file, args[3])
	}
	threads, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(threads)
	read := func(work func(string, int) ([]uint64, error)) func() ([]uint64, error) {
		return func() ([]uint64, error) { return work(file, threads) }
	}
	switch args[0] {
	case "decode":
		return decodePages(file)
	case "encode":
		settings, err := strconv.Atoi(args[1])
		if err != nil {
			return err
		}
		return encodePages(compress.Settings(settings), file)
	}
	if name, ok := strings.CutPrefix(args[0], "expression-"); ok {
		return work.Serve("", read(count(name)))
	}
	switch args[0] + " " + args[1] {
	case "bulk F":
		return work.Serve("", read(bulk[work.F]))
	case "bulk J":
		return work.Serve("", read(bulk[work.J]))
	case "entries F":
		return work.Serve("", read(entries[work.F](nil)))
	case "entries J":
		return work.Serve("", read(entries[work.J](nil)))
	case "entries S":
		return work.Serve("", read(entries[work.S](nil)))
	case "maps S":
		return work.Serve("", read(entries[work.SMap](nil)))
	case "views F":
		return work.Serve("", read(views))
	case "reuse J":
		return work.Serve("", read(entries[work.J](&rntuple.EntriesOptions{Reuse: true})))
	case "batches J":
		return work.Serve("", read(batches))
	case "arrow F", "arrow J":
		return work.Serve("", read(arrowRecords))
	case "loop J":
		return work.Serve("", read(dimuonLoop(nil)))
	case "reuseloop J":
		return work.Serve("", read(dimuonLoop(&rntuple.EntriesOptions{Reuse: true})))
	case "dimuon J":
		return work.Serve("", read(dimuon))
	case "histogram J":
		return work.Serve("", read(histogram))
	case "random F":
		return work.Serve("", read(random))
	case "open wide":
		return work.Serve("", read(openWide))
	}

	if len(args) < 6 {
		return fmt.Errorf("unknown work: %q", args)
	}
	settings, err := strconv.Atoi(args[4])
	if err != nil {
		return err
	}
	compression := cmp.Or(compress.Settings(settings), compress.None)
	output := args[5]
	write := func(w writer, err error) error {
		if err != nil {
			return err
		}
		return work.Serve(output, func() ([]uint64, error) { return nil, w.write(output, threads, compression) })
	}
	if limit, ok := strings.CutPrefix(args[0], "skim-"); ok && args[1] == "J" {
		met, err := strconv.ParseFloat(limit, 32)
		if err != nil {
			return err
		}
		return work.Serve(output, func() ([]uint64, error) { return nil, skim(file, output, float32(met), compression) })
	}
	if args[0] == "convert" {
		return work.Serve(output, func() ([]uint64, error) { return nil, convert(file, output, threads, settings) })
	}
	switch args[0] + " " + args[1] {
	case "write F":
		return write(newColumnWriter[work.F](file))
	case "write J":
		return write(newColumnWriter[work.J](file))
	case "writerows F":
		return write(newRowWriter[work.F](file))
	case "writerows J":
		return write(newRowWriter[work.J](file))
	case "fillrows F":
		return write(newFillWriter[work.F](file))
	case "fillrows J":
		return write(newFillWriter[work.J](file))
	}
	return fmt.Errorf("unknown work: %q", args)
}
