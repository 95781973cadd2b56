"""Shifts on tori and meshes: every phase a permutation, every pair once, links used as documented."""

from __future__ import annotations

from collections import Counter
from math import prod

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hocket import _core
from strategies import sampled, star

RATE = 75e6
SIDES = st.lists(st.integers(1, 9), min_size=1, max_size=4).filter(lambda sides: 2 <= prod(sides) <= 128)
CONTENTION = {"channel overfull"}


def torus(sides: list[int], ties: list[str] | None = None, ranks: int = 1) -> _core.Network:
    return _core.Network.grid("torus", sides, RATE, 0.0, ranks=ranks, ties=ties or [])


def planned(name: str, network: _core.Network) -> _core.Schedule:
    return _core.Algorithm.find(name).make(network, _core.Demand(network.ranks, 1000))


def phases(schedule: _core.Schedule) -> list[dict[int, int]]:
    """Per phase: the receiver of each sender."""
    found: list[dict[int, int]] = [{} for _ in range(schedule.phases)]
    for phase, src, dst, *_ in schedule.rows():
        assert src not in found[phase], "a rank sends twice in a phase"
        found[phase][src] = dst
    return found


def worst_use(network: _core.Network, schedule: _core.Schedule) -> list[int]:
    """Per phase: the most messages on one channel."""
    return [int(worst) for worst in schedule.channel_use(network).max(axis=1, initial=0)]


def check(network: _core.Network, schedule: _core.Schedule) -> None:
    """Complete and one-port by the verifier; each phase one permutation, each pair once, by hand."""
    n = network.ranks
    certificate = _core.verify(network, _core.Demand(n, 1000), schedule)
    assert certificate.complete and set(certificate.counts) <= CONTENTION, certificate.findings
    assert n - 1 <= schedule.phases <= n
    for targets in phases(schedule):
        assert targets and all(src != dst for src, dst in targets.items())
        assert set(targets) == set(targets.values())  # who keeps its own message receives none
    pairs = Counter((src, dst) for _, src, dst, *_ in schedule.rows())
    assert len(pairs) == n * (n - 1) and set(pairs.values()) == {1}


@pytest.mark.parametrize("name", ["shift", "paired-shift"])
@sampled(100)
@given(sides=SIDES, up=st.booleans(), ranks=st.integers(1, 3))
@example([8, 4, 8, 2], False, 1)
@example([15], True, 1)
@example([1, 3], False, 2)
def test_every_phase_is_a_permutation_and_every_pair_comes_once(
    name: str, sides: list[int], up: bool, ranks: int
) -> None:
    network = torus(sides, _core.Network.ties_by_rule("up" if up else "parity", sides), ranks)
    check(network, planned(name, network))


@sampled(100)
@given(sides=SIDES, ranks=st.integers(1, 2))
def test_shifts_of_a_mesh_turn_round_at_its_ends(sides: list[int], ranks: int) -> None:
    network = _core.Network.grid("mesh", sides, RATE, 0.0, ranks=ranks)
    schedule = planned("shift", network)
    check(network, schedule)
    assert schedule.rows() == planned("shift", torus(sides, ranks=ranks)).rows()


def coordinates(node: int, sides: list[int]) -> list[int]:
    found = []
    for side in reversed(sides):
        node, x = divmod(node, side)
        found.append(x)
    return found[::-1]


@given(sides=SIDES)
def test_a_phase_of_shift_is_one_displacement(sides: list[int]) -> None:
    schedule = planned("shift", torus(sides))
    assert schedule.phases == prod(sides) - 1
    for phase, targets in enumerate(phases(schedule)):
        vectors = {
            tuple(
                (b - a) % k
                for a, b, k in zip(coordinates(src, sides), coordinates(dst, sides), sides, strict=True)
            )
            for src, dst in targets.items()
        }
        assert vectors == {tuple(coordinates(phase + 1, sides))}


def minimal(side: int, displacement: int) -> int:
    return min(displacement, side - displacement)


@pytest.mark.parametrize("up", [False, True])
@pytest.mark.parametrize("side", [2, 4, 6, 8, 10, 16])
def test_on_a_ring_of_even_length_pairing_halves_the_use_of_links(side: int, up: bool) -> None:
    network = torus([side], _core.Network.ties_by_rule("up" if up else "parity", [side]))
    plain, paired = (worst_use(network, planned(name, network)) for name in ("shift", "paired-shift"))
    for displacement, (before, after) in enumerate(zip(plain, paired, strict=True), 1):
        if 2 * displacement != side:
            assert before == minimal(side, displacement)
            assert after == (before + 1) // 2
        else:  # the ties decide
            assert after == before


