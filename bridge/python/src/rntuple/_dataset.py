"""Reading."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, Union

import pyarrow

from ._listing import listing
from ._program import Error, Path, named
from ._stream import RecordBatchReader, read

if TYPE_CHECKING:
    import awkward
    import duckdb
    import pandas
    import polars
    from typing_extensions import Unpack

Fields = Union[str, Sequence[str], None]


class Options(TypedDict, total=False):
    """Options that all methods take that read."""

    entries: tuple[int, int | None]
    """Only the entries from the first up to, but not including, the second, None for all; of those that meet the condition."""
    define: Mapping[str, str]
    """Names for expressions, which the condition, and later ones, may use."""
    batch_size: int
    """The most entries in a record batch; 65,536 by default."""
    lists: int
    """The bits of offsets of lists and strings: 64, or 32 for programs that know no others."""
    binary: bool
    """Strings are binaries. Strings that are not UTF-8 are an error otherwise."""
    structs: bool
    """Variants are structs with a nullable member for each alternative, not unions."""
    pairs: bool
    """Maps are lists of structs, not Arrow's maps."""
    collections: bool
    """With all fields, also untyped collections of which each member has a projected field."""


def open(
    path: Path | Sequence[Path], name: str | None = None, *, rnt: Path | None = None, jobs: int | None = None
) -> Dataset:
    """Opens an RNTuple.

    path may be a list of files, whose entries follow each other. name is the name of the RNTuple, with its directories; it
    may be left out if each file has one RNTuple at its top level. rnt is the path of the program to use instead of the one that
    program() returns, jobs the most processors that it uses.

    Nothing is read before it is asked for, so a file that cannot be read is an Error then.
    """
    return Dataset([path] if isinstance(path, (str, os.PathLike)) else path, name, rnt=rnt, jobs=jobs)


