"""The program rnt: where it is, and what it says when it fails."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Sequence
from typing import IO, Any, NoReturn, Union

from ._errors import Error

Path = Union[str, "os.PathLike[str]"]

# Windows shows a console for each program that is not told otherwise.
FLAGS: int = getattr(subprocess, "CREATE_NO_WINDOW", 0)


def program() -> str:
    """Returns the path of rnt.

    That is what the environment variable RNTUPLE_RNT says, else the program in this package, else rnt on the PATH.
    """
    chosen = os.environ.get("RNTUPLE_RNT")
    if chosen:
        return chosen
    bundled = os.path.join(os.path.dirname(__file__), "bin", "rnt.exe" if os.name == "nt" else "rnt")
    if os.path.exists(bundled):
        return bundled
    found = shutil.which("rnt")
    if found:
        return found
    raise Error(
        "the program rnt is missing: this package was installed without it, and it is not on the PATH. Install a wheel for "
        "your platform, or let the environment variable RNTUPLE_RNT name the program"
    )


def start(rnt: Path | None, args: Sequence[str], **pipes: Any) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
    """Starts rnt, and returns the process and the file that takes its messages."""
    command = [os.fspath(rnt) if rnt is not None else program(), *args]
    messages = tempfile.TemporaryFile()
    try:
        return subprocess.Popen(command, stderr=messages, creationflags=FLAGS, **pipes), messages
    except BaseException as e:
        messages.close()
        if isinstance(e, OSError):
            raise Error(f"{command[0]}: cannot be started: {e.strerror or e}") from e
        raise


def output(rnt: Path | None, args: Sequence[str]) -> bytes:
    """Runs rnt and returns what it prints."""
    process, messages = start(rnt, args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    with messages, process:
        try:
            printed = process.communicate()[0]
        except BaseException:
            process.kill()
            raise
        check(process.returncode, messages)
        return printed


def check(status: int, messages: IO[bytes]) -> None:
    """Raises an Error with the messages unless the status is 0, or 3: then they are warnings about what was left out."""
    if status == 0:
        return
    lines = [line for line in said(messages) if not line.startswith(("usage: ", "Run 'rnt "))]
    if status == 3:
        warnings.warn("\n".join(lines) or "something could not be read, and was left out", stacklevel=3)
        return
    if status < 0:
        lines.append(f"rnt was ended by {signal.Signals(-status).name}")
    raise Error("\n".join(lines) or f"rnt failed with exit status {status}", status)


def said(messages: IO[bytes]) -> list[str]:
    """Returns the messages of a process that has ended, line by line."""
    messages.seek(0)
    return [line.removeprefix("rnt: ") for line in messages.read().decode(errors="backslashreplace").splitlines()]


def named(path: Path) -> str:
    """Returns a path that rnt does not take for standard input or output. It must come after "--"."""
    name = os.fspath(path)
    return os.path.join(os.curdir, name) if name == "-" else name


def main() -> NoReturn:
    """Runs rnt with the arguments of this process."""
    try:
        command = [program(), *sys.argv[1:]]
    except Error as e:
        sys.exit(str(e))
    if os.name == "nt":  # where the new program would run beside its caller
        sys.exit(subprocess.call(command))
    os.execv(command[0], command)
