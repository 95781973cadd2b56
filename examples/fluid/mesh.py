"""A mesh, divided among ranks, as meshes.py writes it. README.md gives the format."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

HEADER = struct.Struct("<8sqqqd")
MOST = 100_000_000  # points or edges
LARGEST = 1000.0  # total area: what is summed in fixed point fits into 63 bits


class MeshError(Exception):
    """A mesh file is wrong."""


@dataclass(frozen=True)
class Mesh:
    """See mesh.h: `xy`, `wall` (points, 2); `area`, `owner` (points); `ends`, `normals` (edges, 2)."""

    parts: int
    step: float
    xy: np.ndarray
    area: np.ndarray
    wall: np.ndarray
    normals: np.ndarray
    ends: np.ndarray
    owner: np.ndarray

    def near_and_far(self) -> tuple[np.ndarray, np.ndarray]:
        """End of each edge whose owner works on it (by the rule in mesh.h), and the other end."""
        second = self.ends.sum(axis=1, dtype=np.int64) % 2
        rows = np.arange(len(self.ends))
        return self.ends[rows, second], self.ends[rows, 1 - second]


def read_mesh(path: Path) -> Mesh:
    """Reads and checks a file; MeshError says what is wrong with it."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise MeshError("it cannot be opened") from error
    if len(data) < HEADER.size or not data.startswith(b"HKTMESH1"):
        raise MeshError("this is no mesh file")
    _, points, edges, parts, step = HEADER.unpack_from(data)
    if not (0 < points <= MOST and 0 <= edges <= MOST and 0 < parts <= MOST and 0 < step < np.inf):
        raise MeshError("the header of the mesh file is wrong")
    expected = HEADER.size + 8 * (5 * points + 2 * edges) + 4 * (2 * edges + points)
    if len(data) != expected:
        raise MeshError(
            "the mesh file is cut off"
            if len(data) < expected
            else "the mesh file is longer than its header says"
        )
    at = HEADER.size

    def take(kind: str, *shape: int) -> np.ndarray:
        nonlocal at
        array = np.frombuffer(data, kind, int(np.prod(shape)), at).reshape(shape)
        at += array.nbytes
        return array

    mesh = Mesh(
        parts,
        step,
        xy=take("<f8", points, 2),
        area=take("<f8", points),
        wall=take("<f8", points, 2),
        normals=take("<f8", edges, 2),
        ends=take("<i4", edges, 2),
        owner=take("<i4", points),
    )
    check(mesh)
    return mesh


def check(mesh: Mesh) -> None:
    """Check what the programs rely on. Raises MeshError."""
    if not all(np.isfinite(floats).all() for floats in (mesh.xy, mesh.area, mesh.wall, mesh.normals)):
        raise MeshError("a coordinate, area or normal is not a finite number")
    if not (mesh.area > 0).all():
        raise MeshError("the area of a cell is not positive")
    if not ((mesh.owner >= 0) & (mesh.owner < mesh.parts)).all():
        raise MeshError("a point belongs to no part")
    if mesh.area.sum() > LARGEST:
        raise MeshError("the area of all cells is larger than 1,000")
    first, second = mesh.ends.T
    if not ((mesh.ends >= 0) & (mesh.ends < len(mesh.xy))).all() or (first == second).any():
        raise MeshError("an edge does not join two points of the mesh")
