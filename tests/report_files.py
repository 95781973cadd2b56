"""Files to write reports about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import hocket._testing  # noqa: F401 -- more of choose
from hocket._core.choose import CandidateTimings, KeptTimings, kept_timings_text

from hocket.network import read_network
from hocket.planning.plan import plan_collective


def plan_file(path: Path, collective: str, network: str, bytes: int = 4096) -> Path:
    path.write_bytes(plan_collective(collective, read_network(network), bytes).encode())
    return path


def run_report(path: Path, **said: Any) -> Path:
    """Report of a program with a scheduled call and one that the library served; ``said``: other values of
    the first."""
    first = {
        "call": "MPI_Alltoall",
        "object": "/bin/solver",
        "offset": 4711,
        "function": "turn",
        "file": "solver.c",
        "line": 15,
        "communicator": 32,
        "ranks": 32,
        "message_bytes": [65536, 65536],
        "calls": 200,
        "exchanges": 200,
        "bytes": 10**10,
        "served": "scheduled",
        "why": "",
        "seconds": {"least": 21.0, "mean": 22.5, "most": 24.0},
        "predicted_seconds": 20.0,
        "bound_seconds": 19.0,
    }
    second = first | {
        "call": "MPI_Allgatherv",
        "offset": 99,
        "function": "",
        "file": "",
        "served": "native",
        "why": "small",
        "message_bytes": [8, 40],
        "predicted_seconds": None,
        "bound_seconds": None,
        "seconds": {"least": 0.1, "mean": 0.2, "most": 0.4},
    }
    choice = {
        "collective": "all-to-all",
        "candidate": "window-2",
        "communicator": 32,
        "hosts": 32,
        "message": 65536,
        "calls": 200,
        "trials": 12,
        "native": 0.16,
        "predicted": 0.1,
        "measured": 0.11,
    }
    document = {
        "hocket_report": 1,
        "ranks": 32,
        "silent": [],
        "cut_short": [3],
        "problems": [],
        "lines": [first | said, second],
        "choices": [choice, choice | {"candidate": "native", "predicted": 0, "measured": 0.16, "message": 8}],
        "advice": ["12% of the time went to calls that the MPI library served: try a smaller --min-bytes"],
    }
    path.write_text(json.dumps(document, indent=1))
    return path


def tuned(path: Path) -> Path:
    """File of timings that runs have kept at two places."""

    def known(place: str, call: str, size: int, winner: str) -> KeptTimings:
        candidates = [
            CandidateTimings("native", 30, 2e-3, 0.05),
            CandidateTimings("window-2", 20, 1.5e-3, 0.05),
        ]
        return KeptTimings(place, call, size, "any", winner, candidates, 4, 2, "mpich-5.0.2")

    timings = [known("00aa00aa00aa00aa", "alltoall", size, "window-2") for size in (20, 24, 30)]
    timings.append(known("00aa00aa00aa00aa", "allgather", 0, "native"))
    path.write_text(kept_timings_text(timings))
    return path
