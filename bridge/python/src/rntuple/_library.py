"""librntuple, the library that reads and writes in this process, by ctypes; see bridge/librntuple/rntuple.h.

ctypes releases the lock of the interpreter while the library works, so threads run in parallel.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_int64, c_size_t, c_void_p, py_object, pythonapi
from typing import TYPE_CHECKING, Any

from . import _errors
from ._errors import Error

if TYPE_CHECKING:
    import pyarrow


class ArrowSchema(Structure):
    """A type, as https://arrow.apache.org/docs/format/CDataInterface.html defines it."""


class ArrowArray(Structure):
    """The data of a type."""


class ArrowArrayStream(Structure):
    """A type and arrays of it, as https://arrow.apache.org/docs/format/CStreamInterface.html defines them."""


ArrowSchema._fields_ = [
    ("format", c_char_p),
    ("name", c_char_p),
    ("metadata", c_void_p),
    ("flags", c_int64),
    ("n_children", c_int64),
    ("children", POINTER(POINTER(ArrowSchema))),
    ("dictionary", POINTER(ArrowSchema)),
    ("release", ctypes.CFUNCTYPE(None, c_void_p)),
    ("private_data", c_void_p),
]
ArrowArray._fields_ = [
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)),
    ("children", POINTER(POINTER(ArrowArray))),
    ("dictionary", POINTER(ArrowArray)),
    ("release", ctypes.CFUNCTYPE(None, c_void_p)),
    ("private_data", c_void_p),
]
ArrowArrayStream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(ArrowSchema))),
    ("get_next", ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(ArrowArray))),
    ("get_last_error", ctypes.CFUNCTYPE(c_char_p, c_void_p)),
    ("release", ctypes.CFUNCTYPE(None, c_void_p)),
    ("private_data", c_void_p),
]


class Owner:
    """Owns a struct of the Arrow C interface: dropping it releases the struct."""

    def __init__(self, struct: Any) -> None:
        self.struct = struct

    def release(self) -> None:
        if self.struct.release:
            self.struct.release(byref(self.struct))

    def __del__(self) -> None:
        self.release()


class Stream(Owner):
    """Reads an ArrowArrayStream."""

    def schema(self) -> Owner:
        """Returns the owner of the ArrowSchema."""
        schema = ArrowSchema()
        self._check(self.struct.get_schema(byref(self.struct), byref(schema)))
        return Owner(schema)

    def batches(self) -> Iterator[Owner]:
        """Yields the owners of the ArrowArrays."""
        while True:
            array = ArrowArray()
            self._check(self.struct.get_next(byref(self.struct), byref(array)))
            if not array.release:
                return
            yield Owner(array)

    def _check(self, number: int) -> None:
        if number == 0:
            return
        if number == errno.ECANCELED:
            pythonapi.PyErr_CheckSignals()
        message = self.struct.get_last_error(byref(self.struct)) or os.strerror(number).encode()
        raise NUMBERS.get(number, Error)(message.decode(errors="backslashreplace"))


NUMBERS: Mapping[int, type[Error]] = {
    errno.EINVAL: _errors.ArgumentError,
    errno.ENOMEM: _errors.LimitError,
    errno.ENOSYS: _errors.UnsupportedError,
    errno.EBADMSG: _errors.CorruptError,
}

pythonapi.PyCapsule_New.restype = py_object
pythonapi.PyCapsule_New.argtypes = [c_void_p, c_char_p, c_void_p]
pythonapi.PyCapsule_GetPointer.restype = c_void_p
pythonapi.PyCapsule_GetPointer.argtypes = [py_object, c_char_p]
pythonapi.PyMem_RawMalloc.restype = c_void_p
pythonapi.PyMem_RawMalloc.argtypes = [c_size_t]
STREAM, SCHEMA = b"arrow_array_stream", b"arrow_schema"
for name in (STREAM, SCHEMA):
    pythonapi.Py_IncRef(py_object(name))  # capsules may outlive this module


def stream_of(made: object) -> Stream:
    """Returns the stream in a capsule."""
    address = pythonapi.PyCapsule_GetPointer(made, STREAM)
    moved = ArrowArrayStream()
    ctypes.memmove(byref(moved), address, ctypes.sizeof(moved))
    ArrowArrayStream.from_address(address).release = type(moved.release)()
    return Stream(moved)


