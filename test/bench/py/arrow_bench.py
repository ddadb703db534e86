"""What pyarrow does for the benchmarks, with our tool or without; see ../cpp/bench.cpp.

arrow_bench.py RNT stream|arrays F|J FILE THREADS
    the RNTuple as a table, by "rnt arrow", or by uproot and awkward
arrow_bench.py RNT parquet F|J FILE THREADS
    the sums of a Parquet file
arrow_bench.py RNT write|split|rewrite F|J FILE THREADS COMPRESSION OUTPUT
    a Parquet file of a table in memory; split: with the bytes of floats split, as we do it; rewrite: of a table that
    uproot and awkward read each time
"""
import functools
import json
import os
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

ITEM = 1 << 32  # what an item of a collection adds to a sum
MASK = (1 << 64) - 1


def sum_of(array):
    """The sum of the bits of all values, and of what lists count."""
    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        items = array.flatten()
        return ITEM * len(items) + sum_of(items)
    if pa.types.is_boolean(array.type):
        return array.true_count
    words = array.to_numpy()
    return int(words.view(f"u{words.dtype.itemsize}").sum(dtype=np.uint64))


def sums_of(table):
    return [sum(sum_of(chunk) for chunk in column.chunks) & MASK for column in table.columns]


def stream(rnt, path, threads):
    command = [rnt, "arrow", "--quiet", "--jobs", str(threads), path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, pipesize=1 << 20) as tool:
        with pa.ipc.open_stream(tool.stdout) as reader:
            table = reader.read_all()
    if tool.returncode != 0:
        raise RuntimeError(f"{command} failed")
    return table


def arrays(path):
    import awkward as ak
    import uproot

    with uproot.open(path) as file:
        return ak.to_arrow_table(file["Events"].arrays(), extensionarray=False)


def floats(field, path):
    """The paths of the columns of floating-point numbers, and those of others, in Parquet."""
    if pa.types.is_large_list(field.type):
        return floats(field.type.value_field, path + ".list.element")
    return ([path], []) if pa.types.is_floating(field.type) else ([], [path])


def split(schema):
    """Options of write_table that split the bytes of floating-point numbers."""
    paths = [floats(field, field.name) for field in schema]
    return {
        "column_encoding": {path: "BYTE_STREAM_SPLIT" for some, _ in paths for path in some},
        "use_dictionary": [path for _, others in paths for path in others],
    }


def write(table, settings, output, **options):
    if os.path.exists(output):
        os.remove(output)
    # zstd, with the level of ROOT's settings, 501: 1
    pa.parquet.write_table(table, output, compression="zstd", compression_level=settings % 100, **options)


def main():
    rnt, kind, _, path, threads = sys.argv[1:6]
    pa.set_cpu_count(int(threads))
    pa.set_io_thread_count(int(threads))
    output = None
    if kind == "stream":
        work = lambda: sums_of(stream(rnt, path, threads))
    elif kind == "arrays":
        work = lambda: sums_of(arrays(path))
    elif kind == "parquet":
        work = lambda: sums_of(pa.parquet.read_table(path))
    else:
        settings, output = int(sys.argv[6]), sys.argv[7]
        read = functools.partial(arrays, path)
        options = {}
        if kind != "rewrite":
            table = stream(rnt, path, threads)
            read = lambda: table
        if kind == "split":
            options = split(table.schema)
        work = lambda: write(read(), settings, output, **options)
    for _ in sys.stdin:
        start = time.perf_counter()
        sums = work()
        seconds = time.perf_counter() - start
        size = os.path.getsize(output) if output else 0
        print(json.dumps({"seconds": seconds, "sums": sums, "bytes": size}), flush=True)


main()
