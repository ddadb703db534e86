"""Options, properties and conversions."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import awkward as ak
import duckdb
import exact
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import uproot

import rntuple

DIMUON = exact.ROOT / "testdata" / "dimuon.root"


pytestmark = pytest.mark.usefixtures("backend")


@pytest.fixture(scope="module")
def events() -> ak.Array:
    """What uproot reads."""
    with uproot.open(DIMUON) as file:
        return file["Events"].arrays(["run", "event", "nMuon", "Muon_pt", "Muon_charge"], ak_add_doc=False)


def test_properties(dimuon: rntuple.Dataset) -> None:
    assert dimuon.num_entries == len(dimuon) == 80_000
    assert dimuon.schema.field("Muon_pt").type == pa.large_list(pa.field("item", pa.float32(), nullable=False))
    assert dimuon.schema.field("run").metadata[b"rntuple:type"] == b"std::uint32_t"
    assert dimuon.schema.metadata[b"rntuple:name"] == b"Events"
    assert repr(dimuon) == f"rntuple.Dataset({str(DIMUON)!r})"


def test_list(tmp_path: Path) -> None:
    found = rntuple.list(exact.GOOD / "special_dirs.root")
    entries = {f["path"]: f["entries"] for f in found}
    assert entries == {"top": 9, "top;1": 5, "dir/sub/ntuple": 7, "dir/other": 3, "dir/top": 2}
    with pytest.raises(rntuple.Error, match="no such file|cannot find"):
        rntuple.list(tmp_path / "none.root")


@pytest.mark.parametrize(
    ("name", "entries"), [("top", 9), ("top;1", 5), ("top;2", 9), ("dir/other", 3), ("dir/sub/ntuple", 7), (None, None), ("none", None), ("top;7", None)]
)
def test_names(name: str | None, entries: int | None) -> None:
    dataset = rntuple.open(exact.GOOD / "special_dirs.root", name)
    if name is None:
        entries = 9  # the only one at the top level
    if entries is None:
        for read in (lambda: dataset.num_entries, dataset.arrow, lambda: dataset.schema):
            with pytest.raises(rntuple.Error, match="not found"):
                read()
        return
    assert dataset.num_entries == dataset.arrow(binary=True).read_all().num_rows == entries


def test_fields(dimuon: rntuple.Dataset, events: ak.Array) -> None:
    assert dimuon.arrow("Muon_*").schema.names == ["Muon_pt", "Muon_eta", "Muon_phi", "Muon_mass", "Muon_charge"]
    assert dimuon.arrow(["nMuon", "run"]).schema.names == ["nMuon", "run"]
    table = dimuon.arrow(["_collection0.Muon_pt", "event"]).read_all()
    assert ak.array_equal(ak.from_arrow(table)["_collection0.Muon_pt"], events.Muon_pt)
    assert table["event"].to_numpy().tolist() == events.event.to_list()
    with pytest.raises(rntuple.Error, match='no field "Muon_q"') as failed:
        dimuon.arrow(["run", "Muon_q"])
    if os.environ["RNTUPLE_BACKEND"] == "program":
        assert failed.value.status == 1
    else:
        assert isinstance(failed.value, (rntuple.FieldError, KeyError))
    for none in ([], ()):
        with pytest.raises(ValueError, match="no field"):
            dimuon.arrow(none)
    with pytest.raises(rntuple.Error, match="empty name"):
        dimuon.arrow("")


def test_where(dimuon: rntuple.Dataset, events: ak.Array) -> None:
    chosen = events[(events.nMuon == 2) & ak.any(events.Muon_pt > 30, axis=1)]
    where = "nMuon == 2 && any(Muon_pt, # > 30)"
    table = dimuon.arrow(["event", "Muon_pt"], where).read_all()
    assert 0 < len(chosen) == len(table)
    assert table["event"].to_pylist() == chosen.event.to_list()
    assert table["Muon_pt"].to_pylist() == chosen.Muon_pt.to_list()
    part = dimuon.arrow("event", "two && hard", entries=(10, 20), define={"two": "nMuon == 2", "hard": "any(Muon_pt, # > 30)"})
    assert part.read_all()["event"].to_pylist() == chosen.event[10:20].to_list()
    for wrong in ("nMuon ==", "nMuon", "-1", "$(true)", "nope > 1"):
        with pytest.raises(rntuple.Error) as failed:
            dimuon.arrow(where=wrong).read_all()
        assert "usage" not in str(failed.value) and "--help" not in str(failed.value)


@pytest.mark.parametrize("entries", [(0, 0), (0, 5), (7_990, 8_010), (79_999, None), (80_000, None), (90_000, 90_001), (5, 5)])
def test_entries(dimuon: rntuple.Dataset, events: ak.Array, entries: tuple[int, int | None]) -> None:
    table = dimuon.arrow("event", entries=entries).read_all()
    assert table["event"].to_pylist() == events.event[slice(*entries)].to_list()


@pytest.mark.parametrize("entries", [(-1, 5), (5, 4), (-3, None)])
def test_wrong_entries(dimuon: rntuple.Dataset, entries: tuple[int, int | None]) -> None:
    with pytest.raises(ValueError, match="entries from"):
        dimuon.arrow(entries=entries)


def test_batches(dimuon: rntuple.Dataset) -> None:
    assert max(b.num_rows for b in dimuon.arrow("run", batch_size=1000)) == 1000
    schema = dimuon.arrow("Muon_pt", lists=32).schema
    assert schema.field(0).type == pa.list_(pa.field("item", pa.float32(), nullable=False))
    for option in ({"batch_size": 0}, {"lists": 16}):
        with pytest.raises(rntuple.Error):
            dimuon.arrow(**option)
    with pytest.raises(TypeError, match="nonsense"):
        dimuon.arrow(nonsense=1)  # type: ignore[call-arg]


def test_frames(dimuon: rntuple.Dataset, events: ak.Array) -> None:
    fields = ["run", "nMuon", "Muon_pt"]
    frame = dimuon.pandas(fields)
    assert isinstance(frame, pd.DataFrame) and frame["run"].dtype == np.uint32
    assert frame["Muon_pt"].map(len).tolist() == frame["nMuon"].tolist() == events.nMuon.to_list()
    columns = dimuon.polars(fields, "nMuon > 1")
    assert isinstance(columns, pl.DataFrame) and columns.schema["Muon_pt"] == pl.List(pl.Float32)
    many = events[events.nMuon > 1]
    assert columns["Muon_pt"].to_list() == many.Muon_pt.to_list()
    array = dimuon.awkward(fields)
    assert isinstance(array, ak.Array) and array.to_list() == events[fields].to_list()


def test_duckdb(dimuon: rntuple.Dataset, events: ak.Array) -> None:
    relation = dimuon.duckdb(["run", "nMuon"], "nMuon > 1")
    want = events.nMuon[events.nMuon > 1]
    for _ in range(2):  # each evaluation reads anew
        assert relation.aggregate("count(*), sum(nMuon)").fetchall() == [(len(want), ak.sum(want))]
    with duckdb.connect() as connection:
        relation = dimuon.duckdb("nMuon", connection=connection)
        assert relation.query("muons", "SELECT max(nMuon) FROM muons").fetchall() == [(ak.max(events.nMuon),)]
    assert duckdb.sql("SELECT count(*) FROM dimuon").fetchall() == [(80_000,)]


def test_stream(dimuon: rntuple.Dataset) -> None:
    """A Dataset is itself an Arrow stream, again and again."""
    assert pa.table(dimuon).num_rows == pl.DataFrame(dimuon).height == pa.RecordBatchReader.from_stream(dimuon).read_all().num_rows == 80_000
    reader = dimuon.arrow("run")
    assert isinstance(reader, pa.RecordBatchReader)
    assert pc.sum(pa.table({"n": [b.num_rows for b in reader]})["n"]).as_py() == 80_000


def test_files(tmp_path: Path, events: ak.Array) -> None:
    """Several files, with names that look like something else."""
    names = ["-", "--help", "a,b", "new\nline", "späce ;$(x)`y`\"'*", "-rf"]
    paths = [tmp_path / name for name in names]
    for path in paths:
        path.write_bytes(DIMUON.read_bytes())
    chain = rntuple.open(paths, "Events", jobs=1)
    assert repr(chain) == "rntuple.Dataset(6 files, 'Events')"
    assert chain.num_entries == 6 * 80_000
    assert chain.arrow("event").read_all()["event"].to_pylist() == 6 * events.event.to_list()
    assert rntuple.open([DIMUON, DIMUON]).num_entries == 160_000
    code = f"import rntuple; print([rntuple.open(n).num_entries == rntuple.open(n).arrow('run').read_all().num_rows == 80_000 for n in {names!r}])"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str([True] * 6)
    with pytest.raises(ValueError, match="no file"):
        rntuple.open([])


def test_missing_package(dimuon: rntuple.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("pandas", "polars", "awkward", "duckdb"):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(ImportError, match=f"pip install {package}"):
            getattr(dimuon, package)()


def test_optionals_are_not_narrowed() -> None:
    """Integers of which some are missing keep all their bits in pandas."""
    path = exact.GOOD / "types_none_one.root"
    want = rntuple.open(path).arrow("opt_int32").read_all()["opt_int32"].to_pylist()
    assert None in want
    assert rntuple.open(path).pandas("opt_int32")["opt_int32"].tolist() == want
