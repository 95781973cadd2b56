"""Test set 1 of Wang, Lin and Ranka: random traffic matrices of a given density.

Matrices are (ranks, ranks) bytes, row = sender. The same seed gives the same matrix.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from hocket import _core

Matrix = NDArray[np.int64]

DENSITIES: Final = (4, 8, 16, 32)  # and everyone to everyone
MATRICES: Final = 50  # per density
SIZES: Final = ("uniform", "non-uniform", "log-uniform")


def pattern(ranks: int, density: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Random pattern of messages: exactly `density` entries in every row and column, none on the diagonal.

    A circulant matrix, rows and columns put into the same random order, then mixed by swaps that keep
    every row and column sum: (a, b), (c, d) become (a, d), (c, b).
    """
    if not 0 < density < ranks:
        raise ValueError(f"a density of {density} among {ranks} ranks: it must be 1 to {ranks - 1}")
    order = rng.permutation(ranks)
    sends = np.zeros((ranks, ranks), dtype=bool)
    for shift in rng.permutation(np.arange(1, ranks))[:density]:
        sends[order, order[(np.arange(ranks) + shift) % ranks]] = True
    rows, columns = np.nonzero(sends)
    for i, j in rng.integers(len(rows), size=(10 * len(rows), 2)):
        a, b, c, d = rows[i], columns[i], rows[j], columns[j]
        if a == d or c == b or sends[a, d] or sends[c, b]:
            continue
        sends[a, b] = sends[c, d] = False
        sends[a, d] = sends[c, b] = True
        columns[i], columns[j] = d, b
    return sends


def random_matrix(ranks: int, density: int, sizes: str, seed: int, unit: int = 65536) -> Matrix:
    """`sizes`: "uniform" (all `unit`), "non-uniform" (1 to 8 units) or "log-uniform" (1 to 8 units,
    any number of bytes, every factor equally likely)."""
    rng = np.random.default_rng([seed, ranks, density, SIZES.index(sizes)])
    sends = pattern(ranks, density, rng)
    if sizes == "uniform":
        return sends * np.int64(unit)
    if sizes == "non-uniform":
        return sends * rng.integers(1, 9, sends.shape) * unit
    return sends * np.rint(unit * 8 ** rng.random(sends.shape)).astype(np.int64)


def demand(matrix: Matrix) -> _core.Demand:
    src, dst = np.nonzero(matrix)
    return _core.Demand.irregular(len(matrix), src.tolist(), dst.tolist(), matrix[src, dst].tolist())