# The watch of all calls, which ends them at Ctrl-C. A function in Python would not do: it would run the handler of the signal
# at its first instruction, where no "try" catches what that raises. So functions of the interpreter are put together here:
# PyOS_InterruptOccurred takes the signal, its result 0 or 1 becomes a number of a signal, 0 or 2, and PyErr_SetInterruptEx
# gives that back to the interpreter, which handles it when the call has ended. Its result, -1 for 0, becomes that of the watch.
# It is 0 in threads other than the main one, which handles signals.
interpreter = ctypes.PyDLL("python", handle=pythonapi._handle)  # with function objects of its own
occurred, again = interpreter.PyOS_InterruptOccurred, interpreter.PyErr_SetInterruptEx
occurred.restype = (0, 2).__getitem__
occurred.errcheck = again
again.argtypes = [c_int, py_object, py_object]
again.restype = (1, 0).__getitem__
poll = ctypes.CFUNCTYPE(c_int, c_void_p, c_int64, c_int64)(occurred)
pythonapi.Py_IncRef(py_object(poll))  # streams may outlive this module


class Watch(Structure):
    _fields_ = [("poll", type(poll)), ("context", c_void_p)]


WATCH = Watch(poll, None)

CODES: Mapping[int, type[Error]] = {
    2: _errors.ArgumentError,
    3: _errors.NotFoundError,
    4: _errors.FieldError,
    5: _errors.ExpressionError,
    6: _errors.CorruptError,
    7: _errors.UnsupportedError,
    8: _errors.InputError,
    9: _errors.ExistsError,
    10: _errors.LimitError,
}
CANCELED = 11


class Library:
    """The functions of librntuple. Each raises an Error, or ends as KeyboardInterrupt within 100 ms after Ctrl-C."""

    def __init__(self, path: str) -> None:
        try:
            self._lib = ctypes.CDLL(path)
        except OSError as e:
            raise Error(f"{path} cannot be loaded: {e}; RNTUPLE_BACKEND=program uses the program rnt instead") from e
        self._lib.rntuple_free.argtypes = [c_void_p]
        self._lib.rntuple_free.restype = None
        for name, arguments in {
            "open": [POINTER(c_char_p), c_size_t, c_char_p, c_void_p, POINTER(c_int64), c_void_p],
            "close": [c_int64, c_void_p],
            "describe": [c_int64, c_void_p, c_void_p, c_void_p],
            "schema": [c_int64, c_char_p, POINTER(ArrowSchema), c_void_p],
            "stream": [c_int64, c_char_p, c_void_p, POINTER(ArrowArrayStream), c_void_p],
            "write": [c_char_p, c_void_p, c_char_p, c_void_p, c_void_p, c_void_p],
        }.items():
            getattr(self._lib, "rntuple_" + name).argtypes = arguments
        self._lib.rntuple_python(pythonapi.PyCapsule_GetPointer, pythonapi.PyMem_RawFree)

    def _call(self, name: str, *arguments: Any) -> None:
        message = c_void_p()
        code = getattr(self._lib, "rntuple_" + name)(*arguments, byref(message))
        if code != 0:
            text = self._text(message)
            if code == CANCELED:
                pythonapi.PyErr_CheckSignals()
            raise CODES.get(code, Error)(text)

    def _text(self, at: c_void_p) -> str:
        """Returns a text of the library, and frees it."""
        text = ctypes.string_at(at).decode(errors="backslashreplace") if at else ""
        self._lib.rntuple_free(at)
        return text

    def open(self, paths: Sequence[str], options: Mapping[str, Any]) -> int:
        """Returns a handle."""
        handle = c_int64()
        names = (c_char_p * len(paths))(*map(encoded, paths))
        self._call("open", names, len(paths), dumped(options), byref(WATCH), byref(handle))
        return handle.value

    def close(self, handle: int) -> None:
        """Closes a handle, if it is open, and this process did it."""
        if not forked.is_set():
            self._lib.rntuple_close(handle, None)

    def describe(self, handle: int) -> dict[str, Any]:
        text = c_void_p()
        self._call("describe", handle, byref(WATCH), byref(text))
        described: dict[str, Any] = json.loads(self._text(text))
        return described

    def schema(self, handle: int, options: Mapping[str, Any]) -> Owner:
        schema = ArrowSchema()
        self._call("schema", handle, dumped(options), byref(schema))
        return Owner(schema)

    def stream(self, handle: int, options: Mapping[str, Any]) -> Stream:
        stream = ArrowArrayStream()
        self._call("stream", handle, dumped(options), byref(WATCH), byref(stream))
        return Stream(stream)

    def capsule(self, owner: Owner) -> object:
        """Returns a capsule, to which a struct moves."""
        size = ctypes.sizeof(owner.struct)
        memory = pythonapi.PyMem_RawMalloc(size)
        if not memory:
            raise MemoryError
        ctypes.memmove(memory, byref(owner.struct), size)
        owner.struct.release = type(owner.struct.release)()
        if isinstance(owner, Stream):
            return pythonapi.PyCapsule_New(memory, STREAM, self._lib.rntuple_drop_stream)
        return pythonapi.PyCapsule_New(memory, SCHEMA, self._lib.rntuple_drop_schema)

    def write(self, path: str, stream: Stream, options: Mapping[str, Any]) -> int:
        """Writes a stream, and returns the number of entries."""
        entries = c_int64()
        self._call("write", encoded(path), byref(stream.struct), dumped(options), byref(WATCH), byref(entries))
        return entries.value


