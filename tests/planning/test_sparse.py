"""Demands in scipy's sparse arrays give the plans of the same dense matrix."""

from __future__ import annotations

import numpy as np
import pytest

import hocket

sparse = pytest.importorskip("scipy.sparse")
FORMATS = ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"]
DENSE = np.array([[9, 1, 0, 5], [2, 0, 3, 0], [0, 100, 0, 0], [0, 0, 7, 0]])


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_the_dense_matrix(form: str, kind: str) -> None:
    demand = getattr(sparse, f"{form}_{kind}")(DENSE)
    transfers = hocket.plan("chain:2,2", demand).transfers
    assert np.array_equal(transfers, hocket.plan("chain:2,2", DENSE).transfers)
    assert np.array_equal(demand.toarray(), DENSE)


def test_entries_of_one_place_add_up() -> None:
    demand = sparse.coo_array(([3, 4], ([0, 0], [1, 1])), shape=(2, 2))
    plan = hocket.plan("star:2", demand)
    assert plan.transfers[["src", "dst", "length"]].tolist() == [(0, 1, 7)]
    assert demand.nnz == 2  # the caller's array is as it was


@pytest.mark.parametrize("value", [-1, 0.5, np.nan, np.inf, True])
def test_what_is_no_size_is_refused(value: float) -> None:
    with pytest.raises(hocket.DemandError):
        hocket.plan("star:2", sparse.coo_array(([value], ([0], [1])), shape=(2, 2)))


@pytest.mark.parametrize("shape", [(2, 3), (3, 3)])
def test_other_shapes_are_refused(shape: tuple[int, int]) -> None:
    with pytest.raises(hocket.DemandError):
        hocket.plan("star:2", sparse.coo_array(shape, dtype=int))
