"""The search: figures of the specification, the paper's own search, and plans that execute as promised."""

from __future__ import annotations

from functools import cache
from itertools import product

import pytest
from hocket._papers import gossip

from hocket import _core

# n, r, approach 1, approach 2, CircGos, and its plan.
RINGS = [
    (9, 16, 68, 86, 61, (3, [(3, 1)])),
    (27, 16, 221, 190, 136, (9, [(3, 1)])),
    (81, 16, 680, 492, 308, (9, [(3, 2), (3, 2)])),
    (81, 64, 2600, 876, 714, (9, [(3, 1), (3, 1)])),
    (243, 64, 7865, 1976, 1439, (9, [(3, 2)] * 3)),
    (64, 16, 543.5, 416, 267.7, (11, [(2, 1), (3, 2)])),
    (256, 16, 2175.5, 1857, 739.5, (29, [(9, 9)])),
]
# sides, r, approaches 1..1, 2..21 and 2..2 coloured, HighDimGos', CubGos', its spacing and rounds.
TORI = [
    ([8, 8], 16, 143.8, 152, 218, 132, 136, (2, [(2, 1)])),
    ([9, 9], 64, 532, 541, 622, 449, 353.5, (3, [(3, 1)])),
    ([16, 16], 64, 1087.8, 984, 1244, 844.2, 736, (4, [(4, 2)])),
    ([27, 27], 64, 1846, 1438.5, 2084, 1220, 856, (9, [(3, 1), (3, 1)])),
    ([9, 9, 9], 64, 889.3, 949.3, 1435.3, 791.3, 596.3, (3, [(3, 1)])),
]
LITERAL = [(2, 976, 27, 60), (10, 1440, 27, 34), (50, 2857, 9, 9), (250, 6759, 3, 1)]


def by_name(sides: list[int], r: float, **model: bool) -> dict[str, gossip.Plan]:
    plans = gossip.candidates(sides, r, **model)
    assert [p.time for p in plans] == sorted(p.time for p in plans)
    return {plan.name: plan for plan in plans}


@pytest.mark.parametrize(("n", "r", "one", "two", "circgos", "plan"), RINGS)
def test_rings(
    n: int, r: float, one: float, two: float, circgos: float, plan: tuple[int, list[tuple[int, int]]]
) -> None:
    found = by_name([n], r)
    assert found["approach 1"].time == pytest.approx(one)
    # Concentration in the specification takes S(g) items, here the least possible, half of g.
    assert two - 1 <= found["approach 2"].time <= two
    assert found["CircGos"].time == pytest.approx(circgos, abs=0.0501)
    assert found["CircGos"].phases == [[("CircGos", *plan)]]


@pytest.mark.parametrize(("sides", "r", "ones", "twos_one", "twos", "high_dim", "cubgos", "plan"), TORI)
def test_tori(
    sides: list[int],
    r: float,
    ones: float,
    twos_one: float,
    twos: float,
    high_dim: float,
    cubgos: float,
    plan: tuple[int, list[tuple[int, int]]],
) -> None:
    found, d = by_name(sides, r), len(sides)
    assert found[f"approach {'1' * d} coloured"].time == pytest.approx(ones, abs=0.0501)
    assert found[f"approach {'2' * (d - 1)}1 coloured"].time == pytest.approx(twos_one, abs=0.0501)
    assert found[f"approach {'2' * d} coloured"].time == pytest.approx(twos, abs=0.0501)
    assert found["HighDimGos'"].time == pytest.approx(high_dim, abs=0.0501)
    best = found["TorGos'" if d == 2 else "CubGos'"]
    assert best.time == pytest.approx(cubgos, abs=0.0501)
    assert (best.spacing, best.rounds) == plan


