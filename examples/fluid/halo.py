"""Which points of other ranks a rank's edges touch (the inspector), and the exchange of their values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from mpi4py import MPI

from mesh import Mesh


@dataclass(frozen=True)
class Halo:
    """A rank's share of the mesh; see halo.h.

    `points`: numbers of the `own` points, then of the fetched ones by rank and number; `edges`: numbers of
    the edges that this rank works on, `ends` the places of their ends in `points`; `give`: places of the
    own points that others fetch; `fetches`, `gives`: how many from, to each rank.
    """

    own: int
    points: np.ndarray
    edges: np.ndarray
    ends: np.ndarray
    give: np.ndarray
    fetches: np.ndarray
    gives: np.ndarray


def places(counts: np.ndarray) -> np.ndarray:
    """Where consecutive blocks start."""
    return np.cumsum(counts) - counts


def inspect(mesh: Mesh, comm: MPI.Intracomm) -> Halo:
    """Collective: every rank asks the owners for what its edges need."""
    near, far = mesh.near_and_far()
    edges = np.flatnonzero(mesh.owner[near] == comm.rank)
    own = np.flatnonzero(mesh.owner == comm.rank)
    fetched = np.unique(far[edges])
    fetched = fetched[mesh.owner[fetched] != comm.rank]
    fetched = fetched[np.argsort(mesh.owner[fetched], kind="stable")].astype(np.int32)
    points = np.concatenate([own, fetched])
    local = np.full(len(mesh.xy), -1)
    local[points] = np.arange(len(points))

    fetches = np.bincount(mesh.owner[fetched], minlength=comm.size).astype(np.int32)
    gives = np.empty_like(fetches)
    comm.Alltoall(fetches, gives)
    asked = np.empty(gives.sum(), dtype=np.int32)
    comm.Alltoallv(
        [fetched, fetches, places(fetches), MPI.INT32_T], [asked, gives, places(gives), MPI.INT32_T]
    )
    return Halo(len(own), points, edges, local[mesh.ends[edges]], local[asked], fetches, gives)


class Exchange:
    """One direction of the exchange: gives[r] points to rank r from one buffer, takes[r] into another."""

    def __init__(
        self, kind: str, comm: MPI.Intracomm, values: int, gives: np.ndarray, takes: np.ndarray
    ) -> None:
        if kind == "neighbor":
            receivers, senders = np.flatnonzero(gives), np.flatnonzero(takes)
            gives, takes = gives[receivers], takes[senders]
            graph = comm.Create_dist_graph_adjacent(senders.tolist(), receivers.tolist())
            self._call = graph.Neighbor_alltoallv
        else:
            self._call = comm.Alltoallv
        self._out, self._in = (
            (counts.tolist(), places(counts).tolist()) for counts in (gives * values, takes * values)
        )

    def run(self, out: np.ndarray, into: np.ndarray) -> None:
        """`out` and `into`: (points, values), contiguous."""
        self._call([out, *self._out, MPI.INT64_T], [into, *self._in, MPI.INT64_T])
