"""What uproot's users know: arrays equal to uproot's, and its methods."""

from __future__ import annotations

import os
import re
import tracemalloc
from pathlib import Path

import awkward as ak
import exact
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import uproot

import rntuple

DIMUON = exact.ROOT / "testdata" / "dimuon.root"

pytestmark = pytest.mark.usefixtures("backend")

# Where the types of uproot 5.7.7 are others, by the names of fields.
OTHERS = re.compile(
    "(double|float|last).*__?(SplitReal|Real).*|.*Double32.*|WithD32|.*_(float|double)__Real.*"  # it has the precision of the column
    "|.*char.*|.*Char.*|Spell|EI8|pair_Simple_tuple"  # char and enumerations are unsigned
    "|.*uptr.*|.*var.*|Mixed"  # std::unique_ptr are lists; variants are unions, after the first cluster with other values
    "|.*Empty|.*Derived.*"  # members of bases are beside those of the class
    "|card32_Index32"  # the number of items has the bits of the column
)


@pytest.mark.parametrize(
    "file", ["dimuon", "good/objects", "good/special_late", "good/special_soa", "good/special_nochecksum", "good/types_zlib_groups"]
)
def test_uproot(file: str) -> None:
    """Arrays are equal, with types and parameters, also of several clusters."""
    path = exact.ROOT / "testdata" / f"{file}.root"
    same = 0
    with uproot.open(path) as opened:
        for name in opened.keys(filter_classname="ROOT::RNTuple", cycle=False):
            theirs = opened[name]
            fields = [f for f in theirs.keys(recursive=False) if not OTHERS.fullmatch(f)]
            ours = rntuple.open(path, name).arrays(fields)
            for field in fields:
                try:
                    want = theirs[field].array()
                except (NotImplementedError, ValueError, AssertionError, TypeError):
                    continue  # it cannot read that
                assert ak.array_equal(ours[field], want, dtype_exact=True, equal_nan=True), field
                same += 1
    assert same >= {"good/objects": 1, "good/types_zlib_groups": 180}.get(file, 3)


@pytest.fixture(scope="module")
def theirs() -> ak.Array:
    with uproot.open(DIMUON) as file:
        return file["Events"].arrays(["run", "event", "nMuon", "Muon_pt"], ak_add_doc=False)


def test_names(dimuon: rntuple.Dataset, capsys: pytest.CaptureFixture[str]) -> None:
    with uproot.open(DIMUON) as file:
        events = file["Events"]
        assert dimuon.keys() == list(dimuon) == events.keys(recursive=False)
        names = events.typenames(recursive=False)
        assert {k: v for k, v in dimuon.typenames().items() if names[k]} == {k: v for k, v in names.items() if v}
    assert "run" in dimuon and "Muon_q" not in dimuon and dimuon
    assert dimuon._ipython_key_completions_() == dimuon.keys()
    dimuon.show()
    shown = capsys.readouterr().out.splitlines()
    assert "Muon_pt          ROOT::VecOps::RVec<float>" in shown and "    Muon_charge" not in shown
    assert dimuon["Events"] is dimuon
    other = rntuple.open(exact.GOOD / "special_dirs.root")["dir/other"]
    assert other.num_entries == 3
    with pytest.raises(rntuple.Error, match="Muon_q"):
        dimuon["Muon_q"]


def test_field(dimuon: rntuple.Dataset, theirs: ak.Array) -> None:
    field = dimuon["Muon_pt"]
    assert (field.name, field.path, field.typename) == ("Muon_pt", "Muon_pt", "ROOT::VecOps::RVec<float>")
    assert repr(field) == "rntuple.Field('Muon_pt', 'ROOT::VecOps::RVec<float>')"
    assert ak.array_equal(field.array(entry_start=-5), theirs.Muon_pt[-5:], dtype_exact=True)
    assert pa.table(field).column_names == pa.schema(field).names == ["Muon_pt"]
    member = dimuon["_collection0._0.Muon_eta"]
    assert member.typename == "float" and "Muon_eta" in dimuon["_collection0"]["_0"].keys()
    with pytest.raises(rntuple.FieldError):
        field["none"]


def test_arrays(dimuon: rntuple.Dataset, theirs: ak.Array, backend: str) -> None:
    hard = theirs[ak.any(theirs.Muon_pt > 40, axis=1)]
    ours = dimuon.arrays(["run", "Muon_pt"], "any(Muon_pt, # > 40)")
    assert ak.array_equal(ours, hard[["run", "Muon_pt"]], dtype_exact=True)
    arrays = dimuon.arrays(["run", "Muon_pt"], entry_stop=100, library="np")
    assert arrays["run"].dtype == np.uint32 and arrays["run"].flags.writeable
    assert [a.tolist() for a in arrays["Muon_pt"]] == theirs.Muon_pt[:100].to_list()
    frame = dimuon.arrays(["run", "Muon_pt"], entry_stop=100, library="pd")
    assert isinstance(frame, pd.DataFrame) and frame["run"].tolist() == theirs.run[:100].to_list()
    for names in ("Muon_[pm]*", ["Muon_pt", "Muon_phi", "Muon_mass"], "/muon_(p|m).*/i", lambda n: n[:6] in ("Muon_p", "Muon_m")):
        assert dimuon.arrays(filter_name=names, entry_stop=1).fields == ["Muon_pt", "Muon_phi", "Muon_mass"]
    assert dimuon.arrays(["Mu*pt", "Muon_[a-m]*"], entry_stop=1).fields == ["Muon_pt", "Muon_eta", "Muon_mass", "Muon_charge"]
    for wrong, error in (("run **", ValueError), ("Muon_q", KeyError)) if backend == "library" else (("Muon_q", rntuple.Error),):
        with pytest.raises(error):
            dimuon.arrays(wrong)
    with pytest.raises(rntuple.Error, match="tf"):
        dimuon.arrays("run", library="tf")
    none = dimuon.arrays(["run", "Muon_pt"], entry_stop=0)
    assert len(none) == 0 and none.type.content == theirs[["run", "Muon_pt"]].type.content


