"""Words for the test program call_grid: which rows of its grid it is to make, with messages of which sizes.

A row is CALL/FORM/COUNTS/LAYOUT/SIZES/GROUP: tests/runtime/programs/grid_rows.h says what there is.
"""

from __future__ import annotations

from collections.abc import Iterable


def rows(
    calls: str,
    layouts: str,
    sizes: str = "*",
    groups: str = "world",
    form: str = "blocking",
    counts: str = "int",
) -> str:
    """Pattern of all combinations; each argument is one name, a pattern of names, or several with spaces between."""
    parts = (calls, form, counts, layouts, sizes, groups)
    return "/".join(f"@({part.replace(' ', '|')})" if " " in part else part for part in parts)


def grid(sizes: Iterable[int], *patterns: str, rounds: int = 1, words: str = "") -> str:
    """Program with its arguments; ``sizes``: bytes of the largest message, one after the other; ``words``: more of
    the program's words."""
    return " ".join(["call_grid", f"rounds={rounds}", *map(str, sizes), *words.split(), *patterns])


WITHIN = "world half reverse copy self"


USUAL_SIZES = (0, 4, 400, 16384, 20000, 80044)
LARGE_SIZE = 262144  # many segments: it takes longer than all others


def all_to_alls(*sizes: int, rounds: int = 1, groups: str = WITHIN) -> str:
    layouts = "dense in_place strided in_place_strided from_strided swapped"
    return grid(sizes or USUAL_SIZES, rows("alltoall", layouts, "equal", groups), rounds=rounds)


def all_gathers(*sizes: int) -> str:
    """Contributions of every size from none up, too, and of one rank only."""
    return grid(
        sizes or (0, 1, 16383, 16384, 16385, 100003),
        rows("allgather", "dense in_place strided in_place_strided from_strided", "equal", WITHIN),
        rows("allgatherv", "gaps in_place", "different one but_one", WITHIN),
        rows("allgatherv", "to_strided", "but_one", WITHIN),
        rows("allgather", "dense", "equal", "inter"),
    )


def broadcasts(*sizes: int) -> str:
    groups = "world half reverse self"
    return grid(
        sizes or (0, 1, 1000, 16384, 16385, 300007),
        rows("bcast", "dense from_strided either", "equal", groups),
    )


def gathers_and_scatters(*sizes: int) -> str:
    """Sizes that differ are nothing on some ranks. The first round tells the ranks the sizes."""
    groups = "world half reverse self"
    return grid(
        sizes,
        rows("gather scatter", "dense in_place either", "equal", groups),
        rows("gatherv scatterv", "gaps in_place", "sparse", groups),
        rounds=3,
    )


def vectors(size: int, parts: bool = False) -> str:
    """Every pattern of sizes, other types of one signature, in place; ``parts``: on other communicators, too."""
    return grid(
        (size,),
        rows("alltoallv", "gaps", "different sparse one but_one nothing"),
        rows("alltoallv", "from_spaced spaced in_place", "different"),
        *([rows("alltoallv", "gaps", "different", "most reverse self inter")] if parts else []),
        rounds=2,
    )


def neighbours(size: int) -> str:
    """Graphs, several edges between two ranks or to oneself, grids with edges to nobody."""
    return grid(
        (size,),
        rows("neighbor_alltoallv", "gaps", "different", "graph arranged edges grid mesh pairs"),
        rounds=3,
    )


def typed(size: int) -> str:
    """Messages that have a type each, sizes that differ, nothing at all from nowhere, in place, and between
    two groups."""
    return grid(
        (size,),
        rows("alltoallw", "every_kind", "different sparse nothing"),
        rows("alltoallw", "in_place_strided in_place_spaced", "different"),
        rows("alltoallw", "dense", "equal", "inter"),
        rounds=3,
    )
