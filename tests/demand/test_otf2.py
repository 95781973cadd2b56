"""OTF2: traces that the library of its project has written."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pytest

from hocket.demand import read_traffic
from hocket.errors import DemandError, MissingToolError

otf2 = pytest.importorskip("otf2")


def trace(folder: Path, *, messages: bool = True) -> Path:
    """Three ranks; a communicator of the last and the first."""
    with otf2.writer.open(str(folder / "trace"), timer_resolution=10**9) as archive:
        known = archive.definitions
        node = known.system_tree_node("n0", parent=known.system_tree_node("root"))
        places = [
            known.location(
                "Master thread",
                group=known.location_group(
                    f"Rank {rank}",
                    system_tree_parent=node,
                    location_group_type=otf2.LocationGroupType.PROCESS,
                ),
            )
            for rank in range(3)
        ]

        def group(name: str, kind: Any, members: list[Any]) -> Any:
            return known.group(name=name, group_type=kind, paradigm=otf2.Paradigm.MPI, members=members)

        group("ranks", otf2.GroupType.COMM_LOCATIONS, places)
        world = known.comm(name="world", group=group("world", otf2.GroupType.COMM_GROUP, places))
        some = known.comm(
            name="some", group=group("some", otf2.GroupType.COMM_GROUP, [places[2], places[0]]), parent=world
        )
        writers = [archive.event_writer_from_location(place) for place in places]
        if messages:
            writers[0].mpi_send(10, 1, world, 7, 100)
            writers[0].mpi_isend(20, 0, some, 1, 50, 1)
            writers[0].mpi_send(30, 1, world, 7, 11)
            writers[1].mpi_recv(40, 0, world, 7, 100)
            writers[2].mpi_send(50, 2, world, 0, 9)
        writers[2].mpi_collective_begin(60)
        writers[2].mpi_collective_end(70, otf2.CollectiveOp.ALLTOALL, world, 0, 30, 30)
    return folder / "trace" / "traces.otf2"


def test_messages_add_up(tmp_path: Path, table) -> None:
    path = trace(tmp_path)
    assert table(path) == [(0, 1, 111), (0, 2, 50)]
    found = read_traffic(str(path))
    assert (found.ranks, found.kept_bytes) == (3, 9)


def refused(path: Path, capfd: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(DemandError) as caught:
        read_traffic(str(path))
    assert caught.value.remedy and "\n" not in str(caught.value)
    assert capfd.readouterr().err == ""  # the library says nothing of its own
    return str(caught.value)


def test_what_is_not_there(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert "holds no messages between two ranks" in refused(trace(tmp_path, messages=False), capfd)


def test_damaged(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = trace(tmp_path)
    path.write_bytes(path.read_bytes()[:40])
    assert "cannot be read as a trace in OTF2" in refused(path, capfd)


def test_definitions_missing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = trace(tmp_path)
    path.with_suffix(".def").unlink()
    assert "cannot be read as a trace in OTF2" in refused(path, capfd)


def test_without_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, real = trace(tmp_path), builtins.__import__

    def none(name: str, *rest: Any, **more: Any) -> Any:
        if name == "otf2":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", none)
    with pytest.raises(MissingToolError, match=r"pip install 'hocket\[otf2\]'"):
        read_traffic(str(path))
