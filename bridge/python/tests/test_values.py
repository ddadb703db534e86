"""All values of all files, against those of ROOT and uproot."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import awkward as ak
import exact
import numpy as np
import pyarrow as pa
import pytest
import uproot

import rntuple

MANY = 1_000_000

# Fields that Arrow has no type for.
NO_TYPE = {"special_zero": {"array_0", "array_str_0", "bitset_0"}}


def read(path: Path, name: str | None, nodes: list[exact.Node], **options: object) -> pa.Table:
    return rntuple.open(path, name).arrow([n["name"] for n in nodes], binary=True, **options).read_all()


@pytest.mark.parametrize("options", [{}, {"structs": True, "pairs": True, "lists": 32, "batch_size": 7}], ids=["", "plain"])
@pytest.mark.parametrize("file", exact.expected(), ids=repr)
def test_root(file: exact.Expected, options: dict[str, object]) -> None:
    """Every type in every encoding has the values that ROOT reads."""
    nodes = typed(file.path, file.name)
    table = read(file.path, file.name, nodes, **options)
    wrong = {}
    columns = file.columns()
    for node in nodes:
        name = node["name"]
        got, want = list(map(json.loads, exact.texts(table[name], node))), columns.get(name, [])
        note(wrong, name, got, want)
    assert not wrong
    assert columns.keys() - {n["name"] for n in nodes} <= NO_TYPE.get(file.path.stem, set())


def shared() -> list[dict[str, str]]:
    entries: list[dict[str, str]] = json.loads((exact.ROOT / "testdata" / "shared.json").read_text())
    return entries


def needs_shared() -> None:
    if not exact.SHARED.exists():
        pytest.skip(f"there are no files in {exact.SHARED}")


@pytest.mark.parametrize("entry", shared(), ids=lambda e: e["file"].partition("_rntuple")[0])
def test_shared(entry: dict[str, str]) -> None:
    """Public files have the values that uproot and ROOT read, by the digest of all."""
    needs_shared()
    if int(entry["entries"]) > MANY:
        pytest.skip(f"{entry['entries']} entries take too long to print")
    path = exact.SHARED / "root" / entry["file"]
    nodes = exact.fields(path, entry["ntuple"])
    table = read(path, entry["ntuple"], nodes)
    names = [exact.string(n["name"].encode()) for n in nodes]
    digest = hashlib.sha256()
    for first in range(0, len(table), 100_000):
        part = table.slice(first, 100_000)
        columns = [[f"{name}:{text}" for text in exact.texts(part[n["name"]], n)] for name, n in zip(names, nodes)]
        for row in zip(*columns):
            digest.update(("{" + ",".join(row) + "}\n").encode())
    assert (len(table), digest.hexdigest()) == (entry["entries"], entry["sha256"])


class Fault:
    """A known fault of another program: patterns of the files and the fields that have it, and what it is."""

    def __init__(self, why: str, files: str, fields: str) -> None:
        self.why, self.files, self.fields, self.used = why, re.compile(files), re.compile(fields), False

    def explains(self, file: str, field: str) -> bool:
        found = bool(self.files.fullmatch(file) and self.fields.fullmatch(field))
        self.used = self.used or found
        return found


def explained(faults: list[Fault], file: str, wrong: dict[str, object]) -> None:
    """Checks that a table has a reason for all that is wrong in a file."""
    assert not {field: what for field, what in wrong.items() if not any(f.explains(file, field) for f in faults)}


UPROOT = [  # 5.7.7
    Fault("it computes values of Real32Quant columns with 32 bits", "types_.*", ".*Real32Quant.*"),
    Fault("awkward has no optionals of optionals and variants of variants", "types_.*", "opt_opt_int32|var_var"),
    Fault("it puts the members of base classes beside those of the class", "types_.*", "OfEmpty|Derived|vec_Derived"),
    Fault("it cannot read bitsets of no entries", "types_.*_empty", ".*bitset.*|Mixed"),
    Fault(
        "after the first cluster, it takes the offsets of variants for those in the RNTuple",
        "types_.*_(many|groups)|special_late.*",
        "var_.*|.*_var|Mixed|late_variant",
    ),
    Fault("it does not know the algorithm CS", "types_cs_one", ".*"),
    Fault("it does not know blobs in chunks", "special_chunks_.*", ".*"),
    Fault("it reads one of several representations of a column only", "special_multirep.*", ".*"),
]


def note(wrong: dict[str, object], field: str, got: list[Any], want: list[Any]) -> None:
    """Notes the first value of a field that differs."""
    if got != want:
        wrong[field] = next(((g, w) for g, w in zip(got, want) if g != w), (len(got), len(want)))


def structured(node: exact.Node) -> exact.Node:
    return node | {"structure": node["role"], "fields": [structured(k) for k in node["fields"]]}


def reference() -> Any:
    """Returns testdata/gen/shared_reference.py, which makes exact JSON of what uproot reads."""
    spec = importlib.util.spec_from_file_location("reference", exact.ROOT / "testdata" / "gen" / "shared_reference.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    with warnings.catch_warnings():
        spec.loader.exec_module(module)
    module.PLAIN, module.COLLECTION, module.RECORD, module.VARIANT = "plain", "collection", "record", "variant"
    return module


def everything() -> list[tuple[Path, str]]:
    """Returns the files and names of all RNTuples of testdata/good, and of those beside this repository."""
    good = [(f.path, f.name) for f in exact.expected()]
    public = [(exact.SHARED / "root" / e["file"], e["ntuple"]) for e in shared() if int(e["entries"]) <= MANY // 100]
    return [*good, *public]


def label(of: object) -> str:
    return of.stem if isinstance(of, Path) else str(of)


# uproot is slow, and how a file is compressed makes no difference to it but for CS, which it does not know.
SLOW = re.compile("types_(zlib|lzma|lz4)_one")


@pytest.mark.parametrize(("path", "name"), [e for e in everything() if not SLOW.match(e[0].stem)], ids=label)
def test_uproot(path: Path, name: str) -> None:
    """uproot reads the same values, field by field."""
    if not path.exists():
        needs_shared()
    printer, wrong = reference(), {}
    nodes = typed(path, name)
    table = read(path, name, nodes)
    sound = [n["name"] for n in nodes if not any(f.explains(path.stem, n["name"]) for f in UPROOT)]
    with uproot.open(path) as file:
        # All at once is faster by far.
        arrays = file[name].arrays(filter_name=[*sound, *(f"{s}.*" for s in sound)], ak_add_doc=False) if sound else {}
        for node in nodes:
            field = node["name"]
            try:
                if field in sound:
                    values = arrays[field]
                else:
                    values = file[name].arrays(filter_name=[field, field + ".*"], ak_add_doc=False)[field]
                want = printer.texts(ak.to_packed(values).layout, structured(node))
            except Exception as e:  # whatever uproot raises
                wrong[field] = repr(e)[:200]
                continue
            note(wrong, field, exact.texts(table[field], node), want)
    explained(UPROOT, path.stem, wrong)


def typed(path: Path, name: str) -> list[exact.Node]:
    """Returns the fields that Arrow has types for, without objects of ROOT's streamers."""
    nodes = [n for n in exact.fields(path, name) if not exact.streamed(n)]
    return [n for n in nodes if n["name"] not in NO_TYPE.get(path.stem, set())]