@pytest.mark.parametrize(("r", "expected", "a", "b"), LITERAL)
def test_the_search_of_the_paper(r: float, expected: float, a: int, b: int) -> None:
    found, *parameters = gossip.best_literal_circgos(729, r)
    assert found == pytest.approx(expected, abs=0.501)
    assert parameters == [a, b]
    assert gossip.literal_circgos(729, a, b, r) == found
    # Factors of their own for every round never lose.
    assert by_name([729], r)["CircGos"].time <= found


def test_circgos_equals_an_exhaustive_search() -> None:
    @cache
    def insertion(f: int, n: int, r: float) -> float:
        return min(b * (r + n / (2 * b - f + 2)) for b in range(max(1, f // 2), f // 2 + 40))

    @cache
    def rounds(gap: int, n: int, r: float) -> float:
        if gap <= 1:
            return 0
        return min(insertion(f, n, r) + rounds(-(-gap // f), n, r) for f in range(2, gap + 1))

    def conc(g: int) -> tuple[int, int]:
        steps = next(k for k in range(20) if 3**k >= g)
        return steps, g // 2

    for n, r in product([2, 3, 5, 8, 12, 17, 24], [0.5, 4, 30]):
        expected = min(
            conc(gap)[0] * r + conc(gap)[1] + a // 2 * r + (a - 1) / 2 * gap + rounds(gap, n, r)
            for a in range(1, n + 1)
            for gap in [-(-n // a)]
        )
        assert by_name([n], r)["CircGos"].time == pytest.approx(expected)


GRIDS = [
    [1],
    [2],
    [7],
    [12],
    [30],
    [64],
    [4, 4],
    [6, 9],
    [2, 12],
    [8, 8],
    [9, 9],
    [3, 4, 5],
    [4, 4, 4],
    [5, 1, 3],
]


@pytest.mark.parametrize("sides", GRIDS)
@pytest.mark.parametrize("wraparound", [True, False])
@pytest.mark.parametrize("half_duplex", [False, True])
def test_every_candidate_executes_as_promised(sides: list[int], wraparound: bool, half_duplex: bool) -> None:
    for r in (0.5, 20):
        plans = gossip.candidates(
            sides, r, wraparound=wraparound, shared=True, half_duplex=half_duplex, effort=500_000
        )
        for plan in plans:
            proof = gossip.prove(sides, plan, wraparound, half_duplex)
            shared = plan.name == "StrideGos"
            assert proof["complete"] and proof["held"] and proof["ports_respected"], (plan, proof)
            assert shared or proof["link_disjoint"], (plan, proof)
            volume = proof["shared_volume"] if shared else proof["strict_volume"]
            assert (proof["steps"], volume) == (plan.steps, pytest.approx(plan.volume)), plan
            assert plan.time >= plan.bound - 1e-9
            assert plan.time == pytest.approx(plan.steps * r + plan.volume)
            assert plan.ratio >= 1 - 1e-9


def test_strides_win_only_where_channels_may_be_shared() -> None:
    assert gossip.best([81], 16).name == "CircGos"
    assert gossip.best([81], 16, shared=True).name == "StrideGos"
    assert "StrideGos" not in by_name([8, 8], 16, wraparound=False, shared=True)


@pytest.mark.parametrize(
    "sides",
    [[4096], [4095], [4093], [2187], [64, 64], [61, 67], [2, 2048], [16, 16, 16], [8, 8, 8, 8], [10, 20, 20]],
)
@pytest.mark.parametrize("wraparound", [True, False])
@pytest.mark.timeout(60)  # seconds suffice; one that tries everything takes hours
def test_a_search_ends(sides: list[int], wraparound: bool) -> None:
    for r in (0, 0.3, 16, 1000):
        assert gossip.best(sides, r, wraparound=wraparound).time > 0


@pytest.mark.parametrize(("sides", "r"), [([], 1), ([0, 4], 1), ([70000], 1), ([4], -1), ([4], float("nan"))])
def test_senseless_searches_are_refused(sides: list[int], r: float) -> None:
    with pytest.raises(_core.InputError):
        gossip.best(sides, r)
