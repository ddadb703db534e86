"""The RNTuples in files."""

from __future__ import annotations

import builtins
import json
from typing import Any

from ._program import Path, named, output


def list(path: Path, *, rnt: Path | None = None) -> builtins.list[dict[str, Any]]:
    """Returns what there is about each RNTuple in a file, also in directories.

    Each is a dict with at least "path", the name with its directories, and of a superseded cycle its number, "entries",
    "fields", "disk_bytes" and "compression"; or with "path" and "error" if it cannot be read. A file without RNTuples has
    an empty list.
    """
    return listing([named(path)], rnt)


def listing(paths: builtins.list[str], rnt: Path | None) -> builtins.list[dict[str, Any]]:
    found: builtins.list[dict[str, Any]] = json.loads(output(rnt, ["ls", "--json", "--", *paths]))
    return found
