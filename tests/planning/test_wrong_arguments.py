"""Whatever is given to the Python API, what it raises is a HocketError."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hocket

NONSENSE: tuple[Any, ...] = (
    None, "", b"x", -1, 0, 1.5, float("nan"), float("inf"), 2**63, 2**200, True, [], [1], [[1]], {}, "x", "1MiB",
    "-5us", "1e400", "\0", "é" * 10, object(), np.float64(3.5), np.array([1, 2]), (1, 2), "1" * 5000, lambda: 1,
    np.int64(5), Path("/"), [2**63] * 4, [-1] * 4, ["a"] * 4, [None] * 4, {1: 2}, set(), range(4), iter([1] * 4),
)  # fmt: skip
MATRICES = (
    np.zeros((4, 4)), np.full((4, 4), 2**62), np.full((4, 4), 2.0**70), np.full((3, 4), 1), np.full((4, 4), np.nan),
    np.full((4, 4), 1j), np.array([["a"] * 4] * 4), np.zeros((0, 0)), np.zeros((4, 4, 4)), np.ones((4, 4), bool),
    np.full((4, 4), 2**64, dtype=object), [[1, 2], [3]], np.full((4, 4), 2**63, dtype=np.uint64),
)  # fmt: skip


def all_of_it(plan: hocket.Plan, folder: Path) -> None:
    """Accepted plans can be saved, read and verified."""
    plan.save(folder / "plan.hkt")
    read = hocket.Plan.load(folder / "plan.hkt")
    assert hocket.verify(read).counts == hocket.verify(plan).counts
    hocket.simulate(read)
    assert repr(read) and read.report()


def calls(folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    net = hocket.Network("star:4")
    plan = hocket.plan(net, "all-to-all", bytes=100)

    def planned(name: str, more: dict[str, Any]) -> None:
        given = {"bytes": 100} if "contributions" not in more else {}
        all_of_it(hocket.plan(net, name, **{**given, **more}), folder)

    for value in NONSENSE:
        say = f"{value!r:.40}"
        yield f"Network({say})", lambda v=value: hocket.Network(v)
        for key in ("rate", "latency", "ranks_per_host", "forwarding"):
            yield f"Network({key}={say})", lambda v=value, k=key: hocket.Network("star:4", **{k: v})
        for name in ("all-to-all", "all-gather", "broadcast", "all-reduce", "gather"):
            for key in ("bytes", "contributions", "algorithm", "window", "alpha", "seed", "root"):
                yield f"plan({name}, {key}={say})", lambda v=value, k=key, n=name: planned(n, {k: v})
        yield f"plan({say})", lambda v=value: hocket.plan(net, v)
        yield f"plan(network={say})", lambda v=value: hocket.plan(v, "all-to-all", bytes=1)
        yield f"save({say})", lambda v=value: plan.save(v)
        yield f"load({say})", lambda v=value: hocket.Plan.load(v)
        yield f"verify({say})", lambda v=value: hocket.verify(v)
        yield f"verify(network={say})", lambda v=value: hocket.verify(plan, v)
        yield f"simulate({say})", lambda v=value: hocket.simulate(v)
        for key in ("flow", "alpha", "token", "barrier", "overhead", "network"):
            yield f"simulate({key}={say})", lambda v=value, k=key: hocket.simulate(plan, **{k: v})
        yield f"host_of({say})", lambda v=value: net.host_of(v)
        yield f"route({say})", lambda v=value: net.route(v, 0)
    for matrix in MATRICES:
        yield f"plan({matrix!r:.40})", lambda m=matrix: all_of_it(hocket.plan(net, m), folder)


def test_what_is_raised_is_an_error_of_hockets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    others, refused = [], 0
    for name, call in calls(tmp_path):
        try:
            call()
        except hocket.HocketError:
            refused += 1
        except Exception as error:
            others.append(f"{name}: {error!r:.200}")
    assert others == []
    assert refused > 1000


def test_small_plans_can_be_saved(tmp_path: Path) -> None:
    """Where there are few pieces, nothing is sent in some phases of a pipeline: they are left out."""
    for name in ("broadcast", "reduce", "all-reduce", "all-gather", "reduce-scatter"):
        for network in ("star:3", "chain:2,2", "mesh:3", "star:1"):
            for size in (1, 5, 1024):
                all_of_it(hocket.plan(network, name, bytes=size), tmp_path)
            with pytest.raises(hocket.UsageError, match="bytes 0"):
                hocket.plan(network, name, bytes=0)
    for name in ("all-gather", "reduce-scatter"):
        all_of_it(hocket.plan("star:3", name, contributions=[0, 0, 0]), tmp_path)
