"""Awkward arrays of an Arrow stream, without pyarrow. Their types are those that uproot makes of RNTuples.

An array of one record batch shares its memory. Of several, buffers are joined as the batches come, each of which is released
then, so that the memory in use is that of the result, and of one batch and one buffer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from awkward import Array, contents, index

from ._library import ArrowArray, ArrowSchema, Owner, Stream

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

NULLABLE = 2

NUMBERS = {
    "c": "i1", "C": "u1", "s": "i2", "S": "u2", "i": "i4", "I": "u4", "l": "i8", "L": "u8", "e": "f2", "f": "f4", "g": "f8",
    "tdm": "M8[ms]",
    **{f"ts{short}": f"M8[{unit}]" for short, unit in zip("smun", ("s", "ms", "us", "ns"))},
    **{f"tD{short}": f"m8[{unit}]" for short, unit in zip("smun", ("s", "ms", "us", "ns"))},
}  # fmt: skip


class UnknownType(Exception):
    """A type of Arrow that is not known here."""


class Memory:
    """Memory of an Arrow array, as NumPy takes it. It keeps the owner."""

    __slots__ = ("__array_interface__", "_owner")

    def __init__(self, address: int, length: int, dtype: np.dtype[Any], owner: Owner) -> None:
        # Others may read the memory, so it must not be written to.
        self.__array_interface__ = {"data": (address, True), "shape": (length,), "typestr": dtype.str, "version": 3}
        self._owner = owner


def view(array: ArrowArray, buffer: int, dtype: DTypeLike, first: int, length: int, owner: Owner) -> NDArray[Any]:
    """Returns a part of a buffer."""
    of = np.dtype(dtype)
    if length == 0:
        return np.empty(0, of)
    return np.asarray(Memory(array.buffers[buffer] + first * of.itemsize, length, of, owner))


def bits(array: ArrowArray, buffer: int, first: int, length: int, owner: Owner) -> NDArray[np.bool_]:
    start = first // 8
    packed = view(array, buffer, np.uint8, start, (first + length + 7) // 8 - start, owner)
    return np.unpackbits(packed, bitorder="little", count=first % 8 + length)[first % 8 :].view(np.bool_)


class Buffer:
    """An array that grows. The first part is not copied unless there is another one."""

    def __init__(self) -> None:
        self._data: NDArray[Any] | None = None
        self._length, self._shared = 0, False

    def add(self, part: NDArray[Any]) -> None:
        if self._data is None or self._length == 0:
            self._data, self._length, self._shared = part, len(part), True
        elif len(part):
            end = self._length + len(part)
            if self._shared or end > len(self._data):  # memory that is not used yet is not there yet, too
                grown = np.empty(max(end, 2 * self._length), self._data.dtype)
                grown[: self._length] = self._data[: self._length]
                self._data, self._shared = grown, False
            self._data[self._length : end] = part
            self._length = end

    def get(self, dtype: DTypeLike = np.int64) -> NDArray[Any]:
        return np.empty(0, dtype) if self._data is None else self._data[: self._length]


class Node:
    """A column, or a part of one, to which arrays are added."""

    length = 0

    def add(self, array: ArrowArray, first: int, length: int, owner: Owner) -> None:
        """Adds items, of which the first one is first behind the offset of the array."""
        self.put(array, array.offset + first, length, owner)
        self.length += length

    def put(self, array: ArrowArray, first: int, length: int, owner: Owner) -> None:
        raise NotImplementedError

    def content(self) -> contents.Content:
        raise NotImplementedError


class Numbers(Node):
    def __init__(self, dtype: str) -> None:
        self.dtype, self.data = np.dtype(dtype), Buffer()

    def put(self, array: ArrowArray, first: int, length: int, owner: Owner) -> None:
        self.data.add(view(array, 1, self.dtype, first, length, owner))

    def content(self) -> contents.Content:
        return contents.NumpyArray(self.data.get(self.dtype))


class Bools(Numbers):
    def put(self, array: ArrowArray, first: int, length: int, owner: Owner) -> None:
        self.data.add(bits(array, 1, first, length, owner))


class Days(Numbers):
    def put(self, array: ArrowArray, first: int, length: int, owner: Owner) -> None:
        self.data.add(view(array, 1, np.int32, first, length, owner).astype(np.int64).view(self.dtype))


class Lists(Node):
    """Lists of items, or texts of bytes."""

    def __init__(self, offset: str, item: Node | None, kind: str = "") -> None:
        self.offset, self.offsets, self.item, self.kind = offset, Buffer(), item, kind
        self.data, self.end = Buffer(), 0

    def put(self, array: ArrowArray, first: int, length: int, owner: Owner) -> None:
        if length == 0:
            return
        offsets = view(array, 1, self.offset, first, length + 1, owner)
        start, stop = int(offsets[0]), int(offsets[-1])
        if self.item:
            self.item.add(array.children[0].contents, start, stop - start, owner)
        else:
            self.data.add(view(array, 2, np.uint8, start, stop - start, owner))
        if start != self.end or offsets.dtype != np.int64:
            offsets = offsets.astype(np.int64) + (self.end - start)
        self.offsets.add(offsets if self.length == 0 else offsets[1:])
        self.end += stop - start

    def content(self) -> contents.Content:
        offsets = index.Index64(self.offsets.get() if self.length else np.zeros(1, np.int64))
        if self.item:
            return contents.ListOffsetArray(offsets, self.item.content())
        inner = {"string": "char", "bytestring": "byte"}[self.kind]
        data = contents.NumpyArray(self.data.get(np.uint8), parameters={"__array__": inner})
        return contents.ListOffsetArray(offsets, data, parameters={"__array__": self.kind})


class Arrays(Node):
    """Arrays of a fixed size."""

    def __init__(self, size: int, item: Node) -> None:
        self.size, self.item = size, item

    def put(self, array: ArrowArray, first: int, length: int, owner: Owner) -> None:
        self.item.add(array.children[0].contents, first * self.size, length * self.size, owner)

    def content(self) -> contents.Content:
        return contents.RegularArray(self.item.content(), self.size, self.length)


class Records(Node):
    def __init__(self, names: list[str] | None, members: list[Node]) -> None:
        self.names, self.members = names, members

    def put(self, array: ArrowArray, first: int, length: int, owner: Owner) -> None:
        for i, member in enumerate(self.members):
            member.add(array.children[i].contents, first, length, owner)

    def content(self) -> contents.Content:
        return contents.RecordArray([m.content() for m in self.members], self.names, self.length)


class Options(Node):
    """Items of which some may be missing."""

    def __init__(self, item: Node) -> None:
        self.item, self.index = item, Buffer()

    def put(self, array: ArrowArray, first: int, length: int, owner: Owner) -> None:
        numbers = np.arange(self.length, self.length + length)
        if array.null_count != 0 and array.buffers[0]:
            numbers[~bits(array, 0, first, length, owner)] = -1
        self.index.add(numbers)
        self.item.add(array, first - array.offset, length, owner)

    def content(self) -> contents.Content:
        return contents.IndexedOptionArray(index.Index64(self.index.get()), self.item.content())


Field = Mapping[str, Any]  # of an RNTuple, as rntuple_describe tells: what of its type Arrow does not say


def typed(field: Field | None, *names: str) -> bool:
    """Reports whether the type of a field is of one of the templates of C++."""
    return field is not None and (field.get("type") or "").startswith(tuple(name + "<" for name in names))


def member(field: Field | None, i: int) -> Field | None:
    fields = (field or {}).get("fields") or ()
    return fields[i] if i < len(fields) else None


def node(schema: ArrowSchema, field: Field | None, binary: str) -> Node:
    """Returns the node for a type; binary is what awkward has for binaries, "string" or "bytestring"."""
    if schema.dictionary:
        raise UnknownType
    form = schema.format.decode()
    if not schema.flags & NULLABLE:
        return plain(schema, form, field, binary)
    if typed(field, "std::optional", "std::unique_ptr"):
        field = member(field, 0)
    return Options(plain(schema, form, field, binary))


def plain(schema: ArrowSchema, form: str, field: Field | None, binary: str) -> Node:
    def child(i: int) -> Node:
        return node(schema.children[i].contents, member(field, i), binary)

    kinds: dict[str, Callable[[], Node]] = {
        "b": lambda: Bools("?"),
        "tdD": lambda: Days("M8[D]"),
        "u": lambda: Lists("i4", None, "string"),
        "U": lambda: Lists("i8", None, "string"),
        "z": lambda: Lists("i4", None, binary),
        "Z": lambda: Lists("i8", None, binary),
        "+l": lambda: Lists("i4", child(0)),
        "+L": lambda: Lists("i8", child(0)),
        "+m": lambda: Lists("i4", child(0)),
    }
    if form in kinds:
        return kinds[form]()
    if form == "L" and typed(field, "ROOT::RNTupleCardinality"):
        return Numbers("i8")
    number = form.partition(":")[0] if form.startswith("ts") else form
    if number in NUMBERS:
        return Numbers(NUMBERS[number])
    if form.startswith("+w:"):
        return Arrays(int(form[3:]), child(0))
    if form == "+s":
        if typed(field, "std::optional", "std::unique_ptr"):  # in another optional: a record of one member
            return Records(["_0"], [node(schema.children[0].contents, field, binary)])
        names = [schema.children[i].contents.name.decode() for i in range(schema.n_children)]
        return Records(None if typed(field, "std::pair", "std::tuple") else names, [child(i) for i in range(len(names))])
    raise UnknownType


def columns(schema: ArrowSchema, fields: Mapping[str, Field], binary: str) -> Records:
    """Returns the node for the schema of a stream, of which each column has the path of a field."""
    names, members = [], []
    for i in range(schema.n_children):
        column = schema.children[i].contents
        names.append(column.name.decode())
        first, *rest = names[-1].split(".")
        field: Field | None = fields.get(first)
        for name in rest:
            field = next((f for f in (field or {}).get("fields") or () if f["name"] == name), None)
        members.append(node(column, field, binary))
    return Records(names, members)


def arrays(
    stream: Stream, fields: Mapping[str, Field], binary: str = "bytestring", entries: int | None = None, size: int | None = None
) -> Iterator[Array]:
    """Yields arrays of records, of a number of entries each, or about a number of bytes, or one of all.

    fields are those of the RNTuple, by name; binary is what binaries become. Raises UnknownType before anything is read.
    """
    schema = stream.schema()
    root = columns(schema.struct, fields, binary)
    for batch in stream.batches():
        first, rows = 0, batch.struct.length
        while first < rows:
            take = rows - first if entries is None else min(rows - first, entries - root.length)
            root.add(batch.struct, first, take, batch)
            first += take
            if entries is None and size is not None:  # as much as the first record batch says
                entries = max(1, int(size / max(1, root.content().nbytes) * root.length))
            if entries is not None and root.length >= entries:
                yield Array(root.content())
                root = columns(schema.struct, fields, binary)
        del batch
    if root.length or entries is None:  # nothing at all is an array without entries
        yield Array(root.content())


def from_arrow(
    reader: Any, binary: str = "bytestring", entries: int | None = None, size: int | None = None
) -> Iterator[Array]:
    """Yields what arrays does, with the types that awkward makes of those of Arrow."""
    import awkward

    array = awkward.from_arrow(reader.read_all())
    if size is not None:
        entries = int(size / max(1, array.nbytes) * len(array))
    step = max(1, len(array) if entries is None else entries)
    for first in range(0, max(1, len(array)), step):
        yield array[first : first + step]
