"""Reading."""

from __future__ import annotations

import builtins
import fnmatch
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, Union

from . import _library
from ._errors import ArgumentError, Error, FieldError
from ._program import Path, named

if TYPE_CHECKING:
    import awkward
    import duckdb
    import numpy
    import pandas
    import polars
    import pyarrow
    from typing_extensions import Unpack

Fields = Union[str, Sequence[str], None]
Filter = Union[str, Sequence[str], Callable[[str], bool], None]
Kind = Literal["ak", "np", "pd"]


class Options(TypedDict, total=False):
    """Options that all methods take that read."""

    entries: tuple[int, int | None]
    """Only the entries from the first up to, but not including, the second, None for all; of those that meet the condition."""
    entry_start: int | None
    """The first entry of the RNTuple to read, whatever the condition; counted from the end if it is negative."""
    entry_stop: int | None
    """The entry of the RNTuple to stop before, likewise."""
    define: Mapping[str, str]
    """Names for expressions, which the condition, and later ones, may use."""
    compute: Mapping[str, str]
    """Names of columns to add, and expressions that they are computed by; "name:type" gives the type in C++."""
    entry_numbers: str
    """The name of a column to add, with the number of each entry in the RNTuple."""
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


class Selection(TypedDict, total=False):
    """What arrays, iterate and concatenate take to choose entries and fields, as uproot does."""

    entry_start: int | None
    """The first entry of the RNTuple to read, whatever the cut; counted from the end if it is negative."""
    entry_stop: int | None
    """The entry of the RNTuple to stop before, likewise."""
    filter_name: Filter
    """Which fields to read: patterns such as "Muon_*", regular expressions such as "/Muon_.*/i", or a function of a name."""
    aliases: Mapping[str, str]
    """Names for expressions, which the cut, the expressions, and later aliases may use."""


def open(
    path: Path | Sequence[Path], name: str | None = None, *, rnt: Path | None = None, jobs: int | None = None
) -> Dataset:
    """Opens an RNTuple.

    path may be a URL, a pattern of files such as "run*.root", or a list of these; entries of several files follow each other.
    name is the name of the RNTuple, with its directories, which may also stand behind the path: "events.root:Events". It may
    be left out if each file has one RNTuple at its top level. rnt is the path of the program to use instead of the library;
    jobs is the most processors to use.

    Nothing is read before it is asked for, so a file that cannot be read is an Error then.
    """
    paths = [path] if isinstance(path, (str, os.PathLike)) else path
    if not paths:
        raise ValueError("no file is named")
    split = [_split(named(p)) if name is None else (named(p), name) for p in paths]
    names = {n for _, n in split}
    if len(names) > 1:
        raise ValueError("the paths name different RNTuples; give one name for all")
    return Dataset([p for p, _ in split], names.pop(), rnt=rnt, jobs=jobs)


def _split(path: str) -> tuple[str, str | None]:
    """Returns a path and the name of the RNTuple behind it."""
    if path.startswith("~") and not os.path.lexists(path):
        path = os.path.expanduser(path)
    head, colon, name = path.rpartition(":")
    if re.match("[a-z]+://", path):
        whole = not re.match("[a-z]+://[^/]*/.", head)  # the colon is that of the port
    else:
        whole = os.path.lexists(path) or (os.name == "nt" and len(head) == 1)
    return (path, None) if whole or not (colon and name) else (head, name)


class Backend(Protocol):
    """What reads: the library, or the program in its place. Queries are options of rntuple_stream in rntuple.h."""

    def describe(self) -> dict[str, Any]: ...
    def schema(self, query: Mapping[str, Any]) -> pyarrow.Schema: ...
    def schema_capsule(self, query: Mapping[str, Any]) -> object: ...
    def stream_capsule(self, query: Mapping[str, Any]) -> object: ...
    def reader(self, query: Mapping[str, Any]) -> pyarrow.RecordBatchReader: ...
    def close(self) -> object: ...


