"""The choices that are kept: a file a place, written by ranks (runtime/choose/kept_timings_file.cpp)."""

import contextlib
import fcntl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hocket import _core
from hocket.errors import HocketError
from hocket.system.cache import choices_dir
from hocket.system.files import as_error, open_new, read_file
from hocket.units import format_bytes, format_time

NATIVE: Final = "native"  # the library's call


COLUMNS: Final = ("place", "ranks/hosts", "mpi", "call", "from", "winner", "a call", "gain", "measured")


@dataclass(frozen=True, slots=True)
class Choice:
    """Kept timings of one call at one place."""

    timings: _core.choose.KeptTimings

    @property
    def least(self) -> int:
        """Bytes of the smallest message."""
        return _core.choose.least_bytes(self.timings.size_class) if self.timings.size_class else 0

    @property
    def most(self) -> int:
        """Bytes of the largest."""
        size = self.timings.size_class
        size += 1 if size != 0 else 2  # class 1 is empty
        return _core.choose.least_bytes(size) - 1 if size < 128 else 2**64 - 1

    def candidate(self, name: str) -> _core.choose.CandidateTimings | None:
        return next((each for each in self.timings.candidates if each.name == name and each.calls), None)

    @property
    def gain(self) -> float | None:
        """Share of the library's own time that the winner saves, at most 1; None if unknown."""
        native, winner = self.candidate(NATIVE), self.candidate(self.timings.winner)
        if native is None or winner is None or native.seconds <= 0:
            return None
        return float(1 - winner.seconds / native.seconds)

    @property
    def calls(self) -> int:
        """Calls that were measured."""
        return sum(candidate.calls for candidate in self.timings.candidates)

    def cells(self) -> list[str]:
        """Cells of a table for people, by COLUMNS."""
        one, winner, gain = self.timings, self.candidate(self.timings.winner), self.gain
        return [
            one.place,
            f"{one.ranks}/{one.hosts}" if one.ranks else "-",
            one.mpi,
            one.call,
            format_bytes(self.least),
            one.winner,
            "-" if winner is None else format_time(winner.seconds, 3),
            "-" if gain is None else f"{100 * gain:.0f} %",
            f"{self.calls:,}",
        ]


def files(place: str = "") -> list[Path]:
    """Files of places whose name begins so. Raises HocketError if there is no such place."""
    found = [path for path in sorted(choices_dir().glob("*.txt")) if path.stem.startswith(place)]
    if place and not found:
        raise HocketError(
            f"no timings are kept for the place '{place}'", remedy="hocket tune show lists all places"
        )
    return found


def read(path: Path) -> list[Choice]:
    """Raises HocketError for a file that cannot be used."""
    with as_error(f"cannot read {path}", "check its permissions, or: hocket tune clear"):
        text = read_file(path).decode("latin-1")
    try:
        return [Choice(one) for one in _core.choose.parse_kept_timings(text)]
    except _core.InputError as error:
        raise HocketError(f"{path}: {error}", remedy="forget it: hocket tune clear") from None


def choices(place: str = "") -> list[Choice]:
    """Kept timings of places whose name begins so, by call and size. Raises HocketError if there is no such
    place, or for a file that cannot be used."""
    every = [choice for path in files(place) for choice in read(path)]
    return sorted(every, key=lambda one: (one.timings.place, one.timings.call, one.timings.size_class))


def forget(place: str = "") -> list[Path]:
    """Removes the files of places whose name begins so, damaged ones as well."""
    found = files(place)
    with _locked():
        for path in found:
            path.unlink(missing_ok=True)
    return found


@contextlib.contextmanager
def _locked() -> Iterator[None]:
    """Ranks write under the same lock. Some file systems have none."""
    if not choices_dir().is_dir():
        yield
        return
    with open(choices_dir() / "lock", "a", opener=open_new) as file:
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
