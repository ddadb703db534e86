"""The RNTuples in files."""

from __future__ import annotations

import builtins
import json
from typing import Any

from ._errors import Error
from ._program import Path, named, output


def list(path: Path, *, rnt: Path | None = None) -> builtins.list[dict[str, Any]]:
    """Returns what there is about each RNTuple in a file, also in directories.

    Each is a dict with at least "path", the name with its directories, and of a superseded cycle its number, "entries",
    "fields", "disk_bytes" and "compression"; or with "path" and "error" if it cannot be read. A file without RNTuples has
    an empty list.
    """
    return listing([named(path)], rnt)


def listing(paths: builtins.list[str], rnt: Path | None) -> builtins.list[dict[str, Any]]:
    found: builtins.list[dict[str, Any]] = parsed(rnt, ["ls", "--json", "--", *paths])
    return found


def parsed(rnt: Path | None, args: builtins.list[str]) -> Any:
    """Runs rnt and returns what it prints as JSON."""
    try:
        return json.loads(output(rnt, args))
    except ValueError as e:
        raise Error(f"rnt {args[0]} prints no JSON: {e}", 0) from e
