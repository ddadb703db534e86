#!/usr/bin/env python3
"""parquet.py make DIR
parquet.py same FILE FILE...

make writes Parquet files of pyarrow and DuckDB to DIR, of all types, with nulls on every level, dictionaries, encodings,
compressions and row groups of every kind. same compares pairs of files: it prints a line for each pair that differs in
a value, or in a type, dictionaries being what they stand for.
"""
import datetime
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

N = 50


def numbers() -> dict[str, pa.Array]:
    columns = {}
    for t in (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()):
        top = 2 ** (t.bit_width - (not str(t).startswith("u"))) - 1
        columns[str(t)] = pa.array([i if i % 2 else top - i for i in range(N)], t)
    for t in (pa.float16(), pa.float32(), pa.float64()):
        columns[str(t)] = pa.array([i / 4 for i in range(N)], pa.float64()).cast(pa.float32()).cast(t)
    columns["bool"] = pa.array([i % 3 == 0 for i in range(N)])
    return columns


def texts() -> dict[str, pa.Array]:
    words = [f"w{i % 7}" * (i % 3) for i in range(N)]
    return {"string": pa.array(words), "large": pa.array(words, pa.large_string()), "view": pa.array(words, pa.string_view())}


def blobs() -> dict[str, pa.Array]:
    some = [bytes([i, 0, 255])[: i % 4] for i in range(N)]
    return {"binary": pa.array(some), "large_binary": pa.array(some, pa.large_binary()),
            "fixed": pa.array([bytes([i, i + 1, 7, 0]) for i in range(N)], pa.binary(4))}


def times() -> dict[str, pa.Array]:
    whole = pa.array(range(N), pa.int64())
    columns = {"date32": pa.array([datetime.date(2026, 1, 1) + datetime.timedelta(i) for i in range(N)])}
    for unit in ("s", "ms"):
        columns["time32" + unit] = whole.cast(pa.int32()).cast(pa.time32(unit))
    for unit in ("us", "ns"):
        columns["time64" + unit] = whole.cast(pa.time64(unit))
    for unit in ("ms", "us", "ns"):
        columns["timestamp" + unit] = whole.cast(pa.timestamp(unit))
        columns["zoned" + unit] = whole.cast(pa.timestamp(unit, "Europe/Zurich"))
    return columns


