"""The flow, operation by operation as in flow.c, so that both programs give the same bits. See flow.h."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mesh import Mesh

VALUES_OF_A_FLUID = 4
UNIT = 1.0 / (1 << 48)
GAMMA = 1.4


def time_step(mesh: Mesh) -> float:
    """Stable for every fluid: no wave is faster than 4."""
    return mesh.step / 8


def round_to_unit(values: np.ndarray) -> np.ndarray:
    """Fixed point: sums of these are exact, and so the same in any order."""
    return np.rint(values / UNIT).astype(np.int64)


def start(mesh: Mesh, points: np.ndarray, values: int) -> np.ndarray:
    """The values of some points when the flow starts: (points, values)."""
    x, height = mesh.xy[points, 0] + 0.25, mesh.xy[points, 1] - 0.1  # from the middle of the wave
    wave = 1 / (1 + 100 * (x * x + height * height))
    fluids = values // VALUES_OF_A_FLUID
    y = np.zeros((len(points), fluids, VALUES_OF_A_FLUID), dtype=np.int64)
    area = mesh.area[points][:, None]
    pressure = 1 + wave[:, None] * np.arange(1, fluids + 1) / fluids
    y[..., 0] = round_to_unit(area)
    y[..., 3] = round_to_unit(area * (pressure / (GAMMA - 1)))
    return y.reshape(len(points), values)


class Gas(NamedTuple):
    """Densities, each (points, fluids)."""

    mass: np.ndarray
    x: np.ndarray
    y: np.ndarray
    energy: np.ndarray
    pressure: np.ndarray


def _by_fluid(y: np.ndarray) -> np.ndarray:
    """(points, values) as (points, fluids, 4)."""
    return y.reshape(len(y), y.shape[1] // VALUES_OF_A_FLUID, VALUES_OF_A_FLUID)


def gas_at(area: np.ndarray, values: np.ndarray) -> Gas:
    """State of the gas in cells of these areas with these values (cells, values)."""
    scaled = _by_fluid(values) * (UNIT / area)[:, None, None]
    mass, x, y, energy = np.moveaxis(scaled, -1, 0)
    return Gas(mass, x, y, energy, (GAMMA - 1) * (energy - 0.5 * (x * x + y * y) / mass))


def flux(
    normals: np.ndarray, area1: np.ndarray, area2: np.ndarray, old1: np.ndarray, old2: np.ndarray, step: float
) -> np.ndarray:
    """Flow within a step from the second ends of edges to the first: (edges, values)."""
    nx, ny = normals[:, :1], normals[:, 1:]
    length = np.sqrt(nx * nx + ny * ny)
    a, b = gas_at(area1, old1), gas_at(area2, old2)
    through_a, through_b = (a.x * nx + a.y * ny) / a.mass, (b.x * nx + b.y * ny) / b.mass
    fastest = np.maximum(
        np.abs(through_a) + np.sqrt(GAMMA * a.pressure / a.mass) * length,
        np.abs(through_b) + np.sqrt(GAMMA * b.pressure / b.mass) * length,
    )
    flows = (
        fastest * (b.mass - a.mass) - (a.mass * through_a + b.mass * through_b),
        fastest * (b.x - a.x) - (a.x * through_a + b.x * through_b + (a.pressure + b.pressure) * nx),
        fastest * (b.y - a.y) - (a.y * through_a + b.y * through_b + (a.pressure + b.pressure) * ny),
        fastest * (b.energy - a.energy)
        - ((a.energy + a.pressure) * through_a + (b.energy + b.pressure) * through_b),
    )
    return round_to_unit(0.5 * step * np.stack(flows, axis=-1)).reshape(old1.shape)


def sweep(
    mesh: Mesh,
    edges: np.ndarray,
    ends: np.ndarray,
    points: np.ndarray,
    step: float,
    old: np.ndarray,
    y: np.ndarray,
) -> None:
    """Figure 10: `edges` are numbers in the mesh; `ends` and the rows of old and y are places in `points`."""
    first, second = ends.T
    area = mesh.area[points]
    flows = flux(mesh.normals[edges], area[first], area[second], old[first], old[second], step)
    np.add.at(y, first, flows)
    np.subtract.at(y, second, flows)


def push_walls(mesh: Mesh, points: np.ndarray, step: float, old: np.ndarray, y: np.ndarray) -> None:
    """The push of the walls against the cells of some points; `old` and `y` (points, values)."""
    push = step * gas_at(mesh.area[points], old).pressure
    for axis in (0, 1):
        y[:, 1 + axis :: VALUES_OF_A_FLUID] -= round_to_unit(push * mesh.wall[points, axis][:, None])


def serial(mesh: Mesh, steps: int, values: int) -> np.ndarray:
    """The whole calculation without other ranks: (points, values)."""
    points, edges, step = np.arange(len(mesh.xy)), np.arange(len(mesh.ends)), time_step(mesh)
    y = start(mesh, points, values)
    for _ in range(steps):
        old = y.copy()
        sweep(mesh, edges, mesh.ends, points, step, old, y)
        push_walls(mesh, points, step, old, y)
    return y