def by_pandas(dataset: rntuple.Dataset, fields: list[str]) -> dict[str, pa.Array]:
    types = dataset.arrow(fields, binary=True, structs=True).schema
    frame = dataset.pandas(fields, binary=True)
    return {n: pa.array(frame[n], types.field(n).type, from_pandas=False) for n in fields}


# What other programs make of Arrow data, and back.
TOOLS: dict[str, Callable[[rntuple.Dataset, list[str]], Any]] = {
    "pandas": by_pandas,
    "polars": lambda d, fields: d.polars(fields, binary=True).to_arrow(),
    "duckdb": lambda d, fields: d.duckdb(fields, binary=True).to_arrow_table(),
    "awkward": lambda d, fields: ak.to_arrow_table(d.awkward(fields, binary=True), extensionarray=False),
}

def without_nan(match: re.Match[str]) -> str:
    value = np.frombuffer(bytes.fromhex(match[1]), f">f{len(match[1]) // 2}")
    return "null" if np.isnan(value[0]) else match[0]


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(("path", "name"), everything(), ids=label)
def test_tools(tool: str, path: Path, name: str) -> None:
    """Other programs have the same values."""
    if not path.exists():
        needs_shared()
    nodes, wrong = typed(path, name), {}
    table = read(path, name, nodes)
    values = TOOLS[tool](rntuple.open(path, name), table.column_names)
    for node in nodes:
        field = node["name"]
        got, want = exact.texts(values[field], node), exact.texts(table[field], node)
        if tool == "pandas":  # which has NaNs for floats that are missing
            got, want = ([re.sub('"0x([0-9a-f]{8}|[0-9a-f]{16})"', without_nan, text) for text in texts] for texts in (got, want))
        note(wrong, field, got, want)
    assert not wrong