class Dataset:
    """An RNTuple, or those of several files, one after the other; open() makes it.

    It holds nothing open: each call of a method starts rnt anew, so a Dataset may be used from several threads and processes.
    It is itself an Arrow stream, as often as it is asked for one: pyarrow.table(dataset) and polars.DataFrame(dataset) work,
    and so do queries of DuckDB on a variable that holds it.
    """

    def __init__(self, paths: Sequence[Path], name: str | None, *, rnt: Path | None, jobs: int | None) -> None:
        if not paths:
            raise ValueError("no file is named")
        self.paths = [named(p) for p in paths]
        self.name = name
        self._rnt, self._jobs = rnt, jobs
        self._schema: pyarrow.Schema | None = None
        self._num_entries: int | None = None

    def __repr__(self) -> str:
        name = "" if self.name is None else f", {self.name!r}"
        paths = repr(self.paths[0]) if len(self.paths) == 1 else f"{len(self.paths)} files"
        return f"rntuple.Dataset({paths}{name})"

    @property
    def schema(self) -> pyarrow.Schema:
        """The schema of the record batches of arrow(), with C++ types and descriptions as metadata."""
        if self._schema is None:
            self._schema = self._read(entries=(0, 0)).read_all().schema
        return self._schema

    @property
    def num_entries(self) -> int:
        """The number of entries."""
        if self._num_entries is None:
            files = dict.fromkeys(self.paths)
            found = listing(list(files), self._rnt)
            numbers = {p: self._entries(p, [f for f in found if f["file"] == p or len(files) == 1]) for p in files}
            self._num_entries = sum(numbers[p] for p in self.paths)
        return self._num_entries

    def __len__(self) -> int:
        return self.num_entries

    def arrow(self, fields: Fields = None, where: str | None = None, **options: Unpack[Options]) -> RecordBatchReader:
        """Returns a pyarrow.RecordBatchReader of the entries.

        fields are names, paths or patterns of fields, one or a list, such as ["run", "Muon_*"]; by default all. where is a
        condition in rnt's language of expressions: "nMuon == 2 && any(Muon_pt, # > 20)".

        Fields that do not exist and the like are an Error at once. Reading on raises an Error if the file is damaged, or if rnt
        ends for another reason; never does a table end early. Closing the reader, or dropping it, ends rnt.
        """
        return self._read(fields, where, **options)

    def pandas(self, fields: Fields = None, where: str | None = None, **options: Unpack[Options]) -> pandas.DataFrame:
        """Returns a pandas.DataFrame.

        Numbers have NumPy's types, lists are arrays in columns of objects, and so are integers of which some are missing, since
        NumPy's have no value for that.
        """
        _needs("pandas")
        options.setdefault("structs", True)
        return self._read(fields, where, **options).read_pandas(integer_object_nulls=True)

    def polars(self, fields: Fields = None, where: str | None = None, **options: Unpack[Options]) -> polars.DataFrame:
        """Returns a polars.DataFrame, which shares the memory of the record batches where Polars can."""
        pl = _needs("polars")
        options.setdefault("structs", True)
        frame: polars.DataFrame = pl.from_arrow(self._read(fields, where, **options).read_all())
        return frame

    def awkward(self, fields: Fields = None, where: str | None = None, **options: Unpack[Options]) -> awkward.Array:
        """Returns an awkward.Array of records, one for each entry.

        Variants are structs by default, because awkward makes one type of all the numbers in a union, if need be a less exact one.
        """
        ak = _needs("awkward")
        options.setdefault("structs", True)
        options.setdefault("pairs", True)
        array: awkward.Array = ak.from_arrow(self._read(fields, where, **options).read_all())
        return array

    def duckdb(
        self,
        fields: Fields = None,
        where: str | None = None,
        *,
        connection: duckdb.DuckDBPyConnection | None = None,
        **options: Unpack[Options],
    ) -> duckdb.DuckDBPyRelation:
        """Returns a DuckDB relation, of a connection or the default one.

        DuckDB reads the entries whenever the relation is evaluated. It does not tell which columns a query needs, so name them
        as fields. An Error becomes one of DuckDB, with the same message.
        """
        source = connection or _needs("duckdb")
        options.setdefault("structs", True)
        options.setdefault("pairs", True)
        relation: duckdb.DuckDBPyRelation = source.from_arrow(_Scan(self, fields, where, options))
        return relation

    def _entries(self, path: str, found: Sequence[Mapping[str, Any]]) -> int:
        """Returns the number of entries of the RNTuple in one of the files, given what list returns for that."""
        if self.name is None:
            found = [f for f in found if "/" not in f["path"] and ";" not in f["path"]]
            if len(found) != 1:
                raise Error(f"{path}: has {len(found)} RNTuples at its top level; which one?")
        else:
            names = {f["path"] for f in found}
            name = self.name.strip("/")
            if name not in names:
                # Only superseded cycles are listed with their numbers.
                Dataset([path], self.name, rnt=self._rnt, jobs=self._jobs).schema
                name = name.partition(";")[0]
            found = [f for f in found if f["path"] == name]
        if "error" in found[0]:
            raise Error(f"{path}: {found[0]['error']}", 1)
        entries: int = found[0]["entries"]
        return entries

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return _exported(self._read(), requested_schema)

    def _read(
        self,
        fields: Fields = None,
        where: str | None = None,
        *,
        entries: tuple[int, int | None] = (0, None),
        define: Mapping[str, str] | None = None,
        batch_size: int | None = None,
        lists: int = 64,
        binary: bool = False,
        structs: bool = False,
        pairs: bool = False,
        collections: bool = False,
    ) -> RecordBatchReader:
        args = ["arrow", f"--lists={lists}"]
        if fields is not None:
            args += _fields([fields] if isinstance(fields, str) else fields)
        if where is not None:
            args.append(f"--where={where}")
        first, end = entries
        if not 0 <= first <= (first if end is None else end):
            raise ValueError(f"entries from {first} to {end}")
        args.append(f"--first={first}")
        if end is not None:
            args.append(f"--count={end - first}")
        args += [f"--define={name}={expression}" for name, expression in (define or {}).items()]
        if batch_size is not None:
            args.append(f"--batch-size={batch_size}")
        flags = {"--binary": binary, "--structs": structs, "--pairs": pairs, "--collections": collections}
        args += [flag for flag, on in flags.items() if on]
        if self.name is not None:
            args.append(f"--name={self.name}")
        if self._jobs is not None:
            args.append(f"--jobs={self._jobs}")
        return read(self._rnt, [*args, "--", *self.paths])


class _Scan:
    """What a relation of DuckDB reads, each time anew."""

    def __init__(self, dataset: Dataset, fields: Fields, where: str | None, options: Options) -> None:
        self._dataset, self._fields, self._where, self._options = dataset, fields, where, options

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        reader: pyarrow.RecordBatchReader = self._dataset.arrow(self._fields, self._where, **self._options)
        halves = [i for i, f in enumerate(reader.schema) if f.type == pyarrow.float16()]
        if halves:  # DuckDB has none
            schema = reader.schema
            for i in halves:
                schema = schema.set(i, schema.field(i).with_type(pyarrow.float32()))
            reader = reader.cast(schema)
        return _exported(reader, requested_schema)


def _exported(reader: pyarrow.RecordBatchReader, requested_schema: object | None) -> object:
    stream: object = reader.__arrow_c_stream__(requested_schema)  # type: ignore[no-untyped-call]
    return stream


def _fields(names: Sequence[str]) -> list[str]:
    """Returns the flag for fields, in which commas separate names as in CSV."""
    if not names:
        raise ValueError("no field is named")
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return [f"--fields={line.getvalue()}"]


def _needs(package: str) -> Any:
    """Returns a package that need not be installed."""
    try:
        return __import__(package)
    except ImportError as e:
        raise ImportError(f"Dataset.{package} needs the package {package}: pip install {package}", name=package) from e
