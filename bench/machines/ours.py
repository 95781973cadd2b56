"""Seconds that Hocket's own schedules would take on a job's network, by the same frozen costs."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from cells import Job

import hocket
from hocket.errors import HocketError
from model import Costs, Fabric, Habits, Phase, Program, seconds

# Name of the collective in the table: name here, and whether the size that is told is that of a block or of all.
COLLECTIVES: Final = {
    "allgather": ("all-gather", True),
    "alltoall": ("all-to-all", True),
    "reduce_scatter": ("reduce-scatter", True),
    "allreduce": ("all-reduce", False),
    "bcast": ("broadcast", False),
}
MOST_RANKS: Final = 512  # explicit schedules of more take minutes


def schedule_seconds(
    job: Job, collective: str, bytes: int, fabric: Fabric, costs: Costs, habits: Habits
) -> tuple[str, float] | None:
    """The schedule's algorithm and its seconds; None where Hocket has none for this exchange, or the job is too
    large."""
    if collective not in COLLECTIVES or job.ranks > MOST_RANKS or job.ranks < 2 or job.ranks_per_node > 1:
        return None
    name, by_block = COLLECTIVES[collective]
    size = bytes // job.ranks if by_block else bytes
    try:
        plan = hocket.plan(
            hocket.Network._of_core(fabric.network, "job"), name, bytes=size, alpha=costs.rendezvous
        )
    except HocketError:
        return None
    return plan.algorithm, seconds(_program(plan, name, bytes, fabric), bytes, fabric, costs, habits)


def _program(plan: hocket.Plan, name: str, bytes: int, fabric: Fabric) -> Program:
    """Phases of the plan, one after the other, each with the token that releases the next. Ranks of the plan are
    hosts of the network in its order."""
    place = np.empty(fabric.ranks, np.int64)
    place[fabric.core_rank] = np.arange(fabric.ranks)
    moved = plan.transfers
    order = np.argsort(moved["phase"], kind="stable")
    moved = moved[order]
    starts = np.flatnonzero(np.r_[True, np.diff(moved["phase"]) > 0])
    half = len(starts) // 2 if name == "all-reduce" else len(starts) if name == "reduce-scatter" else 0
    phases = [Phase(copied=bytes / (1 if half else fabric.ranks))]
    ports = 1
    for at, part in enumerate(np.split(moved, starts[1:])):
        pairs, which = np.unique(
            part["src"].astype(np.int64) * fabric.ranks + part["dst"], return_inverse=True
        )
        sums = np.bincount(which, part["length"].astype(float))
        src, dst = place[pairs // fabric.ranks], place[pairs % fabric.ranks]
        sent = int(max(np.bincount(src).max(), np.bincount(dst).max()))
        arrived = np.bincount(dst, sums).max() if at < half else 0.0
        phases += [
            Phase(src, dst, float(sums.max()), posts=sent, combined=float(arrived)),
            Phase(src, dst, 8),
        ]
        ports = max(ports, sent)
    return replace(Program(phases), ports=min(ports, fabric.interfaces))
