"""Errors. Each is an Error, and where Python has a fitting exception, that too."""

from __future__ import annotations


class Error(Exception):
    """What goes wrong with an RNTuple; the subclasses tell what.

    status is None, or if the program rnt reports the error, its exit status: 1 if it failed, 2 for wrong arguments; negative if
    a signal ended it. Errors of the program are of this class itself.
    """

    __module__ = "rntuple"

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status

    def __str__(self) -> str:  # KeyError would quote the message
        return str(self.args[0])


class NotFoundError(Error, FileNotFoundError, KeyError):
    """There is no such file, or no such RNTuple in it."""

    __module__ = "rntuple"


class FieldError(Error, KeyError):
    """There is no such field."""

    __module__ = "rntuple"


class ArgumentError(Error, ValueError):
    """An argument or option is wrong."""

    __module__ = "rntuple"


class ExpressionError(Error, ValueError):
    """A condition or definition is wrong, or cannot be evaluated."""

    __module__ = "rntuple"


class CorruptError(Error):
    """A file is damaged."""

    __module__ = "rntuple"


class UnsupportedError(Error, NotImplementedError):
    """A file uses something that is newer than this package, or has no type in Arrow."""

    __module__ = "rntuple"


class InputError(Error, OSError):
    """The system or a server reports an error."""

    __module__ = "rntuple"


class ExistsError(Error, FileExistsError):
    """The file exists, or the RNTuple in it."""

    __module__ = "rntuple"


class LimitError(Error, MemoryError):
    """More memory is needed than a limit allows."""

    __module__ = "rntuple"
