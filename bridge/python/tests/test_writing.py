"""Writing tables as RNTuples."""

from __future__ import annotations

import datetime as dt
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import awkward as ak
import duckdb
import exact
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import uproot

import rntuple

pytestmark = pytest.mark.usefixtures("backend")

COLUMNS = {"n": [1, 2, 3], "x": [[1.5], [], [2.5, 3.5]], "s": ["a", "", "ß"]}
TABLE = pa.table(COLUMNS)

SOURCES = {
    "Table": TABLE,
    "dict": COLUMNS,
    "RecordBatch": TABLE.to_batches()[0],
    "RecordBatchReader": None,
    "pandas": pd.DataFrame(COLUMNS),
    "polars": pl.DataFrame(COLUMNS),
    "duckdb": duckdb.from_arrow(TABLE),
    "awkward": ak.zip(COLUMNS, depth_limit=1),
}


def source(kind: str) -> object:
    return TABLE.to_reader() if kind == "RecordBatchReader" else SOURCES[kind]


@pytest.mark.parametrize("kind", SOURCES)
def test_sources(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "out.root"
    rntuple.write(path, source(kind), "things")
    dataset = rntuple.open(path, "things")
    assert dataset.arrow().read_all().to_pydict() == COLUMNS
    with uproot.open(path) as file:
        array = file["things"].arrays(ak_add_doc=False)
        assert [array["n"].to_list(), array["s"].to_list()] == [COLUMNS["n"], COLUMNS["s"]]


def types(path: Path) -> dict[str, str]:
    """The types in C++ of the fields of a file."""
    return {f["name"]: f["type"] for f in exact.fields(path)}


def attribute_sets(path: Path) -> int:
    listed = subprocess.run([rntuple.program(), "attrs", "--json", str(path)], capture_output=True, check=True).stdout
    return len(json.loads(listed))


@pytest.mark.parametrize("kind", SOURCES)
def test_types(tmp_path: Path, kind: str) -> None:
    """What has no nulls is plain, but in streams; and nothing makes ROOT warn of attributes."""
    path = tmp_path / "out.root"
    rntuple.write(path, source(kind))
    plain = {"n": "std::int64_t", "x": "std::vector<double>", "s": "std::string"}
    streams = {"n": "std::optional<std::int64_t>", "x": "std::optional<std::vector<std::optional<double>>>", "s": "std::optional<std::string>"}
    assert types(path) == (streams if kind in ("RecordBatchReader", "duckdb") else plain)
    assert attribute_sets(path) == 0


def test_null_strings(tmp_path: Path) -> None:
    """Polars has string views, for which pyarrow has few functions."""
    columns = {"s": ["x", None], "l": [["a", None], None], "r": [{"x": "a"}, None], "b": [b"a", None], "n": [[{"x": ["a"]}], [None]]}
    frame = pl.DataFrame(columns)
    rntuple.write(tmp_path / "out.root", frame)
    dataset = rntuple.open(tmp_path / "out.root")
    assert dataset.polars().to_dicts() == frame.to_dicts()
    assert types(tmp_path / "out.root")["s"] == "std::optional<std::string>"


def test_nulls(tmp_path: Path) -> None:
    """What has nulls is optional: the column, its items, or members, in any batch, and in dictionaries."""
    some = pa.chunked_array([[1, 2], [None]])
    word = pa.array(["a", "b"]).dictionary_encode()
    record = pa.array([{"a": 1, "b": None}, None, {"a": 3, "b": 4}])
    table = pa.table({
        "some": some, "item": [[1, None], [], [2]], "row": [[1], None, [2]], "both": [[None], None, [1]], "record": record,
        "records": [[{"a": 1, "b": None}], [], [{"a": 2, "b": 3}]], "array": pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int8(), 2)),
        "word": word.take(pa.array([0, 1, 0])), "void": pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array(["a", None])),
        "view": pa.array([[1], [2], [3]], pa.list_view(pa.int8())), "map": pa.array([[("k", 1)], [], []], pa.map_(pa.string(), pa.int8())),
        "run": pa.RunEndEncodedArray.from_arrays([1, 3], [7, None]),
    })  # fmt: skip
    path = tmp_path / "out.root"
    for i, part in enumerate((table, table.slice(2), table.slice(0, 0))):
        rntuple.write(path, part, overwrite=i > 0)
        assert rntuple.open(path).arrow().read_all().to_pylist() == part.to_pylist()
        if i == 0:
            assert types(path) == {
                "some": "std::optional<std::int64_t>", "item": "std::vector<std::optional<std::int64_t>>", "row": "std::optional<std::vector<std::int64_t>>",
                "both": "std::optional<std::vector<std::optional<std::int64_t>>>", "record": "std::optional<std::tuple<std::int64_t,std::optional<std::int64_t>>>",
                "records": "", "array": "std::optional<std::array<std::int8_t,2>>", "word": "std::string", "void": "std::optional<std::string>",
                "view": "std::vector<std::optional<std::int8_t>>", "map": "std::vector<std::pair<std::string,std::optional<std::int8_t>>>",
                "run": "std::optional<std::int64_t>",
            }  # fmt: skip


