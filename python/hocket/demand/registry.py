"""The readers: one line each. A new format is one file, one line here and one test file."""

from collections.abc import Callable
from dataclasses import dataclass

from hocket.demand import csv_table, matrix_market, npy, recorded
from hocket.demand.traffic import Source, Traffic


@dataclass(frozen=True, slots=True)
class Reader:
    """``begins`` tells from the first bytes, or ``ending`` from the name, what is meant for ``read``."""

    name: str
    description: str
    ending: str
    begins: Callable[[bytes], bool]
    read: Callable[[Source], Traffic]


# The first reader that recognises a source gets it; CSV begins with what many a file begins with.
READERS: tuple[Reader, ...] = (
    Reader("npy", "NumPy's .npy", ".npy", npy.begins, npy.read),
    Reader("matrix-market", "Matrix Market (.mtx)", ".mtx", matrix_market.begins, matrix_market.read),
    Reader("recorded", "traffic of 'hocket record' (.json)", ".json", recorded.begins, recorded.read),
    Reader("csv", "CSV of n x n sizes", ".csv", csv_table.begins, csv_table.read),
)


def find(source: Source) -> Reader:
    """The reader of a source; an error that lists the formats if none knows it."""
    reader = next((r for r in READERS if r.begins(source.data) or r.ending == source.suffix), None)
    if reader is None:
        formats = ", ".join(r.description for r in READERS)
        raise source.error(
            "the format of this file is not known", remedy=f"known are: {formats} (see 'hocket help formats')"
        )
    if source.call is not None and reader.name != "recorded":
        raise source.error(
            f"call {source.call} was asked for, but this is not recorded traffic",
            remedy=f"leave out ':{source.call}'",
        )
    return reader