def nulled(columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
    mask = pa.array([i % 4 == 1 for i in range(N)])
    return {name: pa.compute.if_else(mask, pa.scalar(None, a.type), a) if a.type not in (pa.float16(), pa.string_view())
            else pa.array([None if m else v for m, v in zip(mask.to_pylist(), a.to_pylist())], a.type) for name, a in columns.items()}


def nested() -> dict[str, pa.Array]:
    point = pa.struct([("x", pa.float32()), ("tag", pa.string())])
    points = [None if i % 5 == 1 else {"x": None if i % 3 else i / 2, "tag": f"t{i % 4}"} for i in range(N)]
    lists = [None if i % 6 == 1 else [None if k == 1 else k for k in range(i % 4)] for i in range(N)]
    return {
        "list": pa.array(lists, pa.list_(pa.int32())),
        "large_list": pa.array(lists, pa.large_list(pa.int64())),
        "lists": pa.array([None if i % 7 == 3 else [lists[i], None, [1]] for i in range(N)], pa.list_(pa.list_(pa.int16()))),
        "struct": pa.array(points, point),
        "structs": pa.array([None if i % 5 == 4 else points[: i % 3] for i in range(N)], pa.list_(point)),
        "deep": pa.array([{"all": points[: i % 4], "one": {"list": lists[i]}} for i in range(N)],
                         pa.struct([("all", pa.list_(point)), ("one", pa.struct([("list", pa.list_(pa.int32()))]))])),
        "map": pa.array([None if i % 4 == 2 else [(f"k{k}", None if k == 1 else k) for k in range(i % 3)] for i in range(N)],
                        pa.map_(pa.string(), pa.int32())),
        "strings": pa.array([["a", None, ""][: i % 4] for i in range(N)], pa.list_(pa.string())),
        "fixed_list": pa.array([[i, i + 1, i + 2] for i in range(N)], pa.list_(pa.int32(), 3)),
    }


def make(dir: Path) -> None:
    dir.mkdir(exist_ok=True)
    every = {**numbers(), **texts(), **times()}

    def write(name: str, columns: dict[str, pa.Array] | pa.Table, **options: object) -> None:
        table = columns if isinstance(columns, pa.Table) else pa.table(columns)
        pq.write_table(table, dir / f"{name}.parquet", **options)

    write("every", every)
    write("nulls", nulled(every))
    write("bytes", blobs())
    write("bytes_nulls", nulled(blobs()))
    write("nested", nested())
    required = pa.schema([pa.field(k, v.type, nullable=False) for k, v in every.items()])
    write("required", pa.table(list(every.values()), schema=required))
    write("empty", pa.table(every).slice(0, 0))
    write("empty_nested", pa.table(nested()).slice(0, 0))
    write("groups", pa.table({**nulled(every), **nested()}), row_group_size=7, data_page_size=64, data_page_version="2.0")
    write("no_schema", nested(), store_schema=False)
    write("old_names", nested(), use_compliant_nested_type=False)
    words = pa.array([f"w{i % 5}" if i % 9 else None for i in range(N)]).dictionary_encode()
    write("dictionary", {"words": words, "of_list": pa.array([[f"a{i % 3}"] for i in range(N)], pa.list_(pa.dictionary(pa.int8(), pa.string())))})
    for codec in ("none", "snappy", "gzip", "brotli", "lz4", "zstd"):
        write("codec_" + codec, {**numbers(), **texts()}, compression=codec)
    whole = {k: v for k, v in numbers().items() if "int" in k}
    write("delta", whole, use_dictionary=False, column_encoding={k: "DELTA_BINARY_PACKED" for k in whole if k[-2:] in ("32", "64")})
    write("split", {"f": numbers()["float"], "d": numbers()["double"]}, use_dictionary=False, column_encoding={"f": "BYTE_STREAM_SPLIT", "d": "BYTE_STREAM_SPLIT"})
    write("bytes_delta", {"a": texts()["string"], "b": blobs()["binary"]}, use_dictionary=False,
          column_encoding={"a": "DELTA_BYTE_ARRAY", "b": "DELTA_LENGTH_BYTE_ARRAY"})

    duckdb.execute(f"""COPY (SELECT i AS id, i::UTINYINT AS tiny, i / 4.0::DOUBLE AS d, (i / 8.0)::FLOAT AS f, 'w' || (i % 7) AS w, i % 2 = 0 AS even,
        CASE WHEN i % 3 = 0 THEN NULL ELSE [i, NULL, i + 1] END AS list,
        {{'x': i, 'y': CASE WHEN i % 5 = 0 THEN NULL ELSE 'y' || i END, 'z': [{{'q': i}}]}} AS struct,
        CASE WHEN i % 4 = 0 THEN NULL ELSE MAP {{'a': i, 'b': NULL}} END AS map,
        DATE '2026-01-01' + i::INTEGER AS date, TIMESTAMP '2026-01-01 12:00:00' + INTERVAL (i) SECOND AS ts
        FROM range(60) t(i)) TO '{dir}/duckdb.parquet' (FORMAT parquet, ROW_GROUP_SIZE 2048, CODEC 'zstd')""")
    write("refused", {"price": pa.array([1, 2], pa.decimal128(10, 2)), "fine": pa.array([1, 2]), "nothing": pa.nulls(2)})
    write("refused_times", {"took": pa.array([1, 2], pa.duration("us")), "fine": pa.array([1, 2])})


def plain(t: pa.DataType) -> str:
    """The type without dictionaries, views and the size of offsets, and without the names of items and metadata."""
    if pa.types.is_dictionary(t):
        return plain(t.value_type)
    if pa.types.is_struct(t):
        return "struct<" + ", ".join(f"{f.name}{'' if f.nullable else '!'}: {plain(f.type)}" for f in t) + ">"
    if pa.types.is_map(t):
        return f"map<{plain(t.key_type)}, {plain(t.item_type)}>"
    if pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t):
        return f"{str(t).partition('<')[0].removeprefix('large_')}<{'' if t.value_field.nullable else '!'}{plain(t.value_type)}>" + (f"[{t.list_size}]" if pa.types.is_fixed_size_list(t) else "")
    return str(t).removeprefix("large_").removesuffix("_view")


def values(column: pa.ChunkedArray) -> list[object]:
    """The values, times as their integers, since Python's have no nanoseconds."""
    if pa.types.is_temporal(column.type):
        column = column.cast(pa.int64() if column.type.bit_width == 64 else pa.int32())
    return column.to_pylist()


def same(a: str, b: str) -> None:
    t, u = pq.read_table(a), pq.read_table(b)
    if t.num_rows != u.num_rows or t.column_names != u.column_names:
        print(f"{b}: {u.num_rows} rows of {u.column_names}, want {t.num_rows} of {t.column_names}")
        return
    for f, g in zip(t.schema, u.schema):
        if (plain(f.type), f.nullable) != (plain(g.type), g.nullable):
            print(f"{b}: {f.name} is {plain(g.type)}, nullable: {g.nullable}; want {plain(f.type)}, {f.nullable}")
        v, w = values(t[f.name]), values(u[f.name])
        if repr(v) != repr(w):
            i = next(i for i, (x, y) in enumerate(zip(v, w)) if repr(x) != repr(y))
            print(f"{b}: {f.name}[{i}] is {w[i]!r}, want {v[i]!r}")


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(Path(sys.argv[2]))
    else:
        for a, b in zip(sys.argv[2::2], sys.argv[3::2]):
            same(a, b)
