"""Writing tables as RNTuples."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import awkward as ak
import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import uproot

import rntuple

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
