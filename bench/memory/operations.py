"""Times operations on distributed elements on every rank, for model_error.py. Rank 0 prints JSON."""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
from mpi4py import MPI

import hocket
from hocket.sorting.sort import sort_report

COMM = MPI.COMM_WORLD
KEYS = {"u2": "u16", "u4": "u32", "u8": "u64"}


def slowest(seconds: float) -> float:
    longest: float = COMM.allreduce(seconds, MPI.MAX)
    return longest


def timed(repeats: int, work: Callable[..., object], *arguments: Any, **options: Any) -> float:
    """The median; the first call, which makes what later ones find made, does not count."""
    seconds = []
    for _ in range(repeats + 1):
        COMM.Barrier()
        begin = MPI.Wtime()
        work(COMM, *arguments, **options)
        seconds.append(slowest(MPI.Wtime() - begin))
    return statistics.median(seconds[1:])


def moves(size: int, repeats: int) -> list[dict[str, Any]]:
    """``size``: bytes of this rank's part."""
    random = np.random.default_rng(1)
    ranks, rank = COMM.Get_size(), COMM.Get_rank()
    rows = []

    def add(what: str, method: str, width: int, n: int, seconds: float, **more: int) -> None:
        rows.append(
            {
                "what": what,
                "method": method,
                "width": width,
                "elements": n * ranks,
                "seconds": seconds,
                **more,
            }
        )

    for width in (4, 8, 16, 64):
        n = size // width
        kind = np.dtype(f"u{width}") if width <= 8 else np.dtype(f"V{width}")
        source, target = np.zeros(n * width, np.uint8).view(kind), np.ones(n * width, np.uint8).view(kind)
        everywhere = random.permutation(n * ranks)[rank * n : (rank + 1) * n].copy()
        for method in ("packed", "chained"):
            for move in (hocket.permute, hocket.take):
                seconds = timed(repeats, move, source, everywhere, out=target, method=method)
                add(move.__name__, method, width, n, seconds)
    side = int((size * ranks // 8) ** 0.5) // (64 * ranks) * 64 * ranks
    matrix = np.zeros((side // ranks, side))
    turned = np.ones_like(matrix)
    for method in ("packed", "chained"):
        seconds = timed(repeats, hocket.transpose, matrix, out=turned, method=method)
        add("transpose", method, 8, matrix.size, seconds)
    n = size // 8
    source, target = np.zeros(n), np.ones(n)
    for runs in (64, 4096):
        lengths = np.full(runs, n // runs)
        places = (np.arange(runs) * ranks + rank) * (n // runs)  # each run among those of all ranks
        seconds = timed(repeats, hocket.grouped_permute, source, lengths, places, out=target)
        add("grouped permute", "chained", 8, n, seconds, runs=runs)
    return rows


def sorts(size: int, repeats: int) -> list[dict[str, Any]]:
    random = np.random.default_rng(COMM.Get_rank())
    rows = []
    for key, payload in (("u4", 0), ("u8", 0), ("u4", 4), ("u2", 6)):
        dtype = np.dtype(key)
        n = size // (dtype.itemsize + payload)
        keys = random.integers(0, np.iinfo(dtype).max, n, dtype=dtype, endpoint=True)
        carried = np.zeros((n, payload), np.uint8) if payload else None
        for method in ("radix", "sample"):
            times: dict[str, list[float]] = {}
            for turn in range(repeats + 1):
                COMM.Barrier()
                for step in sort_report(COMM, keys, carried, method=method).steps:
                    if turn > 0:
                        times.setdefault(step.name, []).append(step.seconds)
            steps = {
                name: statistics.median(COMM.allreduce(np.array(t)) / COMM.Get_size())
                for name, t in times.items()
            }
            report = {"what": "sort", "method": method, "key": KEYS[key], "width": dtype.itemsize + payload}
            predicted = {
                step.name: step.predicted for step in sort_report(COMM, keys, carried, method=method).steps
            }
            rows.append({**report, "elements": n * COMM.Get_size(), "steps": steps, "predicted": predicted})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bytes", type=int, required=True)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    rows = moves(options.bytes, options.repeats) + sorts(options.bytes, options.repeats)
    if COMM.Get_rank() == 0:
        print(json.dumps(rows))


main()
