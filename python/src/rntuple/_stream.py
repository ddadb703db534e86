"""An Arrow stream from rnt."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import warnings
from collections.abc import Sequence
from typing import IO, Any

import pyarrow.ipc

from ._program import Error, Path, check, said, start

PIPE_SIZE = 1 << 20


class Output(io.RawIOBase):
    """What a process prints, for which a process that fails is an error, not an end.

    Closing it ends the process; so does dropping it. It must be read as pyarrow does: the last bytes are not returned before
    the process has succeeded.
    """

    def __init__(self, process: subprocess.Popen[bytes], messages: IO[bytes]) -> None:
        self._process, self._messages, self._owner = process, messages, os.getpid()
        assert process.stdout is not None
        self._stdout = process.stdout
        widen(self._stdout)
        self._done = False

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        if self.closed:
            raise ValueError("the reader is closed")
        data = b"" if self._done else self._stdout.read(size)
        # pyarrow reads the length of each message by itself. The stream ends with a length of zero.
        last = data == bytes(4)
        if last or not data or len(data) < size:
            check(self._process.wait(), self._messages)
            if not last:
                raise Error("the stream of rnt ends too early", 0)
            self._done = True
            for line in said(self._messages):
                warnings.warn(line, stacklevel=2)
        return data

    def close(self) -> None:
        if self.closed:
            return
        super().close()
        if self._owner == os.getpid():  # not after a fork
            self._process.kill()
            self._process.wait()
        self._stdout.close()
        self._messages.close()


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
