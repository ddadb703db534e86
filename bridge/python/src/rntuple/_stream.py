"""Reading by the program rnt."""

from __future__ import annotations

import contextlib
import csv
import glob
import io
import os
import subprocess
import warnings
import weakref
from collections.abc import Mapping, Sequence
from typing import IO, Any

import pyarrow
import pyarrow.ipc

from ._errors import Error
from ._listing import listing, parsed
from ._program import Path, check, said, start

PIPE_SIZE = 1 << 20


def end(process: subprocess.Popen[bytes], messages: IO[bytes], owner: int) -> None:
    """Ends a process, unless this one was forked from its owner, and closes its files."""
    assert process.stdout is not None
    if owner == os.getpid():
        process.kill()
        process.wait()
    process.stdout.close()
    messages.close()


class Output(io.RawIOBase):
    """What a process prints, for which a process that fails is an error, not an end.

    Closing it ends the process; so does dropping it. It must be read as pyarrow does: the last bytes are not returned before
    the process has succeeded.
    """

    def __init__(self, process: subprocess.Popen[bytes], messages: IO[bytes]) -> None:
        assert process.stdout is not None
        widen(process.stdout)
        self._process, self._stdout, self._messages = process, process.stdout, messages
        self._ended = False
        self._error: tuple[str, int | None] | None = None
        self._end = weakref.finalize(self, end, process, messages, os.getpid())

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        if self.closed:
            raise ValueError("the reader is closed")
        if self._error:
            raise Error(*self._error)
        if self._ended:
            return b""
        data = self._stdout.read(size)
        # pyarrow reads the length of each message by itself. The stream ends with a length of zero.
        last = data == bytes(4)
        if last or not data or len(data) < size:
            self._finish(last)
        return data

    def _finish(self, complete: bool) -> None:
        """Raises an Error unless the process has succeeded and its stream is complete; passes its warnings on."""
        self._ended = True
        try:
            check(self._process.wait(), self._messages)
            if not complete:
                raise Error("the stream of rnt ends too early", 0)
            for line in said(self._messages):
                warnings.warn(line, stacklevel=3)
        except Error as e:
            self._error = str(e), e.status
            raise
        finally:
            self._end()

    def close(self) -> None:
        super().close()
        self._end()


class RecordBatchReader(pyarrow.ipc.RecordBatchStreamReader):
    """A pyarrow.RecordBatchReader of what rnt writes. Closing or dropping it ends rnt."""

    def __init__(self, printed: Output) -> None:
        self._output = printed
        super().__init__(printed)

    def close(self) -> None:
        """Ends rnt, if it still runs. Nothing can be read afterwards."""
        self._output.close()


def read(rnt: Path | None, args: Sequence[str]) -> RecordBatchReader:
    """Returns a reader of the stream that rnt writes."""
    process, messages = start(rnt, args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    printed = Output(process, messages)
    try:
        return RecordBatchReader(printed)
    except BaseException:
        printed.close()
        raise


def widen(pipe: IO[Any]) -> None:
    """Makes a pipe larger, where that is possible, so that fewer switches between the processes are needed."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, PIPE_SIZE)


class Program:
    """Reads by the program rnt, which each call starts anew."""

    def __init__(self, paths: Sequence[str], name: str | None, rnt: Path | None, jobs: int | None) -> None:
        self._paths = [found for path in paths for found in files(path)]
        self._name, self._rnt, self._jobs = name, rnt, jobs

    def close(self) -> None:
        pass

    def describe(self) -> dict[str, Any]:
        listed = {path: listing([path], self._rnt) for path in dict.fromkeys(self._paths)}
        entries = {path: self._entries(path, found) for path, found in listed.items()}
        args = ["schema", "--json", "--", self._paths[0], *([] if self._name is None else [self._name])]
        described: dict[str, Any] = parsed(self._rnt, args)
        # The program warns of hidden fields by itself.
        return described | {"entries": sum(entries[p] for p in self._paths), "hidden": []}

    def _entries(self, path: str, found: Sequence[Mapping[str, Any]]) -> int:
        """Returns the number of entries of the RNTuple in one of the files, given what list returns for that."""
        if self._name is None:
            found = [f for f in found if "/" not in f["path"] and ";" not in f["path"]]
            if len(found) != 1:
                raise Error(f"{path}: has {len(found)} RNTuples at its top level; which one?")
        else:
            names = {f["path"] for f in found}
            name = self._name.strip("/")
            if name not in names:
                # Only superseded cycles are listed with their numbers.
                Program([path], self._name, self._rnt, self._jobs).schema({})
                name = name.partition(";")[0]
            found = [f for f in found if f["path"] == name]
        if "error" in found[0]:
            raise Error(f"{path}: {found[0]['error']}", 1)
        entries: int = found[0]["entries"]
        return entries

    def schema(self, query: Mapping[str, Any]) -> pyarrow.Schema:
        return self.reader({**query, "limit": 0}).read_all().schema

    def schema_capsule(self, query: Mapping[str, Any]) -> object:
        made: object = self.schema(query).__arrow_c_schema__()
        return made

    def stream_capsule(self, query: Mapping[str, Any]) -> object:
        made: object = self.reader(query).__arrow_c_stream__()  # type: ignore[no-untyped-call]
        return made

    def reader(self, query: Mapping[str, Any]) -> RecordBatchReader:
        left = {name: value for name, value in query.items() if value is not None}
        if "compute" in left or "entry_numbers" in left:
            raise Error("columns that are computed need librntuple, which is not used here")
        args = ["arrow", f"--lists={left.pop('lists', 64)}"]
        if "fields" in left:
            line = io.StringIO()  # commas separate names as in CSV
            csv.writer(line, lineterminator="").writerow(left.pop("fields"))
            args.append(f"--fields={line.getvalue()}")
        start, stop = left.pop("entry_start", 0), left.pop("entry_stop", None)
        if (start or stop is not None) and "where" in left:
            raise Error("entry_start and entry_stop with a condition need librntuple, which is not used here")
        if "where" in left:
            args.append(f"--where={left.pop('where')}")
        first, limit = start + left.pop("offset", 0), left.pop("limit", None)
        if stop is not None:
            limit = max(0, stop - first) if limit is None else min(limit, max(0, stop - first))
        args.append(f"--first={first}")
        if limit is not None:
            args.append(f"--count={limit}")
        args += [f"--define={definition}" for definition in left.pop("define", [])]
        if "batch_size" in left:
            args.append(f"--batch-size={left.pop('batch_size')}")
        args += [f"--{flag}" for flag, on in left.items() if on]
        if self._name is not None:
            args.append(f"--name={self._name}")
        if self._jobs is not None:
            args.append(f"--jobs={self._jobs}")
        return read(self._rnt, [*args, "--", *self._paths])


def files(path: str) -> list[str]:
    """Returns the local files that a pattern names, or the path, as the library does."""
    if "://" in path or not glob.has_magic(path) or os.path.lexists(path):
        return [path]
    return sorted(glob.glob(path)) or [path]
