"""The irregular exchanges of the lab: n × n bytes, row = sender, nothing on the diagonal.

Each is named ``KIND[:PARAMETER[:BYTES]]``:

- ``partners:6`` and ``partners:28``: every rank sends to, and hears from, so many random others;
  64–512 KiB each, evenly spread in the logarithm;
- ``partners:28:1024``: the same partners, 1,024 bytes each;
- ``uneven:16:65536``: 16 partners; 1 to 8 units each, 65,536 bytes on average (test set 1 of the NICE paper);
- ``skewed``: everybody to everybody; sizes by Zipf's law, so that few messages hold most bytes;
- ``airfoil``: the halo exchange of the airfoil grid of 53,961 points, partitioned by METIS, every message
  enlarged by the same factor (the median becomes 181 KiB, as with the partners) and held to 64–512 KiB.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

LEAST, MOST = 64 * 1024, 512 * 1024
AIRFOIL_POINTS = 53_961


def build(name: str, ranks: int, seed: int = 1) -> np.ndarray:
    """The matrix of that name."""
    kind, *parameters = name.split(":")
    rng = np.random.default_rng(seed)
    if kind == "partners":
        who = _regular(ranks, int(parameters[0]), rng)
        if len(parameters) > 1:
            return who * int(parameters[1])
        return who * _spread(rng, (ranks, ranks))
    if kind == "uneven":
        return _regular(ranks, int(parameters[0]), rng) * (
            rng.integers(1, 9, (ranks, ranks)) * int(parameters[1]) * 2 // 9
        )
    if kind == "skewed":
        order = rng.permutation(ranks * ranks).reshape(ranks, ranks) + 1
        sizes = np.maximum(4096, 16 * 2**20 // order)
        return _without_own(np.minimum(sizes, 2 * 2**20))
    if kind == "airfoil":
        sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "irregular"))
        from meshes import airfoil, halo_matrix, partition

        mesh = airfoil(AIRFOIL_POINTS)
        halo = halo_matrix(mesh, partition(mesh, ranks), ranks)
        factor = np.sqrt(LEAST * MOST) / np.median(halo[halo > 0])
        return np.where(halo > 0, np.clip(halo * factor, LEAST, MOST), 0).astype(np.int64)
    raise ValueError(f"no demand is called {name}; see {Path(__file__).name}")


def _regular(ranks: int, degree: int, rng: np.random.Generator) -> np.ndarray:
    """0/1, `degree` in every row and column: a relabelled sum of shifts."""
    shifts = rng.choice(np.arange(1, ranks), size=degree, replace=False)
    rows, columns = rng.permutation(ranks), np.zeros((ranks, ranks), dtype=np.int64)
    for shift in shifts:
        columns[rows, rows[(np.arange(ranks) + shift) % ranks]] = 1
    return columns


def _spread(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return np.exp(rng.uniform(np.log(LEAST), np.log(MOST), shape)).astype(np.int64)


def _without_own(matrix: np.ndarray) -> np.ndarray:
    np.fill_diagonal(matrix, 0)
    return matrix
