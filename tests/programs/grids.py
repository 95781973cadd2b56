"""Small meshes that need no mesh library."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "fluid"))
from meshes import Mesh, dual_mesh


def grid(side: int, shaken: float = 0.25) -> Mesh:
    """The unit square with side x side points, each square cut in two; the inner points shaken by a seed."""
    steps = np.linspace(0, 1, side)
    xy = np.stack(np.meshgrid(steps, steps, indexing="ij"), axis=-1)
    if side > 2:
        shake = np.random.default_rng(1).uniform(-shaken, shaken, (side - 2, side - 2, 2)) / (side - 1)
        xy[1:-1, 1:-1] += shake
    i, j = np.meshgrid(np.arange(side - 1), np.arange(side - 1), indexing="ij")
    corner = (i * side + j).ravel()
    right, above = corner + side, corner + 1
    triangles = np.concatenate(
        [np.column_stack([corner, right, above]), np.column_stack([right, right + 1, above])]
    )
    return dual_mesh(xy.reshape(-1, 2), triangles.astype(np.int32))
