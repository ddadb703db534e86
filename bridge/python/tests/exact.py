"""Values as exact JSON, the form that package internal/test/golden describes, guided by the fields of an RNTuple."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import rntuple

ROOT = Path(__file__).resolve().parents[3]
GOOD = Path(os.environ.get("RNTUPLE_GOOD", ROOT / "testdata" / "good"))  # the interop tests have others
SHARED = ROOT.parent / "shared" / "testdata"

Node = dict[str, Any]  # a field: name, type, role and fields, as rnt schema --json prints them


def fields(path: Path, name: str | None = None) -> list[Node]:
    """Returns the top-level fields of an RNTuple that can be read."""
    command = [rntuple.program(), "schema", "--json", str(path), *([] if name is None else [name])]
    document = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return [complete(f) for f in document["fields"]]


def complete(node: Node) -> Node:
    node.setdefault("type", "")
    node["fields"] = [complete(f) for f in node.get("fields", [])]
    return node


def streamed(node: Node) -> bool:
    """Reports whether a field has objects of ROOT's streamers, which only ROOT can print."""
    return node["role"] == "streamer" or any(map(streamed, node["fields"]))


def string(b: bytes) -> str:
    text = json.dumps(b.decode("utf-8", "surrogateescape"), ensure_ascii=False)
    return re.sub("[\ud800-\udfff]", lambda m: f"\\u{ord(m[0]):04x}", text)


def listed(items: list[str], node: Node) -> str:
    if node["type"].startswith("std::unordered_"):
        items = sorted(items, key=str.encode)
    return "[" + ",".join(items) + "]"


def cut(items: list[str], lengths: list[int]) -> list[list[str]]:
    """Returns the items of lists with the lengths."""
    ends = np.cumsum([0, *lengths]).tolist()
    assert ends[-1] == len(items)
    return [items[a:b] for a, b in zip(ends, ends[1:])]


def texts(array: pa.Array | pa.ChunkedArray, node: Node) -> list[str]:
    """Returns the JSON texts of the values of a field, or of its items."""
    if isinstance(array, pa.ChunkedArray):
        return [text for chunk in array.chunks for text in texts(chunk, node)]
    if len(array) == 0:
        return []
    kind, kids = node["type"], node["fields"]
    if not pa.types.is_union(array.type) and array.null_count:
        there = iter(texts(array.drop_null(), node))
        return [next(there) if valid else "null" for valid in array.is_valid().to_pylist()]
    if kind.startswith(("std::optional<", "std::unique_ptr<")):
        inner = kids[0]
        while inner["role"] == "plain" and len(inner["fields"]) == 1 and "array_size" not in inner and not nullable(inner):
            inner = inner["fields"][0]
        wrapped = nullable(inner) or inner["role"] == "variant" and pa.types.is_struct(array.type) and named(array) == ["_0"]
        return texts(array.field(0) if wrapped else array, inner)
    if node["role"] == "variant":
        return alternatives(array, kids)
    if pa.types.is_struct(array.type):
        members = [texts(array.field(i), k) for i, k in enumerate(kids)]
        bare = kind.startswith(("std::pair<", "std::tuple<"))
        names = ["" if bare else string(k["name"].encode()) + ":" for k in kids]
        rows = zip(*members) if kids else [()] * len(array)
        rows = [",".join(map(str.__add__, names, row)) for row in rows]
        return [f"[{r}]" if bare else "{" + r + "}" for r in rows]
    if kind.startswith("std::bitset<"):
        bits = ["01"[b] for b in array.flatten().to_pylist()]
        return ['"' + "".join(reversed(row)) + '"' for row in cut(bits, lengths(array))]
    if node["role"] == "collection" and re.match(r"std::(unordered_)?(multi)?map<", kind):
        return maps(array, node)
    if pa.types.is_nested(array.type):
        return [listed(row, node) for row in cut(texts(array.flatten(), kids[0]), lengths(array))]
    if len(kids) == 1:  # an enumeration, or atomic
        return texts(array, kids[0])
    return scalars(array, kind)


def nullable(node: Node) -> bool:
    return bool(node["type"].startswith(("std::optional<", "std::unique_ptr<")))


def named(array: pa.Array) -> list[str]:
    return [array.type.field(i).name for i in range(array.type.num_fields)]


def lengths(array: pa.Array) -> list[int]:
    if pa.types.is_fixed_size_list(array.type):
        return [array.type.list_size] * len(array)
    return np.diff(np.asarray(array.offsets)).tolist()


def alternatives(array: pa.Array, kids: list[Node]) -> list[str]:
    if pa.types.is_union(array.type):
        values = [texts(array.field(i), k) for i, k in enumerate(kids)]
        codes, offsets = array.type_codes.to_pylist(), array.offsets.to_pylist()
        return [values[c][i] if c < len(kids) else "null" for c, i in zip(codes, offsets)]
    found = ["null"] * len(array)
    for i, kid in enumerate(kids):
        member = array.field(i)
        if nullable(kid):
            kid = {"name": "_0", "type": "std::optional<>", "role": "plain", "fields": [kid]}
        for row, (text, valid) in enumerate(zip(texts(member, kid), member.is_valid().to_pylist())):
            if valid:
                assert found[row] == "null", "two alternatives"
                found[row] = text
    return found


def maps(array: pa.Array, node: Node) -> list[str]:
    key, value = node["fields"][0]["fields"]
    if pa.types.is_map(array.type):
        first, end = array.offsets[0].as_py(), array.offsets[-1].as_py()
        pairs = [array.keys[first:end], array.items[first:end]]
    else:
        pairs = array.flatten().flatten()
    keys, values = texts(pairs[0], key), texts(pairs[1], value)
    rows = []
    for k, v in zip(cut(keys, lengths(array)), cut(values, lengths(array))):
        if key["type"] == "std::string" and not node["type"].startswith("std::unordered_") and len(set(k)) == len(k):
            rows.append("{" + ",".join(map("{}:{}".format, k, v)) + "}")
        else:
            rows.append(listed(list(map("[{},{}]".format, k, v)), node))
    return rows


def scalars(array: pa.Array, kind: str) -> list[str]:
    if pa.types.is_boolean(array.type):
        return ["true" if b else "false" for b in array.to_pylist()]
    if pa.types.is_floating(array.type):
        bits = array.type.bit_width
        assert bits == {"float": 32, "double": 64}[kind]
        return [f'"0x{b:0{bits // 4}x}"' for b in array.view(f"uint{bits}").to_pylist()]
    if pa.types.is_integer(array.type):
        return list(map(str, array.to_pylist()))
    assert kind == "std::string", kind
    return list(map(string, array.cast(pa.large_binary()).to_pylist()))


class Expected:
    """An RNTuple of which ROOT has printed all values."""

    def __init__(self, file: str, ntuple: str, jsonl: str, **_: object) -> None:
        self.path, self.name, self.jsonl = GOOD / file, ntuple, GOOD / jsonl

    def __repr__(self) -> str:
        return f"{self.path.stem}-{self.name}"

    def columns(self) -> dict[str, list[Any]]:
        with gzip.open(self.jsonl, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        return {name: [row[name] for row in rows] for name in (rows[0] if rows else [])}


def expected() -> list[Expected]:
    """Returns all of testdata/good."""
    manifests = [json.loads(path.read_text()) for path in sorted(GOOD.glob("*manifest.json"))]
    return [Expected(**entry) for m in manifests for entry in m if "attrset" not in entry]