def encoded(path: str) -> bytes:
    name = os.fsencode(path)
    if b"\0" in name:
        raise _errors.ArgumentError(f"path {path!r} has a null character")
    return name


def dumped(options: Mapping[str, Any]) -> bytes:
    """Returns options as JSON, without those that are None."""
    return json.dumps({name: value for name, value in options.items() if value is not None}).encode()


forked = threading.Event()
loaded: dict[str, Library] = {}
loading = threading.Lock()


def library() -> Library | None:
    """Returns the library, or None where the program takes its place.

    That is in a process that was forked after the library was loaded, in a package without library, or if the environment
    variable RNTUPLE_BACKEND is "program".
    """
    backend = os.environ.get("RNTUPLE_BACKEND", "")
    if backend not in ("", "library", "program"):
        raise _errors.ArgumentError(f"RNTUPLE_BACKEND is {backend!r}, which is neither library nor program")
    if backend == "program" or forked.is_set():
        return None
    path = os.environ.get("RNTUPLE_LIBRARY") or os.path.join(os.path.dirname(__file__), "lib", FILE)
    with loading:
        if path not in loaded:
            if not (backend or os.environ.get("RNTUPLE_LIBRARY") or os.path.exists(path)):
                return None
            if not loaded and hasattr(os, "register_at_fork"):
                os.register_at_fork(after_in_child=forked.set)
            loaded[path] = Library(path)
        return loaded[path]


FILE = {"win32": "rntuple.dll", "darwin": "librntuple.dylib"}.get(sys.platform, "librntuple.so")


class Opened:
    """Reads by the library: a handle, which is closed when this is dropped, too."""

    def __init__(self, library: Library, paths: Sequence[str], name: str | None, jobs: int | None) -> None:
        self._library = library
        # To read far ahead makes only servers faster, and takes several times as much memory.
        memory = None if any("://" in path for path in paths) else 16 << 20
        self._handle = library.open(paths, {"name": name, "threads": jobs, "memory": memory})
        self._hidden: list[dict[str, str]] | None = None
        self.close: Callable[[], object] = weakref.finalize(self, library.close, self._handle)

    def describe(self) -> dict[str, Any]:
        return self._library.describe(self._handle)

    def schema(self, query: Mapping[str, Any]) -> pyarrow.Schema:
        return imported(self._library.schema(self._handle, query))

    def schema_capsule(self, query: Mapping[str, Any]) -> object:
        return self._library.capsule(self._library.schema(self._handle, query))

    def stream_capsule(self, query: Mapping[str, Any]) -> object:
        return self._library.capsule(self.stream(query))

    def stream(self, query: Mapping[str, Any]) -> Stream:
        if query.get("fields") is None:
            if self._hidden is None:
                self._hidden = self.describe()["hidden"]
            for field in self._hidden:
                warnings.warn(f"{field['name']} is left out: {field['reason']}", stacklevel=4)
        return self._library.stream(self._handle, query)

    def reader(self, query: Mapping[str, Any]) -> pyarrow.RecordBatchReader:
        import pyarrow

        stream = self.stream(query)
        schema = imported(stream.schema())
        # Python's errors pass through such a reader as they are; those of a C stream would become pyarrow's.
        return pyarrow.RecordBatchReader.from_batches(schema, record_batches(stream, schema))


def imported(schema: Owner) -> pyarrow.Schema:
    import pyarrow

    made: pyarrow.Schema = pyarrow.Schema._import_from_c(ctypes.addressof(schema.struct))
    return made


def record_batches(stream: Stream, schema: pyarrow.Schema) -> Iterator[pyarrow.RecordBatch]:
    import pyarrow

    for batch in stream.batches():
        yield pyarrow.RecordBatch._import_from_c(ctypes.addressof(batch.struct), schema)
