"""A flow around an airfoil on an unstructured mesh, by sweeps over its edges: the same program as fluid.c.

The ranks exchange the same two batches of unequal messages in every step. See README.md.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from pathlib import Path
from typing import NoReturn

import numpy as np
from mpi4py import MPI

import flow
import halo
from mesh import Mesh, MeshError, read_mesh

WRONG_RESULT, USAGE = 1, 2
INT_MAX = 2**31 - 1


class Parser(argparse.ArgumentParser):
    """Only rank 0 complains; all ranks leave."""

    def _print_message(self, message: str, file: object = None) -> None:
        if MPI.COMM_WORLD.rank == 0:
            super()._print_message(message, file)


def fail(message: str) -> NoReturn:
    """End with an error that all ranks find alike."""
    if MPI.COMM_WORLD.rank == 0:
        print(f"fluid: {message}", file=sys.stderr)
    sys.exit(USAGE)


def options() -> argparse.Namespace:
    parser = Parser(prog="fluid", description=__doc__)
    parser.add_argument("mesh", type=Path)
    parser.add_argument("--steps", type=int, default=10, help="time steps (default 10)")
    parser.add_argument(
        "--values", type=int, default=4, help="values per point, a multiple of 4 (default 4): VALUES/4 fluids"
    )
    parser.add_argument("--exchange", choices=["alltoallv", "neighbor"], default="alltoallv")
    parser.add_argument("--check", action="store_true", help="rank 0 also calculates alone, and compares")
    parser.add_argument("--serial", action="store_true", help="one process calculates without any exchange")
    chosen = parser.parse_args()
    if not 0 <= chosen.steps <= 1_000_000:
        parser.error("--steps wants a number from 0 to 1,000,000")
    if not 4 <= chosen.values <= 65536 or chosen.values % flow.VALUES_OF_A_FLUID:
        parser.error("--values wants a multiple of 4 from 4 to 65,536")
    return chosen


def read_on_all(path: Path, comm: MPI.Intracomm) -> Mesh:
    """Rank 0 reads the file and tells everyone."""
    result: Mesh | str = ""
    if comm.rank == 0:
        try:
            result = read_mesh(path)
        except MeshError as error:
            result = str(error)
    result = comm.bcast(result)
    if isinstance(result, str):
        fail(f"{path}: {result}")
    return result


def calculate(mesh: Mesh, share: halo.Halo, chosen: argparse.Namespace, comm: MPI.Intracomm) -> np.ndarray:
    """The distributed calculation: the values of the own points; rank 0 says how long the exchanges took."""
    values, own, step = chosen.values, share.own, flow.time_step(mesh)
    old = np.zeros((len(share.points), values), dtype=np.int64)
    y = np.zeros_like(old)
    given = np.empty((len(share.give), values), dtype=np.int64)
    fetch = halo.Exchange(chosen.exchange, comm, values, share.gives, share.fetches)
    give_back = halo.Exchange(chosen.exchange, comm, values, share.fetches, share.gives)
    seconds = np.zeros((3, chosen.steps))

    y[:own] = flow.start(mesh, share.points[:own], values)
    for i in range(chosen.steps):
        begin = MPI.Wtime()
        old[:own] = y[:own]
        given[:] = old[share.give]
        before_fetch = MPI.Wtime()
        fetch.run(given, old[own:])
        seconds[0, i] = MPI.Wtime() - before_fetch

        y[own:] = 0
        flow.sweep(mesh, share.edges, share.ends, share.points, step, old, y)
        flow.push_walls(mesh, share.points[:own], step, old[:own], y[:own])

        before_back = MPI.Wtime()
        give_back.run(y[own:], given)
        seconds[1, i] = MPI.Wtime() - before_back
        np.add.at(y, share.give, given)
        seconds[2, i] = MPI.Wtime() - begin

    slowest = np.zeros_like(seconds)
    comm.Reduce(seconds, slowest, MPI.MAX)
    if comm.rank == 0 and chosen.steps:
        median = np.sort(slowest)[:, chosen.steps // 2]
        print("seconds of a step: fetch {:.6f}, give back {:.6f}, all {:.6f}".format(*median))
    return y[:own]


def describe(share: halo.Halo, values: int, comm: MPI.Intracomm) -> None:
    """Print the number and sizes of an exchange's messages."""
    all_fetches = comm.gather(share.fetches)
    if all_fetches is not None:
        sizes = np.array(all_fetches, dtype=np.int64) * values * 8
        print(f"an exchange: {(sizes > 0).sum()} messages, {sizes.sum()} bytes, the largest {sizes.max()}")