@pytest.mark.parametrize(("start", "stop"), [(None, None), (0, 0), (7_990, 8_010), (-10, None), (79_990, 90_000), (5, 5), (5, 3), (-5, -3)])
def test_entries(dimuon: rntuple.Dataset, theirs: ak.Array, start: int | None, stop: int | None, backend: str) -> None:
    """entry_start and entry_stop are entries of the file, before a condition."""
    assert dimuon.arrays("event", entry_start=start, entry_stop=stop).event.to_list() == theirs.event.to_list()[start:stop]
    if backend == "library":
        part = theirs[start : 5 if (start, stop) == (5, 3) else stop]  # awkward cannot slice to before the start
        want = part.event[part.nMuon == 3]
        assert dimuon.arrays("event", "nMuon == 3", entry_start=start, entry_stop=stop).event.to_list() == want.to_list()
        got = dimuon.arrow("event", "nMuon == 3", entry_start=start, entry_stop=stop, entries=(1, 3)).read_all()
        assert got["event"].to_pylist() == want[1:3].to_list()


@pytest.mark.parametrize("library", ["ak", "np", "pd"])
def test_iterate(dimuon: rntuple.Dataset, theirs: ak.Array, library: str) -> None:
    steps = list(dimuon.iterate(["event", "Muon_pt"], step_size=30_000, library=library))
    assert [len(s["event"]) for s in steps] == [30_000, 30_000, 20_000]
    assert [n for s in steps for n in s["event"].tolist()] == theirs.event.to_list()
    assert sum(s["Muon_pt"][5].tolist() == theirs.Muon_pt[i * 30_000 + 5].to_list() for i, s in enumerate(steps)) == 3


def test_steps(dimuon: rntuple.Dataset, theirs: ak.Array) -> None:
    """A size in bytes bounds the arrays, roughly."""
    steps = list(dimuon.iterate("Muon_pt", step_size="200 kB"))
    assert len(steps) > 2 and all(s.nbytes < 300_000 for s in steps)
    assert ak.array_equal(ak.concatenate(steps).Muon_pt, theirs.Muon_pt)
    assert [len(s) for s in dimuon.iterate("event", "nMuon > 3", step_size=1000)] == [1000, 262]
    for wrong in (0, "100", "100 apples"):
        with pytest.raises(ValueError, match="step_size"):
            next(dimuon.iterate(step_size=wrong))


def test_concatenate(theirs: ak.Array) -> None:
    twice = rntuple.concatenate([f"{DIMUON}:Events"] * 2, "event", "nMuon == 3")
    assert twice.event.to_list() == 2 * theirs.event[theirs.nMuon == 3].to_list()


def test_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a1.root", "a2.root", "a:b"):
        (tmp_path / name).symlink_to(DIMUON)
    for path in (f"{tmp_path}/a1.root:Events", tmp_path / "a:b", f"{tmp_path}/a:b:Events"):
        assert rntuple.open(path).num_entries == 80_000
    assert rntuple.open(f"{tmp_path}/a*.root:Events").num_entries == 160_000
    monkeypatch.setenv("HOME", str(tmp_path))
    assert rntuple.open("~/a[12].root").num_entries == 160_000
    for url in ("https://host:80/f.root", "root://host:1094//f.root"):
        assert (rntuple.open(url).paths, rntuple.open(url).name) == ([url], None)
        assert (rntuple.open(url + ":a/b").paths, rntuple.open(url + ":a/b").name) == ([url], "a/b")
    with pytest.raises(ValueError, match="different"):
        rntuple.open(["x:a", "x:b"])


def test_dates(tmp_path: Path) -> None:
    """Types that only Arrow has, which awkward arrays have, too; and those that awkward knows by way of pyarrow."""
    table = pa.table({"day": pa.array([1, -1], pa.date32()), "at": pa.array([5, None], pa.timestamp("us")), "n": [1, 2]})
    rntuple.write(tmp_path / "out.root", table)
    ours = rntuple.open(tmp_path / "out.root").arrays()
    assert ours.day.to_list() == table["day"].to_pylist() and ours["at"].to_list() == [np.datetime64(5, "us"), None]


