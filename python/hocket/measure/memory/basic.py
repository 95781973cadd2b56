"""The basic transfers of a host, and operations composed of them (Stricker and Gross, ISCA 1995)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hocket import _core
from hocket.errors import UsageError

_REACH: Final = 256 << 20  # bytes: out of the caches

MEANINGS: Final = {
    "1C1": "copied in a row",
    "sC1": "copied, read 64 elements apart",
    "1Cs": "copied, written 64 elements apart",
    "wC1": "copied, read at any place (gather)",
    "1Cw": "copied, written at any place (scatter)",
    "1S0": "sent to a rank of the host by MPI, read in a row",
    "Nd": "the same: within a host the network is the memory",
    "0R1": "the same, written in a row",
    "wS0": "read at any place in shared memory",
    "0Rw": "written at any place in shared memory",
    "Nadp": "read in a row from shared memory of another rank",
}

#: Operations within a host, as composed of basic transfers.
WAYS: Final = {
    "permutation, packed": "wC1 o (1S0 || Nd || 0R1) o 1Cw",
    "permutation, chained": "1S0 || Nadp || 0Rw",
    "take, chained": "wS0 || Nadp || 0R1",
}


def transfers(profile: _core.memory.Profile, width: int) -> dict[str, float]:
    """MB/s of each basic transfer, all measured ranks working at once on elements of ``width`` bytes."""
    ranks = max(figure[1] for figure in profile.figures)

    def rate(work: str, unit: int, parts: int = 1) -> float:
        return 1e-6 * unit / float(profile.seconds(work, ranks=ranks, width=unit, parts=parts, bytes=_REACH))

    message = rate("message", 1)
    return {
        "1C1": rate("copy", 1),
        "sC1": rate("strided-read", width),
        "1Cs": rate("strided-write", width),
        "wC1": rate("gather", width),
        "1Cw": rate("scatter", width),
        "1S0": message,
        "Nd": message,
        "0R1": message,
        "wS0": rate("shared-gather", width),
        "0Rw": rate("shared-scatter", width),
        "Nadp": rate("pull", 1, 1 << 16),
    }


def composed(composition: str, figures: Mapping[str, float] | None = None) -> float:
    """MB/s of composed transfers; without figures only the grammar is checked. Raises UsageError."""
    try:
        if figures is None:
            _core.memory.composition(composition)
            return 0.0
        return float(_core.memory.throughput(composition, dict(figures)))
    except _core.InputError as error:
        raise UsageError(
            f"'{composition}': {error}", remedy="write one such as 'wC1 o (1S0 || Nd || 0R1) o 1Cw'"
        ) from None
