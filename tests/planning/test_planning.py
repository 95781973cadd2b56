"""hocket.plan, verify, simulate, Network and Plan."""

from __future__ import annotations

import numpy as np
import pytest

import hocket


def test_a_plan_is_proven_predicted_and_read_back(tmp_path) -> None:
    plan = hocket.plan("chain:2,2", "all-to-all", bytes="64KiB")
    assert plan.phases == plan.bound_phases == 4
    assert hocket.verify(plan, "chain:2,2").ok
    assert hocket.simulate(plan).seconds == pytest.approx(plan.predicted_seconds)
    assert sorted(zip(plan.transfers["src"].tolist(), plan.transfers["dst"].tolist(), strict=True)) == [
        (a, b) for a in range(4) for b in range(4) if a != b
    ]
    path = tmp_path / "a.plan"
    plan.save(path)
    again = hocket.Plan.load(path)
    assert np.array_equal(again.transfers, plan.transfers)
    assert again.report().items() <= plan.report().items()
    with pytest.raises(hocket.PlanError, match="another network"):
        hocket.verify(again, "star:4")
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(hocket.PlanError):
        hocket.Plan.load(path)


def test_a_matrix_is_delivered() -> None:
    matrix = np.array([[9, 1, 0, 5], [2, 0, 3, 0], [0, 100, 0, 0], [0, 0, 7, 0]])
    plan = hocket.plan("chain:2,2", matrix)
    got = np.zeros((4, 4), int)
    np.add.at(got, (plan.transfers["origin"], plan.transfers["target"]), plan.transfers["length"].astype(int))
    assert np.array_equal(got, matrix - np.diag(np.diag(matrix)))


@pytest.mark.parametrize(
    ("demand", "options", "error"),
    [
        (np.ones((3, 3)), {}, hocket.DemandError),
        (-np.ones((4, 4)), {}, hocket.DemandError),
        (np.full((4, 4), np.nan), {}, hocket.DemandError),
        (np.ones((4, 4), bool), {}, hocket.DemandError),
        ([[1], [1, 2]], {}, hocket.DemandError),
        ("broadcast", {}, hocket.UsageError),
        ("all-to-all", {}, hocket.UsageError),
        ("all-to-all", {"bytes": 0}, hocket.UsageError),
        ("all-to-all", {"bytes": 1, "algorithm": "none"}, hocket.UsageError),
        ("all-gather", {"contributions": [1]}, hocket.UsageError),
        (np.ones((4, 4)), {"bytes": 1}, hocket.UsageError),
    ],
)
def test_what_cannot_be(demand, options, error) -> None:
    with pytest.raises(error):
        hocket.plan("chain:2,2", demand, **options)


def test_all_is_listed() -> None:
    assert set(hocket.__all__) <= set(dir(hocket))
    assert all(getattr(hocket, name).__doc__ for name in hocket.__all__)
