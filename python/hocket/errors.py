"""Exceptions of the Python API.

Everything a user can cause is a :class:`HocketError`; the command line prints its text as one message and exits with
code 2 (bad input or usage)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Where:
    """A place in an input file. ``line`` counts from 1; 0 means the whole file."""

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


class HocketError(Exception):
    """Base of all errors that bad input, usage or environment can cause.

    The text reads ``where: what; remedy``."""

    def __init__(self, what: str, *, where: Where | None = None, remedy: str = "") -> None:
        self.what = what
        self.where = where
        self.remedy = remedy
        text = f"{where}: {what}" if where else what
        super().__init__(f"{text}; {remedy}" if remedy else text)


class NetworkError(HocketError):
    """A network that cannot exist: cycles, unknown hosts, absurd rates, unreadable files."""


class DemandError(HocketError):
    """Traffic that cannot be: not square, negative, more than 2^63 bytes, unreadable files."""


class PlanError(HocketError):
    """A plan file that is damaged, of another version, or made for other hosts."""


class TableError(HocketError):
    """A saved scheduling table that cannot be read, is damaged, or was made for another exchange."""


class ReportError(HocketError):
    """A rank's report on its calls is damaged, or of another version."""


class ArrayError(HocketError):
    """An array file that is damaged, or of a kind that cannot be sorted."""


class UsageError(HocketError):
    """A request that makes no sense, for example an unknown algorithm."""


class MissingToolError(HocketError):
    """The machine lacks something: a compiler, an MPI, root rights."""