class Dataset:
    """An RNTuple, or those of several files, one after the other; open() makes it.

    It opens the files when they are needed, and keeps them open until it is closed, by close() or at the end of "with", or
    dropped. It may be used by several threads at once, and pickled, as a description of what to open.

    It is itself an Arrow stream, as often as it is asked for one: pyarrow.table(dataset) and polars.DataFrame(dataset) work,
    and so do queries of DuckDB on a variable that holds it.
    """

    def __init__(self, paths: Sequence[str], name: str | None, *, rnt: Path | None, jobs: int | None) -> None:
        self.paths = builtins.list(paths)
        self.name = name
        self._rnt, self._jobs = rnt, jobs
        self._opening = threading.Lock()
        self._opened: _library.Opened | None = None
        self._closed = False
        self._schema: pyarrow.Schema | None = None
        self._described: dict[str, Any] | None = None
        self._named: dict[str, dict[str, Any]] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.paths, self.name, self._rnt, self._jobs)

    def __repr__(self) -> str:
        name = "" if self.name is None else f", {self.name!r}"
        paths = repr(self.paths[0]) if len(self.paths) == 1 else f"{len(self.paths)} files"
        return f"rntuple.Dataset({paths}{name})"

    def close(self) -> None:
        """Closes the files, after which only what was read before can be used."""
        with self._opening:
            self._closed = True
            if self._opened:
                self._opened.close()

    def __enter__(self) -> Dataset:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _backend(self) -> Backend:
        library = None if self._rnt is not None else _library.library()
        if library is None:
            from ._stream import Program

            if self._closed:
                raise ValueError("the dataset is closed")
            return Program(self.paths, self.name, self._rnt, self._jobs)
        with self._opening:
            if self._closed:
                raise ValueError("the dataset is closed")
            if self._opened is None:
                self._opened = _library.Opened(library, self.paths, self.name, self._jobs)
            return self._opened

    def _description(self) -> dict[str, Any]:
        """Returns what rntuple_describe tells."""
        if self._described is None:
            self._described = self._backend().describe()
        return self._described

    @property
    def schema(self) -> pyarrow.Schema:
        """The schema of the record batches of arrow(), with C++ types and descriptions as metadata."""
        if self._schema is None:
            self._schema = self._backend().schema({})
        return self._schema

    @property
    def num_entries(self) -> int:
        """The number of entries."""
        entries: int = self._description()["entries"]
        return entries

    def __len__(self) -> int:
        return self.num_entries

    def __bool__(self) -> bool:
        return True

    def arrow(self, fields: Fields = None, where: str | None = None, **options: Unpack[Options]) -> pyarrow.RecordBatchReader:
        """Returns a pyarrow.RecordBatchReader of the entries.

        fields are names, paths or patterns of fields, one or a list, such as ["run", "Muon_*"]; by default all. where is a
        condition in rnt's language of expressions: "nMuon == 2 && any(Muon_pt, # > 20)".

        Fields that do not exist and the like are an Error at once. Reading on raises an Error if the file is damaged; never does
        a table end early. Dropping the reader ends what reads ahead for it.
        """
        return self._backend().reader(self._query(fields, where, **options))

    def pandas(self, fields: Fields = None, where: str | None = None, **options: Unpack[Options]) -> pandas.DataFrame:
        """Returns a pandas.DataFrame.

        Numbers have NumPy's types, lists are arrays in columns of objects, and so are integers of which some are missing, since
        NumPy's have no value for that.
        """
        _needs("pandas")
        options.setdefault("structs", True)
        return self.arrow(fields, where, **options).read_pandas(integer_object_nulls=True)

    def polars(self, fields: Fields = None, where: str | None = None, **options: Unpack[Options]) -> polars.DataFrame:
        """Returns a polars.DataFrame, which shares the memory of the record batches where Polars can."""
        pl = _needs("polars")
        options.setdefault("structs", True)
        frame: polars.DataFrame = pl.from_arrow(self.arrow(fields, where, **options).read_all())
        return frame

    def awkward(self, fields: Fields = None, where: str | None = None, **options: Unpack[Options]) -> awkward.Array:
        """Returns an awkward.Array of records, one for each entry.

        Variants are structs by default, because awkward makes one type of all the numbers in a union, if need be a less exact
        one.
        """
        options.setdefault("structs", True)
        options.setdefault("pairs", True)
        _needs("awkward")
        array: awkward.Array
        (array,) = self._arrays(self._query(fields, where, **options))
        return array

    def _arrays(self, query: Mapping[str, Any], *how: Any) -> Iterator[Any]:
        """Yields awkward arrays; see _awkward.arrays."""
        from . import _awkward

        try:
            fields = self._fields()
            if len(how) < 2 and query["batch_size"] is None and self._in_one_cluster(query):
                query = {**query, "batch_size": 1 << 30}  # a record batch ends with its cluster: so nothing is copied
            yield from _awkward.arrays(_library.stream_of(self._backend().stream_capsule(query)), fields, *how)
            return
        except _awkward.UnknownType:
            pass
        # Such types are rare: awkward knows some of them.
        yield from _awkward.from_arrow(self._backend().reader(query), *how)

    def _in_one_cluster(self, query: Mapping[str, Any]) -> bool:
        """Reports whether all entries that a query asks for are in the same cluster."""
        start, stop = query["entry_start"] or 0, query["entry_stop"]
        clusters: Sequence[tuple[int, int]] = self._description().get("clusters", ())
        return sum(1 for first, end in clusters if end > start and (stop is None or first < stop)) == 1

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

    def keys(self) -> builtins.list[str]:
        """The names of the fields."""
        return builtins.list(self._fields())

    def _fields(self) -> dict[str, dict[str, Any]]:
        """Returns what rntuple_describe tells of the fields, by their names."""
        if self._named is None:
            self._named = {f["name"]: f for f in self._description()["fields"]}
        return self._named

    def typenames(self) -> dict[str, str]:
        """The names of the fields and their types in C++."""
        return {name: _typename(f) for name, f in self._fields().items()}

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields())

    def __contains__(self, name: object) -> bool:
        return name in self._fields()

    def __getitem__(self, name: str) -> Any:
        """Returns a Field, for "a.b" a member of one; or the Dataset of an RNTuple in the file, if there is no such field."""
        first, *rest = name.split(".")
        try:
            described, fields = self._description(), self._fields()
        except Error:
            if self.name is not None:
                raise
            described, fields = {}, {}  # it is not known yet which RNTuple is meant
        if first in fields:
            field = Field(self, first, fields[first])
            for member in rest:
                field = field[member]
            return field
        if name == described.get("name"):
            return self
        if self.name is None:
            other = Dataset(self.paths, name, rnt=self._rnt, jobs=self._jobs)
            try:
                other._description()
                return other
            except Error as e:
                if not described:
                    raise
                raise FieldError(f"{self!r} has no field {name!r}") from e
        raise FieldError(f"{self!r} has no field {name!r}")

    def _ipython_key_completions_(self) -> builtins.list[str]:
        return self.keys()

    def show(self) -> None:
        """Prints the names and types of the fields, and of their members."""

        def lines(fields: Sequence[Mapping[str, Any]], indent: str) -> Iterator[tuple[str, str]]:
            for f in fields:
                numbered = re.fullmatch("_[0-9]+", f["name"])  # as items are, of which the type says what there is to know
                if not numbered:
                    yield indent + f["name"], _typename(f)
                yield from lines(f.get("fields") or (), indent if numbered else indent + "  ")

        rows = builtins.list(lines(self._description()["fields"], ""))
        width = max((len(name) for name, _ in rows), default=0)
        for name, kind in rows:
            print(f"{name:{width}}  {kind}".rstrip())

    def arrays(
        self, expressions: Fields = None, cut: str | None = None, *, library: Kind = "ak", **options: Unpack[Selection]
    ) -> Any:
        """Returns the entries as uproot does: an awkward.Array of records, a dict of NumPy's arrays ("np"), or a frame ("pd").

        expressions are names, paths or patterns of fields, or what is to be computed for each entry: "sqrt(px**2 + py**2)", whose
        column has the expression as its name. cut is a condition, which is "where" elsewhere.
        """
        query, names = self._selected(expressions, cut, **options)
        if library == "pd":
            query["binary"] = False
            frame: pandas.DataFrame = self._backend().reader(query).read_pandas(integer_object_nulls=True)
            return frame.rename(columns=names)
        (array,) = self._arrays(query, "string")
        return _as(_renamed(array, names), library)

    def iterate(
        self,
        expressions: Fields = None,
        cut: str | None = None,
        *,
        step_size: int | str = "100 MB",
        library: Kind = "ak",
        **options: Unpack[Selection],
    ) -> Iterator[Any]:
        """Yields what arrays() returns step by step: of a number of entries that meet the cut each, or of about so much memory.

        It is one pass over the files.
        """
        entries = size = None
        if isinstance(step_size, str):
            size = _bytes(step_size)
        elif step_size < 1:
            raise ArgumentError(f"step_size is {step_size}")
        else:
            entries = step_size
        query, names = self._selected(expressions, cut, **options)
        for array in self._arrays(query, "string", entries, size):
            yield _as(_renamed(array, names), library)

    def fill(
        self,
        histogram: Any,
        *expressions: str,
        cut: str | None = None,
        weight: str | None = None,
        step_size: int | str = "100 MB",
        **options: Unpack[Selection],
    ) -> Any:
        """Fills a histogram with values, one expression for each axis, and returns it; about step_size is in memory at once.

        The histogram has a method fill as a hist.Hist has. Items of arrays are filled one by one; beside them, a value of the entry
        counts for each of its items. Missing values are left out, with those beside them.
        """
        import awkward as ak

        names = [*expressions, *([] if weight is None else [weight])]
        if not expressions:
            raise ArgumentError("no expression is given")
        for step in self.iterate(builtins.list(dict.fromkeys(names)), cut, step_size=step_size, **options):
            columns = ak.broadcast_arrays(*(step[name] for name in names))
            rows = ak.zip(dict(zip(map(str, range(len(names))), columns)))
            while rows.ndim > 1:
                rows = ak.flatten(rows)
            for name in rows.fields:
                rows = rows[~ak.is_none(rows[name])]
            filled = [ak.to_numpy(rows[name]) for name in rows.fields]
            histogram.fill(*filled[: len(expressions)], **({} if weight is None else {"weight": filled[-1]}))
        return histogram

    def _selected(
        self,
        expressions: Fields,
        cut: str | None,
        *,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        filter_name: Filter = None,
        aliases: Mapping[str, str] | None = None,
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """Returns the query for arguments that arrays takes, and the names of computed columns by those that they are read as."""
        if expressions is not None and filter_name is not None:
            raise ArgumentError("expressions and filter_name exclude each other")
        fields = expressions
        if callable(filter_name):
            fields = [name for name in self.keys() if filter_name(name)]
        elif filter_name is not None:
            patterns = [filter_name] if isinstance(filter_name, str) else filter_name
            fields = [name for name in self.keys() if any(_matches(name, pattern) for pattern in patterns)]
        read: builtins.list[str] | None = None
        names: dict[str, str] = {}
        if fields is not None:
            read = []
            for name in [fields] if isinstance(fields, str) else fields:
                if self._is_field(name):
                    read.append(name)
                else:
                    names[f"computed_{len(names)}"] = name
        # Strings are read as binaries, because they need not be UTF-8 for awkward, nor for uproot.
        query = self._query(
            read,
            cut,
            entry_start=entry_start,
            entry_stop=entry_stop,
            define=aliases,
            compute=names,
            binary=True,
            structs=True,
            pairs=True,
        )
        return query, names

    def _is_field(self, name: str) -> bool:
        """Reports whether a name is that of a field, or a pattern, but no expression: "a*b" is one unless a field matches it."""
        if name in self or any(fnmatch.fnmatchcase(key, name) for key in self):
            return True
        return not re.search(r"[\w)]\*[\w(]", name) and bool(re.fullmatch(r"[\w.:*?]*", name))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._backend().stream_capsule(self._query())

    def __arrow_c_schema__(self) -> object:
        return self._backend().schema_capsule({})

    def _query(
        self,
        fields: Fields = None,
        where: str | None = None,
        *,
        entries: tuple[int, int | None] = (0, None),
        entry_start: int | None = None,
        entry_stop: int | None = None,
        define: Mapping[str, str] | None = None,
        compute: Mapping[str, str] | None = None,
        entry_numbers: str | None = None,
        batch_size: int | None = None,
        lists: int = 64,
        binary: bool = False,
        structs: bool = False,
        pairs: bool = False,
        collections: bool = False,
    ) -> dict[str, Any]:
        """Returns options of rntuple_stream."""
        first, end = entries
        if not 0 <= first <= (first if end is None else end):
            raise ValueError(f"entries from {first} to {end}")
        if (entry_start or 0) < 0 or (entry_stop or 0) < 0:
            entry_start, entry_stop, _ = slice(entry_start, entry_stop).indices(self.num_entries)
        if entry_stop is not None:
            entry_stop = max(entry_start or 0, entry_stop)
        if fields is not None and not fields and not (compute or entry_numbers):
            raise ArgumentError("no field is named" if not isinstance(fields, str) else "an empty name of a field")
        if batch_size is not None and batch_size < 1:
            raise ArgumentError(f"batch_size is {batch_size}")
        if lists not in (32, 64):
            raise ArgumentError(f"lists is {lists}, which is neither 32 nor 64")
        return {
            "fields": [fields] if isinstance(fields, str) else None if fields is None else builtins.list(fields),
            "where": where,
            "define": [f"{name}={expression}" for name, expression in define.items()] if define else None,
            "compute": [f"{name}={expression}" for name, expression in compute.items()] if compute else None,
            "entry_numbers": entry_numbers,
            "entry_start": entry_start or None,
            "entry_stop": entry_stop,
            "offset": first or None,
            "limit": None if end is None else end - first,
            "batch_size": batch_size,
            "lists": lists,
            "binary": binary,
            "structs": structs,
            "pairs": pairs,
            "collections": collections,
        }


def _again(paths: Sequence[str], name: str | None, rnt: Path | None, jobs: int | None) -> Dataset:
    return Dataset(paths, name, rnt=rnt, jobs=jobs)


class _Scan:
    """What a relation of DuckDB reads, each time anew."""

    def __init__(self, dataset: Dataset, fields: Fields, where: str | None, options: Options) -> None:
        self._dataset, self._fields, self._where, self._options = dataset, fields, where, options

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        import pyarrow

        backend, query = self._dataset._backend(), self._dataset._query(self._fields, self._where, **self._options)
        schema = backend.schema(query)
        halves = [i for i, f in enumerate(schema) if f.type == pyarrow.float16()]
        if not halves:
            return backend.stream_capsule(query)
        for i in halves:  # DuckDB has none
            schema = schema.set(i, schema.field(i).with_type(pyarrow.float32()))
        stream: object = backend.reader(query).cast(schema).__arrow_c_stream__()  # type: ignore[no-untyped-call]
        return stream


class Field:
    """A field of a Dataset: dataset["Muon_pt"] is one. It is itself an Arrow stream, of one column."""

    def __init__(self, dataset: Dataset, path: str, described: Mapping[str, Any]) -> None:
        self._dataset, self._described = dataset, described
        self.path = path

    @property
    def name(self) -> str:
        """The last part of the path."""
        name: str = self._described["name"]
        return name

    @property
    def typename(self) -> str:
        """The type in C++; empty if it has none, as untyped records have."""
        return _typename(self._described)

    @property
    def description(self) -> str:
        """What the writer says about the field."""
        return self._described.get("description") or ""

    def __repr__(self) -> str:
        return f"rntuple.Field({self.path!r}, {self.typename!r})"

    def keys(self) -> builtins.list[str]:
        """The names of the members."""
        return [f["name"] for f in self._described.get("fields") or ()]

    def __getitem__(self, name: str) -> Field:
        return Field(self._dataset, f"{self.path}.{name}", _member(self._described, name, self.path))

    def _ipython_key_completions_(self) -> builtins.list[str]:
        return self.keys()

    def array(self, *, entry_start: int | None = None, entry_stop: int | None = None, library: Kind = "ak") -> Any:
        """Returns the values, as Dataset.arrays does: an awkward.Array, a numpy.ndarray ("np"), or a pandas.Series ("pd")."""
        record = self._dataset.arrays(self.path, entry_start=entry_start, entry_stop=entry_stop, library=library)
        return record[self.path]

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._dataset._backend().stream_capsule({"fields": [self.path]})

    def __arrow_c_schema__(self) -> object:
        return self._dataset._backend().schema_capsule({"fields": [self.path]})


def concatenate(
    files: Path | Sequence[Path],
    expressions: Fields = None,
    cut: str | None = None,
    *,
    name: str | None = None,
    library: Kind = "ak",
    **options: Unpack[Selection],
) -> Any:
    """Returns the entries of several files as one array of records; see Dataset.arrays."""
    with open(files, name) as dataset:
        return dataset.arrays(expressions, cut, library=library, **options)


def _matches(name: str, pattern: str) -> bool:
    """Reports whether a name matches a pattern as uproot knows them: with * ? [a-z], or a regular expression, "/Muon_.*/i"."""
    expression = re.fullmatch("/(.*)/([iLmsux]*)", pattern)
    if expression is None:
        return fnmatch.fnmatchcase(name, pattern)
    return re.search(f"(?{expression[2]}){expression[1]}" if expression[2] else expression[1], name) is not None


def _renamed(array: awkward.Array, names: Mapping[str, str]) -> awkward.Array:
    """Returns an array of records with other names of fields."""
    if not names:
        return array
    import awkward

    layout = array.layout
    fields = [names.get(f, f) for f in layout.fields]
    return awkward.Array(awkward.contents.RecordArray(layout.contents, fields, len(layout)))


def _as(array: awkward.Array, library: Kind) -> Any:
    """Returns an array of records, or a dict or frame of its fields."""
    if library == "ak":
        return array
    if library not in ("np", "pd"):
        raise ArgumentError(f'library is {library!r}, not "ak", "np" or "pd"')
    columns = {name: _numpy(array[name]) for name in array.fields}
    if library == "np":
        return columns
    flat = {name: column if column.ndim == 1 else builtins.list(column) for name, column in columns.items()}
    return _needs("pandas").DataFrame(flat)


def _typename(described: Mapping[str, Any]) -> str:
    name: str = described.get("type") or ""
    return name


def _member(of: Mapping[str, Any], name: str, what: str) -> Mapping[str, Any]:
    for field in of.get("fields") or ():
        if field["name"] == name:
            found: Mapping[str, Any] = field
            return found
    raise FieldError(f"no field {name!r} in {what}")


def _numpy(array: awkward.Array) -> numpy.ndarray[Any, Any]:
    """Returns an array of numbers that may be written to, or of objects: of arrays for lists of numbers."""
    import awkward
    import numpy

    layout = array.layout
    if isinstance(layout, (awkward.contents.NumpyArray, awkward.contents.RegularArray)) and not layout.parameters:
        try:
            return numpy.array(awkward.to_numpy(array))
        except ValueError:
            pass  # not of numbers
    objects = numpy.empty(len(array), object)
    if isinstance(layout, awkward.contents.ListOffsetArray) and isinstance(layout.content, awkward.contents.NumpyArray):
        if not layout.parameters:
            objects[:] = numpy.split(numpy.array(layout.content.data), layout.offsets.data[1:-1]) if len(array) else []
            return objects
    objects[:] = array.to_list()
    return objects


def _bytes(size: str) -> int:
    """Returns the number of bytes that a text such as "100 MB" says."""
    found = re.fullmatch(r"\s*([0-9.]+)\s*([kMGT]?)(i?)B\s*", size, re.IGNORECASE)
    if not found:
        raise ArgumentError(f'step_size {size!r} is neither a number of entries nor a size such as "100 MB"')
    power = " KMGT".index(found[2].upper() or " ")
    return int(float(found[1]) * (1024 if found[3] else 1000) ** power)


def _needs(package: str) -> Any:
    """Returns a package that need not be installed."""
    try:
        return __import__(package)
    except ImportError as e:
        raise ImportError(f"Dataset.{package} needs the package {package}: pip install {package}", name=package) from e
