"""Unstructured grids around an airfoil, divided among ranks, and the traffic of their halo exchange.

    python examples/fluid/meshes.py --points 9428 --parts 32 64 --out DIR [--picture FILE.png]

For every number of parts it writes `airfoil-POINTS-PARTS.mesh`, which `examples/fluid` reads (its README
gives the format), and `airfoil-POINTS-PARTS.npy`, the bytes that each rank sends to each other one for
one value per vertex. Triangle makes the grid, METIS divides it: `pip install 'hocket[meshes]'`.
"""

from __future__ import annotations

import argparse
import re
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

MAGIC = b"HKTMESH1"
RADIUS = 3.0  # of the domain, in chords
GROWTH = 12.0  # edges one chord away from the airfoil are 1 + GROWTH times as long as those on it
VALUE_BYTES = 8
SEED = 1  # of METIS


@dataclass(frozen=True)
class Mesh:
    """A triangulation and its median dual: a cell around each point, a face across each edge.

    `xy` (points, 2); `triangles` (n, 3), counter-clockwise; `edges` (edges, 2), lower number first;
    `normals` (edges, 2): of the face, as long as the face, from the first to the second end; `area` (points);
    `wall` (points, 2): outward normal of the cell's part of the boundary, zero inside.
    """

    xy: Floats
    triangles: Ints
    edges: Ints
    normals: Floats
    area: Floats
    wall: Floats

    @property
    def step(self) -> float:
        """The longest stable time step for a wave of speed 1: the least area / circumference of a cell."""
        length = np.hypot(*self.normals.T)
        around = np.hypot(*self.wall.T)
        for end in self.edges.T:
            np.add.at(around, end, length)
        return float((self.area / around).min())


