"""Writing."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, cast

from . import _errors, _library
from ._program import Path, check, named, start

if TYPE_CHECKING:
    import pyarrow


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
    else that is an Arrow stream; an awkward.Array of records; or a dict of columns.

    Columns of tables, frames, arrays and dicts become std::optional only if they have nulls, as pandas' NaN are, and so do their
    items and members. A stream is not known before it ends: there, all that its schema calls nullable is optional.

    Types that C++ does not have, such as dates, are kept in an attribute set, of which ROOT warns; so is an index of pandas.

    compression is an algorithm and a level as rnt names them, "zstd:5" for example. An existing file is replaced only with
    overwrite.

    A file appears when all is written: if anything goes wrong, also in the stream, the file is as it was.
    """
    reader = _reader(table)
    library = None if rnt is not None else _library.library()
    if library:
        mode = "overwrite" if overwrite else "create"
        return _written(library, named(path), reader, {"name": name, "mode": mode, "compression": compression})
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


def _written(library: _library.Library, path: str, reader: pyarrow.RecordBatchReader, options: Mapping[str, Any]) -> None:
    import pyarrow

    failed: list[BaseException] = []

    def batches() -> Iterator[pyarrow.RecordBatch]:
        try:
            yield from reader
        except BaseException as e:  # the library would only know its text
            failed.append(e)
            raise

    again: Any = pyarrow.RecordBatchReader.from_batches(reader.schema, batches())
    try:
        library.write(path, _library.stream_of(again.__arrow_c_stream__()), options)
    except _errors.ExistsError as e:
        raise _errors.ExistsError(f"{e}; overwrite=True replaces it") from None
    except _errors.Error:
        if failed:
            raise failed[0] from None
        raise


def _send(reader: pyarrow.RecordBatchReader, pipe: IO[bytes]) -> None:
    import pyarrow.ipc

    from ._stream import widen

    widen(pipe)
    writer = pyarrow.ipc.new_stream(cast(io.IOBase, pipe), reader.schema)
    for batch in reader:
        writer.write_batch(batch)
    writer.close()
    pipe.close()


def _reader(table: Any) -> pyarrow.RecordBatchReader:
    import pyarrow

    if isinstance(table, pyarrow.RecordBatchReader):
        return table
    package = type(table).__module__.partition(".")[0]
    if package == "awkward":
        import awkward

        table = awkward.to_arrow_table(table, extensionarray=False).replace_schema_metadata()  # awkward's parameters
    if isinstance(table, dict) or (package in ("pandas", "polars") and hasattr(table, "__arrow_c_stream__")):
        table = pyarrow.table(table)
    if isinstance(table, pyarrow.RecordBatch):
        table = pyarrow.Table.from_batches([table])
    if isinstance(table, pyarrow.Table):
        return _without_nulls(table).to_reader()
    if hasattr(table, "__arrow_c_stream__"):
        return pyarrow.RecordBatchReader.from_stream(table)
    raise TypeError(f"{type(table).__name__} is neither a table nor an Arrow stream")


def _without_nulls(table: pyarrow.Table) -> pyarrow.Table:
    """Returns a table whose schema says where there are no nulls, and nothing of an index that pandas makes by itself."""
    import pyarrow

    fields, columns = [], []
    for field, column in zip(table.schema, table.columns):
        exact = _plain(field, column.chunks)
        try:
            columns.append(column if exact.type == field.type else column.cast(exact.type))
        except pyarrow.ArrowException:  # a type that pyarrow does not cast keeps its nullable items
            exact = exact.with_type(field.type)
            columns.append(column)
        fields.append(exact)
    metadata: Any = table.schema.metadata
    if metadata and b"pandas" in metadata:
        index = json.loads(metadata[b"pandas"])["index_columns"]
        if all(isinstance(i, dict) and (i["kind"], i["name"], i["start"], i["step"]) == ("range", None, 0, 1) for i in index):
            metadata = {key: value for key, value in metadata.items() if key != b"pandas"}
    return pyarrow.Table.from_arrays(columns, schema=pyarrow.schema(fields, metadata))


def _plain(field: pyarrow.Field[Any], chunks: Sequence[Any]) -> pyarrow.Field[Any]:
    """Returns a field that is nullable only if there are nulls in the arrays, and so with its items and members."""
    import pyarrow

    kind: Any = field.type
    types = pyarrow.types
    if types.is_run_end_encoded(kind):
        return field  # its nulls are in the values
    nullable = any(c.null_count or (types.is_dictionary(kind) and c.dictionary.null_count) for c in chunks)
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        item = _plain(kind.value_field, [c.flatten() for c in chunks])
        if types.is_fixed_size_list(kind):
            kind = pyarrow.list_(item, kind.list_size)
        else:
            kind = pyarrow.list_(item) if types.is_list(kind) else pyarrow.large_list(item)
    elif types.is_struct(kind):
        kind = pyarrow.struct([_plain(kind.field(i), [c.field(i) for c in chunks]) for i in range(kind.num_fields)])
    return field.with_type(kind).with_nullable(field.nullable and nullable)
