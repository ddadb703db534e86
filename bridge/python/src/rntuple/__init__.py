"""Reads and writes RNTuple, the columnar data format of CERN's ROOT, as Apache Arrow.

    import rntuple

    events = rntuple.open("events.root")
    events.schema                              # a pyarrow.Schema
    events.arrow("Muon_*", "nMuon == 2")       # a pyarrow.RecordBatchReader
    events.pandas(["run", "nMuon"])            # or polars, awkward, duckdb
    rntuple.write("copy.root", events.arrow())

The program rnt, which comes with the package, does the work in a process of its own and hands over record batches through
a pipe. Neither ROOT nor a compiler is needed. Whatever goes wrong there is an Error here, never a shorter table.
"""

from ._dataset import Dataset, Options, open
from ._listing import list
from ._program import Error, program
from ._stream import RecordBatchReader
from ._write import write

__all__ = ["Dataset", "Error", "Options", "RecordBatchReader", "list", "open", "program", "write"]
