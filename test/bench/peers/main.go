package main

import (
	"fmt"
	"runtime"
	"strconv"

	"github.com/go-rntuple/go-rntuple/test/bench/work"
)

func main() { work.Main(run) }

func run(args []string) error {
	if len(args) != 4 {
		return fmt.Errorf("want four arguments, got %q", args)
	}
	file := args[2]
	switch args[0] + " " + args[1] {
	case "parquet F":
		return convert[work.F](file, args[3])
	case "parquet J":
		return convert[work.J](file, args[3])
	case "parquet nested":
		n, err := strconv.Atoi(file)
		if err != nil {
			return err
		}
		return nested(args[3], n)
	}

	threads, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(threads)
	serve := func(read func(string, int) ([]uint64, error)) error {
		return work.Serve("", func() ([]uint64, error) { return read(file, threads) })
	}
	switch args[0] + " " + args[1] {
	case "columns F":
		return serve(columns[work.F])
	case "columns J":
		return serve(columns[work.J])
	case "rows F":
		return serve(rows[work.F])
	case "rows J":
		return serve(rows[work.J])
	case "records F":
		return serve(records[work.F])
	case "records J":
		return serve(records[work.J])
	case "tree F":
		return serve(tree[work.F])
	case "tree J":
		return serve(tree[work.J])
	}
	return fmt.Errorf("unknown work: %q", args)
}
