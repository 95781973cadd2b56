"""The talk's tables of permutations and sorts, composed anew of the Cray T3D's figures.

python papers/stricker-hardwick/tables.py
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from hocket import _core
from hocket.cli._shared.work import as_columns

#: Bytes of bucket work for each byte of key work. The talk does not say; its primitives and its whole agree
#: with this.
BUCKET_SHARE: Final = 0.006

_BLOCKS = "1S0 || Nd || 0R1"
_TRANSPOSE = "1S0 || Nadp || 0R64"
_RANDOM = "wS0 || Nadp || 0Rw"
_PACKED = f"wC1 o ({_BLOCKS}) o 1Cw"


@dataclass(frozen=True, slots=True)
class Row:
    """MB/s per processor; None where the talk has none. Without a composition the talk's figure is used."""

    what: str
    composition: str | None
    model: float
    talk: float
    measured: float | None

    def cells(self) -> list[Any]:
        ratio = "" if self.measured is None else f"{self.model / self.measured:.2f}"
        measured = "" if self.measured is None else f"{self.measured:g}"
        return [
            self.what,
            self.composition or "(as given)",
            f"{self.model:.3g}",
            f"{self.talk:g}",
            measured,
            ratio,
        ]


def permutations() -> list[Row]:
    return [
        _row("blocks", _BLOCKS, 69, 55.5),
        _row("transpose", _TRANSPOSE, 38, 29.5),
        _row("random, chained", _RANDOM, 32, 22.0),
        _row("random, packed", _PACKED, 14, None),
    ]


def sort() -> list[Row]:
    """The seven primitives, and the whole sort of them."""
    keys = [
        Row("bucket counting", None, 21, 21, 14),
        Row("local permutation", None, 21, 21, 8),
        _row("global permutation", _RANDOM, 32, 20),
    ]
    buckets = [
        _row("bucket transpose", _TRANSPOSE, 38, 20),
        Row("bucket reduction", None, 220, 220, 125),
        _row("bucket scan", "1C1", 90, 60),
        _row("bucket untranspose", _TRANSPOSE, 38, 20),
    ]
    return [*keys, *buckets, Row("whole sort", "key work o bucket work", _whole(keys, buckets), 7.88, 3.99)]


#: MB/s of the Cray T3D's basic transfers of 64-bit words; of its network at the congestion of two messages per wire,
#: which it has as soon as both processors of a network node send. Nd and Nadp are those of the talk (SPAA 1996). The
#: others are those of Stricker and Gross (ISCA 1995) as remembered, not read: assumed, and in agreement with the
#: throughputs that the talk composes of them (docs/algorithms.md).
T3D = {
    "0R1": 142.0, "0R64": 52.0, "0Rw": 52.0, "1C1": 93.0, "1C64": 67.9, "1Cw": 38.5, "1S0": 126.0,
    "64C1": 33.3, "64S0": 35.0, "Nadp": 38.0, "Nd": 69.0, "wC1": 32.9, "wS0": 32.0,
}  # fmt: skip


def _row(what: str, composition: str, talk: float, measured: float | None) -> Row:
    return Row(what, composition, _core.memory.throughput(composition, T3D), talk, measured)


def _whole(keys: list[Row], buckets: list[Row]) -> float:
    """One after the other: 1/T = Σ 1/Ti, bucket work weighted by its share of the bytes."""
    return 1 / (sum(1 / row.model for row in keys) + BUCKET_SHARE * sum(1 / row.model for row in buckets))


def main() -> None:
    print("Cray T3D, MB/s per processor")
    print(as_columns(["transfer", "MB/s"], [[name, rate] for name, rate in T3D.items()]))
    for name, rows in (("element permutation", permutations()), ("radix sort", sort())):
        header = [name, "composition", "model", "talk's model", "talk's measurement", "model/measured"]
        print("\n" + as_columns(header, [row.cells() for row in rows]))


if __name__ == "__main__":
    main()