def test_dates(tmp_path: Path) -> None:
    """What C++ has no type for comes back in each library, for chosen fields, too."""
    days = [dt.date(2024, 2, 29), dt.date(1969, 12, 31)]
    times = [dt.datetime(2024, 2, 29, 12), dt.datetime(1960, 1, 1)]
    columns = {"n": [1, 2], "day": days, "time": times, "days": [days, []]}
    half = np.array([0.5, 2], np.float16)
    path = tmp_path / "out.root"
    rntuple.write(path, pa.table(columns | {"half": half}))
    dataset = rntuple.open(path)
    assert attribute_sets(path) == 1
    assert {f.name: f.type for f in dataset.arrow(["day", "time"], structs=True, lists=32).schema} == {"day": pa.date32(), "time": pa.timestamp("us")}
    frame = dataset.pandas(["day", "time", "half"])
    assert frame["day"].tolist() == days and frame["time"].tolist() == times and frame["half"].dtype == np.float16
    assert dataset.polars(["day", "time", "days"]).to_dict(as_series=False) == {k: columns[k] for k in ("day", "time", "days")}
    array = dataset.awkward(["day", "time"])
    assert array["day"].to_list() == days and array["time"].to_list() == times
    assert dataset.duckdb(["day", "time", "half"], "n == 2").fetchall() == [(days[1], times[1], 2.0)]
    for kind, again in (("polars", pl.DataFrame(columns)), ("pandas", pd.DataFrame(columns))):
        rntuple.write(tmp_path / kind, again)
        assert rntuple.open(tmp_path / kind).polars(["day", "time"]).to_dict(as_series=False) == {"day": days, "time": times}


def test_index(tmp_path: Path) -> None:
    """An index that pandas did not make by itself comes back, also beside chosen fields."""
    for i, index in enumerate((["a", "b"], pd.RangeIndex(5, 7), None)):
        frame = pd.DataFrame({"x": [1.5, 2.5], "n": [1, 2]}, index=index)
        rntuple.write(tmp_path / str(i), frame)
        pd.testing.assert_frame_equal(rntuple.open(tmp_path / str(i)).pandas(), frame)
        assert rntuple.open(tmp_path / str(i)).pandas("n")["n"].tolist() == [1, 2]
        assert attribute_sets(tmp_path / str(i)) == (index is not None)


def test_copy(tmp_path: Path, dimuon: rntuple.Dataset) -> None:
    """A stream that is read is written, batch by batch, under a name that looks like a flag."""
    path = tmp_path / "-copy.root"
    rntuple.write(path, dimuon.arrow(["run", "Muon_*"], "nMuon == 2"), compression="lz4:4")
    assert rntuple.open(path).arrow().read_all().to_pydict() == dimuon.arrow(["run", "Muon_*"], "nMuon == 2").read_all().to_pydict()
    assert rntuple.list(path)[0]["compression"] == ["lz4 4"]


