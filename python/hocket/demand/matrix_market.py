"""Matrix Market files: coordinate or array, of integers or of whole reals, general or symmetric.

The format: Boisvert, Pozo and Remington, The Matrix Market Exchange Formats (NIST, 1996)."""

from collections.abc import Iterator
from itertools import chain
from typing import Final

from hocket.demand.arrays import whole_number
from hocket.demand.traffic import Source, Traffic
from hocket.system.text import shown

_BANNER: Final = "%%matrixmarket"
_FORM: Final = "begin with: %%MatrixMarket matrix coordinate integer general"
_PATTERN: Final = "a pattern says who sends to whom, but not how many bytes"

Lines = Iterator[tuple[int, str]]


def begins(data: bytes) -> bool:
    return data[: len(_BANNER)].lower() == _BANNER.encode()


def read(source: Source) -> Traffic:
    kind, symmetric = _header(source)
    lines = source.lines("%")
    line, size = next(lines, (0, ""))
    shape = _counts(source, line, size, 3 if kind == "coordinate" else 2)
    if shape[0] != shape[1]:
        raise source.error(f"a matrix of {shape[0]} x {shape[1]} is not square", line, "give n x n bytes")
    if shape[0] == 0:
        raise source.error("a matrix of 0 x 0 has no ranks", line, "give n x n bytes")
    traffic = Traffic(shape[0], source)
    if kind == "coordinate":
        _coordinates(source, lines, traffic, shape[2], symmetric)
    else:
        _array(source, lines, traffic, symmetric)
    return traffic


def _header(source: Source) -> tuple[str, bool]:
    """Format (``coordinate`` or ``array``) and symmetry (``general`` or ``symmetric``). Raises DemandError."""
    words = source.text().partition("\n")[0].lower().split()
    if len(words) != 5 or words[:2] != [_BANNER, "matrix"] or words[2] not in ("coordinate", "array"):
        raise source.error("a Matrix Market matrix does not begin like this", 1, _FORM)
    if words[3] == "pattern":
        raise source.error(_PATTERN, 1, "write the bytes of each entry, and integer in place of pattern")
    if words[3] not in ("integer", "real"):
        raise source.error(f"entries cannot be {shown(words[3])}", 1, "write integer or real")
    if words[4] not in ("general", "symmetric"):
        raise source.error(f"bytes cannot be {shown(words[4])}", 1, "write general or symmetric")
    return words[2], words[4] == "symmetric"


def _counts(source: Source, line: int, text: str, number: int) -> list[int]:
    fields = text.split()
    if len(fields) != number or not all(f.isascii() and f.isdigit() and len(f) <= 18 for f in fields):
        form = "rows, columns and number of entries" if number == 3 else "rows and columns"
        raise source.error(f"{shown(text)} is not a line of {form}", line, f"write {form} after the comments")
    return [int(field) for field in fields]


def _coordinates(source: Source, lines: Lines, traffic: Traffic, entries: int, symmetric: bool) -> None:
    seen: dict[tuple[int, int], int] = {}
    for line, text in lines:
        fields = text.split()
        if len(fields) != 3:
            raise source.error(f"{shown(text)} is not an entry", line, "write row, column and bytes")
        if len(seen) == entries:
            raise source.error(f"more entries than the {entries} of the size line", line, "correct that line")
        row, column = (_index(source, line, field, traffic.ranks) for field in fields[:2])
        size = _size(source, line, fields[2])
        place = (max(row, column), min(row, column)) if symmetric else (row, column)
        if (first := seen.setdefault(place, line)) != line:
            raise source.error(
                f"entry {row + 1} {column + 1} stands in line {first} already", line, "add the two up"
            )
        traffic.add(row, column, size, line)
        if symmetric and row != column:
            traffic.add(column, row, size, line)
    if len(seen) != entries:
        raise source.error(f"ends after {len(seen)} of {entries} entries", remedy="is the file whole?")


def _array(source: Source, lines: Lines, traffic: Traffic, symmetric: bool) -> None:
    """Column by column; of a symmetric matrix the lower triangle."""
    ranks = traffic.ranks
    values = chain.from_iterable(((line, word) for word in text.split()) for line, text in lines)
    for column in range(ranks):
        for row in range(column if symmetric else 0, ranks):
            line, text = next(values, (0, None))
            if text is None:
                raise source.error(
                    f"ends before the entry of row {row + 1} and column {column + 1}",
                    remedy="is the file whole?",
                )
            size = _size(source, line, text)
            traffic.add(row, column, size, line)
            if symmetric and row != column:
                traffic.add(column, row, size, line)
    if (extra := next(values, None)) is not None:
        raise source.error(f"more entries than {ranks} x {ranks}", extra[0], "correct the size line")


def _index(source: Source, line: int, text: str, ranks: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 18 and 1 <= int(text) <= ranks):
        raise source.error(f"{shown(text)} is not a row or column", line, f"count them from 1 to {ranks}")
    return int(text) - 1


def _size(source: Source, line: int, text: str) -> int:
    size = whole_number(text)
    if isinstance(size, str):
        raise source.error(f"{shown(text)} {size}", line, "write whole numbers of bytes")
    return size