# Sides with no constructions that are better than shifts have those.
@pytest.mark.parametrize(
    ("side", "worst"), [(5, 1), (7, 1), (9, 2), (11, 2), (13, 2), (17, 3), (21, 3), (25, 4), (37, 5), (45, 7)]
)
def test_on_a_ring_of_odd_length_all_phases_are_the_same_pattern_turned(side: int, worst: int) -> None:
    network = torus([side])
    schedule = planned("paired-shift", network)
    assert worst_use(network, schedule) == [worst] * side
    assert side * worst < sum(worst_use(network, planned("shift", network))) == (side**2 - 1) // 4
    for targets in phases(schedule):
        ways = Counter(2 * ((dst - src) % side) < side for src, dst in targets.items())
        assert ways[True] == ways[False] == (side - 1) // 2


@pytest.mark.parametrize("side", [3, 15])
def test_where_pairing_gains_nothing_shifts_remain(side: int) -> None:
    network = torus([side])
    assert planned("paired-shift", network).rows() == planned("shift", network).rows()


@given(sides=SIDES, up=st.booleans())
@example([9, 8], False)
@example([3, 5], True)
def test_pairing_never_loads_links_more(sides: list[int], up: bool) -> None:
    network = torus(sides, _core.Network.ties_by_rule("up" if up else "parity", sides))
    plain, paired = (worst_use(network, planned(name, network)) for name in ("shift", "paired-shift"))
    assert sum(paired) <= sum(plain) and max(paired) <= max(plain)
    if all(side % 2 == 0 for side in sides):
        assert all(after <= before for before, after in zip(plain, paired, strict=True))


@pytest.mark.parametrize(
    ("sides", "ties", "plain", "paired"),
    [
        ([8, 8], "up", 172, 132),
        ([8, 8], "parity", 146, 102),
        ([8, 4, 8, 2], "up", 1401, 1113),
        ([8, 4, 8, 2], "parity", 1175, 823),
    ],
)
def test_the_sum_of_worst_uses_falls(sides: list[int], ties: str, plain: int, paired: int) -> None:
    network = torus(sides, _core.Network.ties_by_rule(ties, sides))
    assert sum(worst_use(network, planned("shift", network))) == plain
    assert sum(worst_use(network, planned("paired-shift", network))) == paired


def test_a_broken_phase_is_found_by_the_judges() -> None:
    """The checks of this file tell a schedule that is not a permutation, or lacks a pair."""
    network = torus([4])
    rows = planned("paired-shift", network).rows()
    rows[0] = (0, 0, 2, 0, 2, 0, 1000)  # 0 sends to 2, which another phase does too
    with pytest.raises(AssertionError):
        check(network, _core.Schedule.from_rows(4, 1000, rows))


@pytest.mark.parametrize(
    ("name", "network", "reason"),
    [
        ("shift", _core.Network.grid("hypercube", [3], RATE, 0.0), "pairwise"),
        ("paired-shift", _core.Network.grid("hypercube", [3], RATE, 0.0), "pairwise"),
        ("paired-shift", _core.Network.grid("mesh", [4, 4], RATE, 0.0), "both directions"),
        ("shift", star(3).build(), "torus"),
    ],
)
def test_other_networks_are_refused_with_the_reason(name: str, network: _core.Network, reason: str) -> None:
    with pytest.raises(_core.InputError, match=reason):
        planned(name, network)


def test_what_shifts_are_refused_for_on_meshes_is_so() -> None:
    """On a line, shifts load the middle channel no more than any all-to-all must."""
    for side in (2, 3, 4, 5, 8, 9):
        network = _core.Network.grid("mesh", [side], RATE, 0.0)
        bound = max(_core.lower_bounds(network, _core.Demand(side, 1)).load)
        assert sum(worst_use(network, planned("shift", network))) == bound == (side // 2) * ((side + 1) // 2)


def test_the_hypercube_has_its_shifts_by_another_name() -> None:
    """Modulo 2, adding is exclusive or."""
    cube = _core.Network.grid("hypercube", [4], RATE, 0.0)
    mesh = _core.Network.grid("mesh", [2] * 4, RATE, 0.0)
    assert planned("pairwise", cube).rows() == planned("shift", mesh).rows()
