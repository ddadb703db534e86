"""An Arrow stream from rnt."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import warnings
import weakref
from collections.abc import Sequence
from typing import IO, Any

import pyarrow.ipc

from ._program import Error, Path, check, said, start

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

    def __init__(self, output: Output) -> None:
        self._output = output
        super().__init__(output)

    def close(self) -> None:
        """Ends rnt, if it still runs. Nothing can be read afterwards."""
        self._output.close()


def read(rnt: Path | None, args: Sequence[str]) -> RecordBatchReader:
    """Returns a reader of the stream that rnt writes."""
    process, messages = start(rnt, args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    output = Output(process, messages)
    try:
        return RecordBatchReader(output)
    except BaseException:
        output.close()
        raise


def widen(pipe: IO[Any]) -> None:
    """Makes a pipe larger, where that is possible, so that fewer switches between the processes are needed."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, PIPE_SIZE)