def test_memory(tmp_path: Path) -> None:
    """An array of one cluster is not copied; one of several takes at most twice its size in between."""
    rng = np.random.default_rng(1)
    lists = ak.unflatten(rng.random(1_000_000), np.full(100_000, 10))
    column = pa.LargeListArray.from_arrays(lists.layout.offsets.data, lists.layout.content.data)
    path = tmp_path / "big.root"
    rntuple.write(path, pa.table({"x": column}), compression="none")
    for files in (1, 4):
        dataset = rntuple.open([path] * files)
        dataset.arrays(entry_stop=1)
        tracemalloc.start()
        ours = dataset.arrays()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert ak.array_equal(ours.x, ak.concatenate([lists] * files), dtype_exact=True)
        if files > 1:
            assert peak < 2.6 * ours.nbytes
        elif os.environ["RNTUPLE_BACKEND"] == "library":
            assert peak < ours.nbytes / 10


def test_expressions(backend: str) -> None:
    """What is computed equals what NumPy computes of uproot's arrays."""
    if backend == "program":
        pytest.skip("rnt computes no columns")
    events = rntuple.open(DIMUON)
    of = uproot.open(DIMUON)["Events"].arrays(entry_stop=20_000)
    two = of[of.nMuon == 2]
    got = events.arrays(["Muon_pt*2", "run", "sum(Muon_pt)", "x+nMuon", "Muon_pt[0]"], "two", entry_stop=20_000,
                        aliases={"two": "nMuon == 2", "x": "1"})  # fmt: skip
    assert got.fields == ["run", "Muon_pt*2", "sum(Muon_pt)", "x+nMuon", "Muon_pt[0]"]
    assert ak.array_equal(got["run"], two.run, dtype_exact=True)
    assert ak.array_equal(got["Muon_pt*2"], 2 * ak.values_astype(two.Muon_pt, np.float64))
    assert np.allclose(got["sum(Muon_pt)"], ak.sum(ak.values_astype(two.Muon_pt, np.float64), axis=1), rtol=1e-12)
    assert ak.all(got["x+nMuon"] == 3)
    assert got["Muon_pt[0]"].to_list() == two.Muon_pt[:, 0].to_list()
    frame = events.arrays(["nMuon", "nMuon*nMuon"], library="pd", entry_stop=10)
    assert list(frame.columns) == ["nMuon", "nMuon*nMuon"] and (frame["nMuon*nMuon"] == frame["nMuon"] ** 2).all()
    steps = list(events.iterate("len(Muon_pt)", step_size=7000, entry_stop=20_000))
    assert [len(s) for s in steps] == [7000, 7000, 6000]
    assert ak.array_equal(ak.concatenate([s["len(Muon_pt)"] for s in steps]), ak.num(of.Muon_pt))
    numbers = events.arrow(["run"], "nMuon == 2", entry_numbers="entry", compute={"n:std::int8_t": "nMuon"}, entry_stop=20_000)
    table = numbers.read_all()
    assert table["entry"].to_pylist() == np.flatnonzero(of.nMuon == 2).tolist()
    assert table.schema.field("n").type == pa.int8() and set(table["n"].to_pylist()) == {2}
    part = events.arrow([], "nMuon == 2", entry_numbers="entry", entry_start=500, entry_stop=20_000, entries=(3, 9)).read_all()
    assert part["entry"].to_pylist() == (500 + np.flatnonzero(of.nMuon[500:] == 2))[3:9].tolist()
    for wrong, kind in (("Jet_pt", rntuple.FieldError), ("Jet_*", rntuple.FieldError), ("sum(Jet_pt)", rntuple.ExpressionError)):
        with pytest.raises(kind, match="Jet_"):
            events.arrays(wrong)


def test_fill(backend: str) -> None:
    """A histogram has the counts that NumPy has of uproot's arrays."""
    if backend == "program":
        pytest.skip("rnt computes no columns")
    import hist

    events = rntuple.open(DIMUON)
    of = uproot.open(DIMUON)["Events"].arrays()
    of = of[of.nMuon > 1]
    axes = hist.axis.Regular(50, 0, 100), hist.axis.Regular(5, -2.5, 2.5)
    filled = events.fill(hist.Hist(*axes, storage=hist.storage.Weight()), "Muon_pt", "Muon_eta", cut="nMuon > 1", weight="nMuon",
                         step_size=9000)  # fmt: skip
    weight = ak.flatten(ak.broadcast_arrays(of.nMuon, of.Muon_pt)[0])
    want, *_ = np.histogram2d(*(ak.to_numpy(ak.flatten(c)) for c in (of.Muon_pt, of.Muon_eta)),
                              bins=(np.linspace(0, 100, 51), np.linspace(-2.5, 2.5, 6)), weights=ak.to_numpy(weight))  # fmt: skip
    assert want.sum() > 100_000 and np.array_equal(filled.values(), want)
    first = events.fill(hist.Hist(hist.axis.Regular(10, 0, 50)), "Muon_pt[1]")
    assert first.sum(flow=True) == ak.sum(ak.num(uproot.open(DIMUON)["Events"]["Muon_pt"].array()) > 1)