def test_overwrite(tmp_path: Path) -> None:
    path = tmp_path / "out.root"
    rntuple.write(path, TABLE)
    before = path.read_bytes()
    with pytest.raises(rntuple.Error, match="exists"):
        rntuple.write(path, TABLE)
    assert path.read_bytes() == before
    rntuple.write(path, TABLE.slice(1), overwrite=True)
    assert rntuple.open(path).num_entries == 2


def broken() -> pa.RecordBatchReader:
    def batches() -> Iterator[pa.RecordBatch]:
        yield from TABLE.to_batches()
        raise ZeroDivisionError("in the table")

    return pa.RecordBatchReader.from_batches(TABLE.schema, batches())


def test_errors(tmp_path: Path) -> None:
    """What cannot be written leaves no file, and an old one as it was."""
    path = tmp_path / "out.root"
    intervals = pa.table({"good": [1], "bad": pa.array([None], pa.month_day_nano_interval())})
    for table, error in ((broken(), ZeroDivisionError), (intervals, rntuple.Error)):
        with pytest.raises(error, match="in the table|bad"):
            rntuple.write(path, table)
        assert not list(tmp_path.iterdir())
    rntuple.write(path, TABLE)
    before = path.read_bytes()
    with pytest.raises(ZeroDivisionError):
        rntuple.write(path, broken(), overwrite=True)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]
    with pytest.raises(rntuple.Error):
        rntuple.write(tmp_path / "none" / "out.root", TABLE)
    with pytest.raises(rntuple.Error):
        rntuple.write(tmp_path / "x.root", TABLE, compression="nonsense")


def test_wrong_type(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="int is neither"):
        rntuple.write(tmp_path / "out.root", 42)


needs_shell = pytest.mark.skipif(sys.platform == "win32", reason="the program here is a shell script")


@needs_shell
def test_arguments(tmp_path: Path, script) -> None:  # type: ignore[no-untyped-def]
    """What rnt is told, and what it gets."""
    said, got = tmp_path / "said", tmp_path / "got"
    fake = script(f"printf '%s\\n' \"$@\" > '{said}'", f"cat > '{got}'")
    for kind in SOURCES:
        rntuple.write("-", source(kind), "a b", compression="zstd:5", overwrite=True, rnt=fake)
        assert said.read_text().splitlines() == ["convert", "--from=arrows", "--to=rntuple", "--new-name=a b", "--compression=zstd:5", "--force", "--", "-", "./-"]
        assert pa.ipc.open_stream(got).read_all().to_pydict() == COLUMNS
    rntuple.write(tmp_path / "x.root", TABLE, rnt=fake)
    assert said.read_text().splitlines() == ["convert", "--from=arrows", "--to=rntuple", "--new-name=Events", "--", "-", str(tmp_path / "x.root")]


@needs_shell
def test_failing_program(tmp_path: Path, script) -> None:  # type: ignore[no-untyped-def]
    """A program that fails, at once, late or by a signal; and a table that fails."""
    long = pa.table({"x": range(1_000_000)})
    for lines in (["exit 1"], ["head -c 100 > /dev/null", "exit 1"], ["cat > /dev/null", "exit 1"], ["kill -9 $$"]):
        with pytest.raises(rntuple.Error, match="SIGKILL" if "kill" in lines[0] else "such a pity"):
            rntuple.write(tmp_path / "out", long, rnt=script("echo rnt: such a pity >&2", *lines))
    # The program ends before it sees the end of the pipe.
    seen = tmp_path / "seen"
    with pytest.raises(ZeroDivisionError):
        rntuple.write(tmp_path / "out", broken(), rnt=script("cat > /dev/null", f"touch '{seen}'"))
    assert not seen.exists()
