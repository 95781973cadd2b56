"""The runtime and the sorts wait inside the MPI library only by wait_in_mpi(), which posts what remains before."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Local: both MPI families free without waiting, and a window only after a collective of the same ranks.
LOCAL = ("Comm_free", "Win_free", "Win_unlock_all")


def blocking_calls() -> set[str]:
    """Calls that the shim knows to wait for other ranks."""
    text = (ROOT / "runtime/shim/calls.h").read_text()
    named = set(re.findall(r"\bX\((\w+), (?:post_remaining|join), \d+\)", text))
    with_large = set(re.findall(r"\bAND_LARGE\(X, (\w+), post_remaining, \d+\)", text))
    named |= with_large | {f"{name}_c" for name in with_large}
    named |= set(re.findall(r"\bX, (\w+), \w+, \d+, \d+, \d+\)", text))
    assert {"Bcast", "Alltoallw", "Allreduce", "Comm_split", "Win_allocate_shared"} <= named
    return named - set(LOCAL)


def test_nothing_blocks_but_by_wait_in_mpi() -> None:
    direct = re.compile(rf"(?<!wait_in_mpi\()\bPMPI_(?:{'|'.join(blocking_calls())})\b")
    wrong = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for tree in ("runtime", "sort")
        for path in sorted((ROOT / tree).rglob("*.cpp")) + sorted((ROOT / tree).rglob("*.hpp"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if direct.search(line) and "MPI_COMM_SELF" not in line
    ]
    assert not wrong, "\n".join(wrong)


def test_ranks_agree_without_blocking_reductions() -> None:
    """MPICH's wait in the memory of a host and keep processors from ranks that have work."""
    blocking = re.compile(r"\bPMPI_(?:Allreduce|Barrier|Reduce|Bcast)\b")
    wrong = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "runtime").rglob("*.[ch]pp"))
        if blocking.search(path.read_text())
    ]
    assert wrong == ["runtime/calls/vector_operation.cpp"]  # where nonblocking calls may not match
