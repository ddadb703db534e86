"""Writing."""

from __future__ import annotations

import contextlib
import io
import subprocess
from typing import IO, Any, cast

import pyarrow
import pyarrow.ipc

from ._program import Path, check, named, start
from ._stream import widen


def write(
    path: Path,
    table: Any,
    name: str = "Events",
    *,
    compression: str | None = None,
    overwrite: bool = False,
    rnt: Path | None = None,
) -> None:
    """Writes a table as an RNTuple in a new ROOT file.

    table may be a pyarrow.Table, RecordBatch or RecordBatchReader; a frame of pandas or Polars, a DuckDB relation or anything
    else that is an Arrow stream; an awkward.Array of records; or a dict of columns. compression is an algorithm and a level as
    rnt names them, "zstd:5" for example. An existing file is replaced only with overwrite.

    A file appears when all is written: if anything goes wrong, also in the stream, the file is as it was.
    """
    reader = _reader(table)
    args = ["convert", "--from=arrows", "--to=rntuple", f"--new-name={name}"]
    if compression is not None:
        args.append(f"--compression={compression}")
    if overwrite:
        args.append("--force")
    process, messages = start(rnt, [*args, "--", "-", named(path)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert process.stdin is not None
    with messages:
        try:
            _send(reader, process.stdin)
            check(process.wait(), messages)
        except BaseException as e:
            # rnt must not take the end of the pipe for that of the table, so it ends first.
            process.terminate()
            status = process.wait()
            with contextlib.suppress(OSError):
                process.stdin.close()
            if isinstance(e, BrokenPipeError):
                check(status, messages)
            raise


def _send(reader: pyarrow.RecordBatchReader, pipe: IO[bytes]) -> None:
    widen(pipe)
    writer = pyarrow.ipc.new_stream(cast(io.IOBase, pipe), reader.schema)
    for batch in reader:
        writer.write_batch(batch)
    writer.close()
    pipe.close()


def _reader(table: Any) -> pyarrow.RecordBatchReader:
    if isinstance(table, pyarrow.RecordBatchReader):
        return table
    if type(table).__module__.partition(".")[0] == "awkward":
        import awkward

        table = awkward.to_arrow_table(table, extensionarray=False)
    if isinstance(table, dict):
        table = pyarrow.table(table)
    if isinstance(table, pyarrow.RecordBatch):
        table = pyarrow.Table.from_batches([table])
    if isinstance(table, pyarrow.Table):
        return table.to_reader()
    if hasattr(table, "__arrow_c_stream__"):
        return pyarrow.RecordBatchReader.from_stream(table)
    raise TypeError(f"{type(table).__name__} is neither a table nor an Arrow stream")
