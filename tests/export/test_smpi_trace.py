"""Traces for SMPI: interpreted in any order of ranks, and replayed by SimGrid where it is installed."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

from exported import Watcher, on_every_plan, run_in_random_orders, texts
from hocket import _core
from hocket.cli import main
from hocket.network import read_network
from hocket.planning.plan import plan_collective

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "smpi"))
from referee import SETTINGS, missing_tools

needs_simgrid = pytest.mark.skipif(
    bool(missing_tools()), reason="SimGrid is not installed (Debian: libsimgrid-dev)"
)


def traces(plan: _core.Plan) -> list[list[list[str]]]:
    """The actions of each rank; the first file lists theirs in order."""
    files = texts("smpi-trace", plan)
    listed = files["out"].splitlines()
    assert listed == [f"out_files/{rank}.txt" for rank in range(plan.schedule.ranks)]
    found = [[line.split(" ") for line in files[name].splitlines()] for name in listed]
    for rank, lines in enumerate(found):
        assert all(line[0] == str(rank) for line in lines)
        assert (lines[0][1:], lines[-2][1:], lines[-1][1:]) == (["init"], ["waitall"], ["finalize"])
    return found


def run(lines: list[list[list[str]]], watcher: Watcher, seed: int) -> None:
    """Ranks go on in any order; a wait for a receive ends once its message has been sent."""
    dice = random.Random(seed)
    number: dict[tuple[int, int], list[int]] = defaultdict(list)
    for transfer, ends in enumerate(watcher.hops):
        number[ends].append(transfer)
    places = [0] * len(lines)
    posted: dict[tuple[int, int, int], int] = {}  # receives by (from, to, tag)
    sent: dict[tuple[int, int, int], int] = {}

    def data(key: tuple[int, int, int]) -> int | None:
        """Messages between two ranks have the first tags, tokens the next."""
        of = number[key[:2]]
        return of[key[2] - 1] if key[2] <= len(of) else None

    def step(rank: int) -> bool:
        _, action, *words = lines[rank][places[rank]]
        values = [int(word) for word in words]
        if action in ("isend", "irecv"):
            peer, tag, size = values
            key = (rank, peer, tag) if action == "isend" else (peer, rank, tag)
            requests = sent if action == "isend" else posted
            assert key not in requests and peer != rank and size > 0
            requests[key] = size
            if action == "isend" and (transfer := data(key)) is not None:
                assert size == len(watcher.cells[transfer])
                watcher.start(transfer)
        elif action == "wait":
            src, dst, tag = values
            key = (src, dst, tag)
            assert rank in (src, dst)
            if rank == dst:
                if key not in sent:
                    return False
                assert posted.pop(key) == sent[key]
                if (transfer := data(key)) is not None:
                    watcher.arrive(transfer)
            else:
                assert key in sent
        places[rank] += 1
        return True

    left = list(range(len(lines)))
    while left:
        dice.shuffle(left)
        moved = [rank for rank in left if step(rank)]
        assert moved, "deadlock"
        left = [rank for rank in left if places[rank] < len(lines[rank])]
    assert not posted


@on_every_plan
def test_every_order_delivers_and_waits(make: Callable[[], _core.Plan]) -> None:
    plan = make()
    run_in_random_orders(plan, run, traces(plan))


REPLAYED = (
    ("all-to-all", "tree:4x4@1Gbit,1us", "64KiB"),
    ("all-gather", "tree:(3,(2),(1))@1Gbit,1us", "256KiB"),
    ("all-reduce", "torus:4x2@1Gbit,1us", "1MiB"),
    ("all-to-all", "star:4*2@1Gbit,1us", "64KiB"),
)


@needs_simgrid
@pytest.mark.parametrize("case", REPLAYED, ids=[" ".join(case) for case in REPLAYED])
def test_simgrid_replays_it(
    case: tuple[str, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collective, form, size = case
    monkeypatch.chdir(tmp_path)
    command = ["plan", collective, "--network", form, "--bytes", size, "-o", "plan.hkt"]
    assert main(command) == 0
    assert main(["export", "--to", "smpi-trace", "plan.hkt", "-o", "trace.txt"]) == 0
    plan = _core.Plan.decode(Path("plan.hkt").read_bytes())
    done = subprocess.run(
        ["smpirun", "-np", str(plan.schedule.ranks), "-platform", "trace.txt_files/platform.xml",
         "-hostfile", "trace.txt_files/hosts", "-replay", "trace.txt", *[f"--cfg={setting}" for setting in SETTINGS]],
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found = re.search(r"Simulation time ([\d.]+)", done.stdout + done.stderr)
    assert found is not None
    if "*" not in form:  # what ranks of a host send each other takes no time here, and some there
        assert float(found[1]) == pytest.approx(plan.predicted_seconds, rel=0.03)


def test_two_hosts_of_a_star() -> None:
    plan = plan_collective("all-to-all", read_network("star:2"), 5)
    first, second = traces(plan)
    assert [line[1:] for line in first[1:-2]] == [
        ["irecv", "1", "1", "5"],
        ["isend", "1", "1", "5"],
        ["wait", "1", "0", "1"],
    ]
    assert len(second) == len(first)
