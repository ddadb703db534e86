"""Reads and writes RNTuple, the columnar data format of CERN's ROOT, as Apache Arrow.

    import rntuple

    events = rntuple.open("events.root")
    events.keys(), events.typenames(), events.num_entries
    events.arrays(["run", "Muon_*"], "nMuon == 2")     # an awkward.Array, as uproot returns it
    events.pandas(["run", "nMuon"])                    # or polars, duckdb
    events.arrow("Muon_*", "nMuon == 2")               # a pyarrow.RecordBatchReader
    rntuple.write("copy.root", events.arrow())

A library in the package, librntuple, does the work in this process, without copies; where it is not, the program rnt does, in a
process of its own. Neither ROOT nor a compiler is needed. Whatever goes wrong there is an Error here, never a shorter table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._dataset import Dataset, Field, Options, Selection, concatenate, open
from ._errors import (
    ArgumentError,
    CorruptError,
    Error,
    ExistsError,
    ExpressionError,
    FieldError,
    InputError,
    LimitError,
    NotFoundError,
    UnsupportedError,
)
from ._listing import list
from ._program import program
from ._write import write

if TYPE_CHECKING:
    from pyarrow import RecordBatchReader

__all__ = [
    "ArgumentError",
    "CorruptError",
    "Dataset",
    "Error",
    "ExistsError",
    "ExpressionError",
    "Field",
    "FieldError",
    "InputError",
    "LimitError",
    "NotFoundError",
    "Options",
    "RecordBatchReader",
    "Selection",
    "UnsupportedError",
    "concatenate",
    "list",
    "open",
    "program",
    "write",
]


def __getattr__(name: str) -> Any:
    # What takes long to import waits until it is needed.
    if name == "RecordBatchReader":
        import pyarrow

        return pyarrow.RecordBatchReader
    if name == "__version__":
        from importlib.metadata import version

        return version("rntuple")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