def dual_mesh(xy: Floats, triangles: Ints) -> Mesh:
    """The mesh of counter-clockwise triangles: face normals, cell areas, walls."""
    n = len(xy)
    centre = xy[triangles].mean(axis=1)
    first, second = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    face = np.repeat(centre, 3, axis=0) - (xy[first] + xy[second]) / 2
    face = np.column_stack([face[:, 1], -face[:, 0]])
    face[first > second] *= -1
    low, high = np.minimum(first, second).astype(np.int64), np.maximum(first, second)
    keys, side, uses = np.unique(low * n + high, return_inverse=True, return_counts=True)
    normals = np.zeros((len(keys), 2))
    np.add.at(normals, side, face)
    edges = np.column_stack([keys // n, keys % n]).astype(np.int32)

    along, across = xy[triangles[:, 1]] - xy[triangles[:, 0]], xy[triangles[:, 2]] - xy[triangles[:, 0]]
    third = (along[:, 0] * across[:, 1] - along[:, 1] * across[:, 0]) / 6
    area, wall = np.zeros(n), np.zeros((n, 2))
    np.add.at(area, triangles, third[:, None])
    outer = uses[side] == 1
    half = (xy[second[outer]] - xy[first[outer]]) / 2
    for end in (first[outer], second[outer]):
        np.add.at(wall, end, np.column_stack([half[:, 1], -half[:, 0]]))
    return Mesh(xy, triangles, edges, normals, area, wall)


def naca(digits: str, per_side: int) -> Floats:
    """The outline of a NACA four-digit airfoil of chord 1 with a closed trailing edge, (2 per_side, 2).

    Counter-clockwise from the trailing edge, denser towards both ends. Formulas: Jacobs, Ward,
    Pinkerton, NACA report 460, 1933.
    """
    camber, peak, thickness = int(digits[0]) / 100, int(digits[1]) / 10, int(digits[2:]) / 100
    x = (1 + np.cos(np.linspace(0, np.pi, per_side + 1))) / 2
    powers = 0.2969 * np.sqrt(x) - 0.1260 * x - 0.3516 * x**2 + 0.2843 * x**3 - 0.1036 * x**4
    line, slope = np.zeros_like(x), np.zeros_like(x)
    if camber:
        near = np.where(x < peak, peak, 1 - peak)
        line = camber / near**2 * (np.where(x < peak, 0, 1 - 2 * peak) + 2 * peak * x - x**2)
        slope = 2 * camber / near**2 * (peak - x)
    across = 5 * thickness * powers / np.hypot(1, slope)
    upper = np.column_stack([x - across * slope, line + across])
    lower = np.column_stack([x + across * slope, line - across])
    return np.concatenate([upper, lower[-2:0:-1]])


def _triangulate(spacing: float, digits: str) -> tuple[Floats, Ints]:
    """Triangles with edges of about `spacing` on the airfoil, growing in proportion to the distance."""
    from meshpy import triangle

    def size(x: float, y: float) -> float:
        along = max(0.0, -x, x - 1.0)
        return spacing * (1 + GROWTH * float(np.sqrt(along * along + y * y)))

    def too_large(corners: list[tuple[float, float]], area: float) -> bool:
        x, y = (sum(corner[axis] for corner in corners) / 3 for axis in (0, 1))
        return area > 0.433 * size(x, y) ** 2

    airfoil = naca(digits, int(np.ceil(1 / spacing)))
    angle = np.linspace(0, 2 * np.pi, int(np.ceil(2 * np.pi * RADIUS / size(RADIUS, 0))), endpoint=False)
    circle = RADIUS * np.column_stack([np.cos(angle), np.sin(angle)]) + (0.5, 0)
    rings = [(0, len(airfoil)), (len(airfoil), len(airfoil) + len(circle))]
    info = triangle.MeshInfo()
    info.set_points(np.concatenate([airfoil, circle]).tolist())
    info.set_facets([(i, i + 1 if i + 1 < end else start) for start, end in rings for i in range(start, end)])
    info.set_holes([airfoil.mean(axis=0).tolist()])
    built = triangle.build(info, refinement_func=too_large, min_angle=25)
    return np.array(built.points), np.array(built.elements, dtype=np.int32)


def airfoil(points: int, digits: str = "0012", tolerance: float = 0.01) -> Mesh:
    """A grid of about `points` points around a NACA airfoil: the spacing is adjusted to reach them."""
    spacing = float(np.sqrt(1 / points))
    for _ in range(12):
        xy, triangles = _triangulate(spacing, digits)
        if abs(len(xy) - points) <= tolerance * points:
            return dual_mesh(xy, triangles)
        spacing *= float(np.sqrt(len(xy) / points))
    raise ValueError(f"no grid of {points} points within {tolerance:.0%} was found: try another number")


def partition(mesh: Mesh, parts: int) -> Ints:
    """Part of each point, by METIS: about equal numbers of points, few cut edges."""
    import pymetis

    if parts == 1:
        return np.zeros(len(mesh.xy), dtype=np.int32)
    ends = np.concatenate([mesh.edges, mesh.edges[:, ::-1]])
    ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
    start = np.searchsorted(ends[:, 0], np.arange(len(mesh.xy) + 1))
    adjacency = pymetis.CSRAdjacency(start.tolist(), ends[:, 1].tolist())
    _, owner = pymetis.part_graph(parts, adjacency, options=pymetis.Options(seed=SEED))
    return np.array(owner, dtype=np.int32)


def halo_matrix(mesh: Mesh, owner: Ints, ranks: int | None = None) -> NDArray[np.int64]:
    """Bytes that the row sends to the column before a sweep, for one value per vertex: (ranks, ranks).

    An edge is worked on by the owner of its first end if the sum of its ends' numbers is even, by that
    of the second end otherwise; the other end is fetched once per rank. The results go back by the
    transposed matrix.
    """
    ranks = int(owner.max()) + 1 if ranks is None else ranks
    even = mesh.edges.sum(axis=1, dtype=np.int64) % 2 == 0
    worker = owner[np.where(even, mesh.edges[:, 0], mesh.edges[:, 1])].astype(np.int64)
    far = np.where(even, mesh.edges[:, 1], mesh.edges[:, 0])
    cut = worker != owner[far]
    fetched = np.unique(worker[cut] * len(owner) + far[cut])
    matrix = np.zeros((ranks, ranks), dtype=np.int64)
    np.add.at(matrix, (owner[fetched % len(owner)], fetched // len(owner)), VALUE_BYTES)
    return matrix


def write_mesh(path: Path, mesh: Mesh, owner: Ints, parts: int) -> None:
    """The file that examples/fluid reads."""
    with path.open("wb") as file:
        file.write(MAGIC)
        file.write(struct.pack("<qqqd", len(mesh.xy), len(mesh.edges), parts, mesh.step))
        for floats in (mesh.xy, mesh.area, mesh.wall, mesh.normals):
            file.write(floats.astype("<f8").tobytes())
        for integers in (mesh.edges, owner):
            file.write(integers.astype("<i4").tobytes())


def draw(path: Path, mesh: Mesh, owner: Ints) -> None:
    """The grid near the airfoil: triangles in the colour of their corners' part, cut ones white."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5.4), dpi=90)
    axes = figure.add_subplot()
    corners = owner[mesh.triangles]
    parts = int(owner.max()) + 1
    # Neighbouring parts have neighbouring numbers: the stride sets their colours apart.
    shade = np.where((corners == corners[:, :1]).all(axis=1), corners[:, 0] * 13 % parts % 20, np.nan)
    lines = {"edgecolors": "0.4", "linewidth": 0.2}
    axes.tripcolor(*mesh.xy.T, mesh.triangles, facecolors=shade, cmap="tab20", **lines)
    axes.set(xlim=(-0.6, 1.6), ylim=(-0.66, 0.66), aspect="equal", xlabel="x (chords)", ylabel="y (chords)")
    axes.set_title(f"{len(mesh.xy):,} points, {parts} parts; white: triangles of several parts")
    figure.tight_layout()
    figure.savefig(path)


def summary(matrix: NDArray[np.int64]) -> str:
    """Imbalance of the traffic, as text: least, median, largest number of partners and bytes."""

    def spread(values: NDArray[np.int64]) -> str:
        return f"{values.min():,} / {np.median(values):,.0f} / {values.max():,}"

    partners, sent = (matrix > 0).sum(axis=1), matrix.sum(axis=1)
    messages = matrix[matrix > 0]
    if not len(messages):
        return "no messages"
    return (
        f"{len(messages):,} messages; least / median / largest: partners {spread(partners)}, "
        f"bytes of a message {spread(messages)}, bytes sent by a rank {spread(sent)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--points", type=int, required=True, help="of the grid, reached within 1 %%")
    parser.add_argument("--parts", type=int, nargs="+", required=True, metavar="RANKS")
    parser.add_argument("--naca", default="0012", metavar="DIGITS", help="the airfoil (default 0012)")
    parser.add_argument("--out", type=Path, default=Path(), help="folder of the files (default: here)")
    parser.add_argument(
        "--picture", type=Path, help="also draw the grid, divided into the first number of parts"
    )
    arguments = parser.parse_args()
    if not re.fullmatch(r"(0[0-9]|[1-9][1-9])(0[1-9]|[1-9][0-9])", arguments.naca):
        parser.error(f"--naca wants the four digits of an airfoil, not {arguments.naca!r}")
    if arguments.points < 200 or arguments.points > 10_000_000:
        parser.error(f"--points wants 200 to 10,000,000, not {arguments.points:,}")
    if min(arguments.parts) < 1 or max(arguments.parts) > arguments.points:
        parser.error("--parts wants at least 1 and at most as many as there are points")
    try:
        mesh = airfoil(arguments.points, arguments.naca)
        arguments.out.mkdir(parents=True, exist_ok=True)
        for number, parts in enumerate(arguments.parts):
            owner = partition(mesh, parts)
            matrix = halo_matrix(mesh, owner, parts)
            name = arguments.out / f"airfoil-{arguments.points}-{parts}"
            write_mesh(name.with_suffix(".mesh"), mesh, owner, parts)
            np.save(name.with_suffix(".npy"), matrix)
            print(f"{name}: {len(mesh.xy):,} points, {len(mesh.edges):,} edges; {summary(matrix)}")
            if arguments.picture and number == 0:
                draw(arguments.picture, mesh, owner)
    except ModuleNotFoundError as error:
        sys.exit(f"{error.name} is missing: pip install 'hocket[meshes]'")
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