def fingerprint(points: np.ndarray, y: np.ndarray) -> int:
    """Every value times a number of its place, as in check.c (SplitMix64); sums are modulo 2^64."""
    values = y.shape[1]
    mix = (
        points.astype(np.uint64)[:, None] * np.uint64(values) + np.arange(1, values + 1, dtype=np.uint64)
    ) * np.uint64(0x9E3779B97F4A7C15)
    mix = (mix ^ (mix >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mix = (mix ^ (mix >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return int((y.view(np.uint64) * (mix ^ (mix >> np.uint64(31)))).sum())


def check_sums(mesh: Mesh, points: np.ndarray, y: np.ndarray, comm: MPI.Intracomm) -> bool:
    """Says the number of the state and whether mass was kept; whoever holds the values, the same."""
    mass = y[:, :: flow.VALUES_OF_A_FLUID].sum()
    at_the_start = flow.start(mesh, points, y.shape[1])[:, :: flow.VALUES_OF_A_FLUID].sum()
    state, gained = comm.allreduce(fingerprint(points, y)), comm.allreduce(int(mass - at_the_start))
    if comm.rank == 0:
        print(f"state {state % 2**64:016x}, mass {'LOST' if gained else 'kept'}")
    return gained == 0


def check_against_serial(mesh: Mesh, chosen: argparse.Namespace, y: np.ndarray, comm: MPI.Intracomm) -> bool:
    """Rank 0 gathers all values, calculates alone, and says whether they are the same."""
    pieces = comm.gather(y)
    same = True
    if pieces is not None:
        gathered = np.empty((len(mesh.xy), chosen.values), dtype=np.int64)
        for rank, piece in enumerate(pieces):
            gathered[mesh.owner == rank] = piece
        expected = flow.serial(mesh, chosen.steps, chosen.values)
        for point, k in np.argwhere(gathered != expected)[:1]:
            same = False
            print(
                f"value {k} of point {point} is {gathered[point, k]}, in the serial run {expected[point, k]}"
            )
        print("the serial run gives the same values" if same else "NOT the values of the serial run")
    return comm.bcast(same)


def main() -> int:
    chosen = options()
    comm = MPI.COMM_WORLD
    mesh = read_on_all(chosen.mesh, comm)
    if chosen.serial and comm.size > 1:
        fail(f"--serial wants one process, not {comm.size}")
    if not chosen.serial and comm.size < mesh.parts:
        fail(
            f"{chosen.mesh} is divided among {mesh.parts} ranks, but there are {comm.size}: "
            "start more, or divide it again"
        )
    if comm.rank == 0:
        how = "serial" if chosen.serial else chosen.exchange
        print(
            f"{len(mesh.xy)} points, {len(mesh.ends)} edges, {chosen.values} values per point, "
            f"{chosen.steps} steps; {how} on {comm.size} ranks"
        )
    if chosen.serial:
        y = flow.serial(mesh, chosen.steps, chosen.values)
        return 0 if check_sums(mesh, np.arange(len(mesh.xy)), y, comm) else WRONG_RESULT
    share = halo.inspect(mesh, comm)
    if comm.allreduce(max(len(share.give), len(share.points) - share.own), MPI.MAX) * chosen.values > INT_MAX:
        fail(f"--values {chosen.values}: a rank would exchange more than 2^31 values")
    describe(share, chosen.values, comm)
    y = calculate(mesh, share, chosen, comm)
    good = not chosen.check or check_against_serial(mesh, chosen, y, comm)
    good &= check_sums(mesh, share.points[: share.own], y, comm)
    return 0 if good else WRONG_RESULT


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Exception:  # the other ranks would wait for this one
        traceback.print_exc()
        MPI.COMM_WORLD.Abort(1)
