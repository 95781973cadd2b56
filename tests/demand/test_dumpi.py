"""DUMPI: the .meta file, and what dumpi2ascii prints of each rank."""

from __future__ import annotations

from pathlib import Path

import pytest

from hocket.demand import read_traffic
from hocket.demand.dumpi import SIZES
from hocket.errors import DemandError

META = "hostname=n0\nnumprocs={ranks}\nusername=a\nstartime=1380218153\nfileprefix=dumpi-1\nversion=1\nsubversion=1\n"
WORLD = "MPI_Comm comm=2 (MPI_COMM_WORLD)"


def call(name: str, *lines: str) -> str:
    when = "at walltime 8153.049312345, cputime 0.004412345 seconds in thread 0."
    return "\n".join([f"{name} entering {when}", *lines, f"{name} returning {when}"]) + "\n"


def send(
    dest: int, count: int, datatype: str = "11 (MPI_DOUBLE)", name: str = "MPI_Send", comm: str = WORLD
) -> str:
    return call(
        name, f"int count={count}", f"MPI_Datatype datatype={datatype}", f"int dest={dest}", "int tag=7", comm
    )


def trace(folder: Path, *ranks: str) -> Path:
    for rank, text in enumerate(ranks):
        (folder / f"dumpi-1-{rank:04d}.txt").write_text(call("MPI_Init", "int argc=1") + text)
    path = folder / "dumpi-1.meta"
    path.write_text(META.format(ranks=len(ranks)))
    return path


def test_calls_add_up(tmp_path: Path, table) -> None:
    first = (
        send(1, 3)
        + call("MPI_Recv", "int count=99", "MPI_Datatype datatype=11 (MPI_DOUBLE)", "int source=1", WORLD)
        + send(2, 10, "1 (MPI_CHAR)", "MPI_Isend")
        + send(-1, 5)  # MPI_PROC_NULL
        + send(0, 5)
        + call(
            "MPI_Alltoallv", "int commsize=3", "int sendcounts[3]=[0, 5, 7]", "int senddispls[3]=[0, 0, 5]",
            "MPI_Datatype sendtype=3 (MPI_INT)", "int recvcounts[3]=[0, 1, 1]", "int recvdispls[3]=[0, 0, 1]",
            "MPI_Datatype recvtype=3 (MPI_INT)", WORLD,
        )
    )  # fmt: skip
    second = (
        call("MPI_Comm_dup", "MPI_Comm oldcomm=2 (MPI_COMM_WORLD)", "MPI_Comm newcomm=5 (user-defined-comm)")
        + call("MPI_Type_contiguous", "int count=4", "MPI_Datatype oldtype=11 (MPI_DOUBLE)",
               "MPI_Datatype newtype=28 (user-defined-datatype)")
        + send(2, 2, "28 (user-defined-datatype)", "MPI_Ssend", "MPI_Comm comm=5 (user-defined-comm)")
        + call("MPI_Alltoall", "int sendcount=2", "MPI_Datatype sendtype=1 (MPI_CHAR)", "int recvcount=2",
               "MPI_Datatype recvtype=1 (MPI_CHAR)", WORLD)
    )  # fmt: skip
    third = call(
        "MPI_Sendrecv", "int sendcount=6", "MPI_Datatype sendtype=1 (MPI_BYTE)", "int dest=0", "int sendtag=0",
        "int recvcount=9", "MPI_Datatype recvtype=1 (MPI_BYTE)", "int source=0", "int recvtag=0", WORLD,
        "MPI_Status status=[{bytes=6, cancelled=0, source=0, tag=0, error=0}]",
    )  # fmt: skip
    path = trace(tmp_path, first, second, third)
    assert table(path) == [(0, 1, 24 + 20), (0, 2, 10 + 28), (1, 0, 2), (1, 2, 64 + 2), (2, 0, 6)]
    assert read_traffic(str(path)).kept_bytes == 40 + 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (send(9, 1), "dumpi-1-0000.txt:4: there is no rank 9 of 2"),
        (send(1, 1, "40 (user-defined-datatype)"), ":4: MPI_Send: the size of datatype 40 is not in the trace"),
        (send(1, 1, comm="MPI_Comm comm=6 (user-defined-comm)"), "on a communicator that is neither"),
        (send(1, 1, name="MPI_Send_init"), "MPI_Send_init is not read"),
        (send(1, -3), "count is -3"),
        (send(1, 1)[:-90], "ends within a call of MPI_Send"),
        (call("MPI_Send", WORLD), "MPI_Send does not say its dest"),
        (
            call("MPI_Alltoallv", "int sendcounts[3]=[1, 2, 3]", "MPI_Datatype sendtype=3 (MPI_INT)", WORLD),
            "3 sendcounts of 2",
        ),
        *(
            (
                call("MPI_Alltoallv", f"int sendcounts[2]=[1, {count}]", "MPI_Datatype sendtype=3 (MPI_INT)", WORLD),
                f":4: MPI_Alltoallv: {count.strip()!r} is not one of its sendcounts; is this output of dumpi2ascii?",
            )
            for count in ("0 100", "-1", "", "1" * 19, "- 1", "1-")
        ),
        ("\0", "NUL byte"),
    ],
)  # fmt: skip
def test_refused(text: str, says: str, tmp_path: Path) -> None:
    path = trace(tmp_path, text, "")
    with pytest.raises(DemandError) as caught:
        read_traffic(str(path))
    assert says in str(caught.value) and caught.value.remedy and "\n" not in str(caught.value)


def test_files_of_ranks_are_named(tmp_path: Path, refusal) -> None:
    assert "dumpi-1-0000.txt: no such file; name the output of 'dumpi2ascii dumpi-1-0000.bin'" in refusal_of(
        tmp_path
    )
    assert "does not say numprocs" in refusal("a.meta", "hostname=a\nfileprefix=b\n")
    assert "names 0 ranks" in refusal("b.meta", "hostname=a\nnumprocs=0\nfileprefix=b\n")
    assert "names 2 ranks" in refusal("c.meta", "hostname=a\nnumprocs=2\nfileprefix=../b\n")
    assert "does not say numprocs" in refusal("d.meta", "hostname=a\nnumprocs=٣\nfileprefix=b\n")
    assert "files called '/\\x1b[2J'" in refusal("e.meta", "hostname=a\nnumprocs=2\nfileprefix=/\x1b[2J\n")


def refusal_of(folder: Path) -> str:
    path = folder / "dumpi-1.meta"
    path.write_text(META.format(ranks=3))
    with pytest.raises(DemandError) as caught:
        read_traffic(str(path))
    return str(caught.value)


def test_sizes_of_basic_types() -> None:
    assert (SIZES["MPI_CHAR"], SIZES["MPI_INT"], SIZES["MPI_DOUBLE"], SIZES["MPI_DOUBLE_COMPLEX"]) == (
        1,
        4,
        8,
        16,
    )
