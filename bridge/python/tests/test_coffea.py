"""coffea's NanoEvents, which are equal to those that it reads by uproot."""

from __future__ import annotations

import warnings
from pathlib import Path

import awkward as ak
import pyarrow as pa
import pytest

import rntuple

nanoevents = pytest.importorskip("coffea.nanoevents")


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("mode", ["virtual", "eager"])
def test_nanoevents(tmp_path: Path, mode: str) -> None:
    import rntuple.coffea

    path = tmp_path / "nano.root"
    n = [i % 4 for i in range(1000)]
    jets = {name: [[float(i + k) for k in range(c)] for i, c in enumerate(n)] for name in ("pt", "eta", "phi", "mass")}
    table = pa.table(
        {"run": pa.array([1] * 1000, pa.uint32()), "luminosityBlock": pa.array(range(1000), pa.uint32()),
         "event": pa.array(range(1000), pa.uint64()), "nJet": pa.array(n, pa.int32()),
         "HLT_Mu17": [i % 3 == 0 for i in range(1000)], "MET_pt": pa.array(map(float, range(1000)), pa.float32()),
         "MET_phi": pa.array([0.5] * 1000, pa.float32())}
        | {"Jet_" + name: pa.array(values, pa.list_(pa.float32())) for name, values in jets.items()}
    )  # fmt: skip
    rntuple.write(path, table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for start, stop in ((None, None), (10, 300)):
            ours = rntuple.coffea.factory(path, mode=mode, entry_start=start, entry_stop=stop).events()
            theirs = nanoevents.NanoEventsFactory.from_root(
                {str(path): "Events"}, mode=mode, schemaclass=nanoevents.NanoAODSchema, entry_start=start, entry_stop=stop
            ).events()
            assert ours.fields == theirs.fields and {"Jet", "MET", "HLT", "run"} <= set(ours.fields)
            for name in ours.fields:
                for member in ours[name].fields or [None]:
                    a, b = (ours[name], theirs[name]) if member is None else (ours[name][member], theirs[name][member])
                    assert ak.array_equal(a, b), (name, member)
            assert len(ours) == (1000 if start is None else 290)
