"""Tests of the inference of bottlenecks from rates, on networks that are known."""

from __future__ import annotations

import itertools
from random import Random

import pytest

from hocket import _core
from strategies import NetworkPlan, balanced, chain, star, star_of_switches
from streams import Simulated, found_sets, probed, true_splits

HOST = 100e6
RATIOS = (1, 1, 2, 3, 4, 8, 16)


def with_rates(plan: NetworkPlan, ratios: list[float]) -> NetworkPlan:
    """Links of hosts at 100 MB/s, and links between switches so many times too slow for their hosts."""
    plan.rates = [HOST] * len(plan.links)
    hosts = {split: len(split) for split in true_splits(plan)}
    between = [i for i, (a, b) in enumerate(plan.links) if not plan.ranks[a] and not plan.ranks[b]]
    for index, ratio in zip(between, ratios, strict=True):
        plan.rates[index] = HOST * behind(plan, index) / ratio
    assert hosts
    return plan


def behind(plan: NetworkPlan, link: int) -> int:
    """Hosts on the side of a link that has fewer."""
    rest = NetworkPlan(plan.names, plan.ranks, [*plan.links], [])
    a, b = plan.links[link]
    seen, todo = {a, b}, [b]
    count = 0
    leaving = rest.adjacency()
    while todo:
        node = todo.pop()
        count += plan.ranks[node]
        for _, to in leaving[node]:
            if to not in seen:
                seen.add(to)
                todo.append(to)
    return max(min(count, len(plan.hosts) - count), 1)


def random_plan(rng: Random) -> NetworkPlan:
    hosts = rng.randint(8, 32)
    switches = rng.randint(2, min(6, hosts // 3))
    kind = rng.choice(["chain", "star", "tree"])
    plan = NetworkPlan()
    nodes: list[int] = []
    for _ in range(switches):
        parent = (
            nodes[-1 if kind == "chain" else 0 if kind == "star" else rng.randrange(len(nodes))]
            if nodes
            else None
        )
        nodes.append(plan.node(0, parent))
    places = [switch for switch in nodes for _ in range(2)]
    places += [rng.choice(nodes) for _ in range(hosts - len(places))]
    rng.shuffle(places)
    for switch in places:
        plan.node(1, switch)
    return with_rates(plan, [rng.choice(RATIOS) for _ in range(switches - 1)])


def judged(plan: NetworkPlan, probe: _core.TreeProbe) -> tuple[bool, set[frozenset[int]]]:
    """True if all clear bottlenecks were found, and their rates within a tenth; and what was found that is none."""
    splits = true_splits(plan)
    found = found_sets(probe)
    wanted = {hosts for hosts, (rate, rest) in splits.items() if rate < 0.8 * rest}
    invented = {hosts for hosts in found if hosts not in splits or splits[hosts][0] > 0.97 * splits[hosts][1]}
    rates = all(
        0.9 < min(each.out, each.into) / splits[frozenset(each.hosts)][0] < 1.1
        for each in probe.bottlenecks
        if frozenset(each.hosts) in splits
    )
    return wanted <= found and rates, invented


@pytest.mark.parametrize(
    ("noise", "traffic", "trees", "least"),
    [
        *((0.0, 0.0, 40, 38), (0.1, 0.0, 40, 37), (0.05, 0.2, 16, 8)),
        pytest.param(0.05, 0.2, 40, 20, marks=pytest.mark.slow),
    ],
)
def test_random_trees(noise: float, traffic: float, trees: int, least: int) -> None:
    right = 0
    for seed in range(trees):
        plan = random_plan(Random(seed))
        found, invented = judged(plan, probed(Simulated(plan.build(), noise, traffic, seed), seed))
        right += found and not invented
    assert right >= least


@pytest.mark.parametrize(
    ("plan", "ratios"),
    [
        (chain([8, 8, 8, 8]), [8, 16, 8]),
        (chain([4, 4]), [4]),
        (star_of_switches([2, 6, 6, 6]), [2, 4, 6]),
        (balanced([2, 3, 4]), [2, 4, 4, 4, 2, 4, 4, 4]),
    ],
)
def test_every_bottleneck_and_nothing_else(plan: NetworkPlan, ratios: list[float]) -> None:
    with_rates(plan, ratios)
    probe = probed(Simulated(plan.build(), 0.03))
    assert judged(plan, probe) == (True, set())
    assert max(probe.errors) < 0.1


@pytest.mark.parametrize("ratio", [2, 4, 8])
def test_leaves_of_many_hosts(ratio: int) -> None:
    """Too many for a matching of every pair."""
    rng = Random(ratio)
    plan = with_rates(star_of_switches([rng.randint(12, 20) for _ in range(12)]), [ratio] * 11)
    probe = probed(Simulated(plan.build(), 0.05), most=400)
    assert found_sets(probe) == set(true_splits(plan))


@pytest.mark.parametrize("seed", [1, 2])
def test_unequal_leaves_behind_equal_links(seed: int) -> None:
    """Small ones leave each other more than their share, and are still told apart."""
    rng = Random(seed)
    plan = with_rates(star_of_switches([rng.randint(22, 30) for _ in range(20)]), [1] * 19)
    for index, ends in enumerate(plan.links):
        if not plan.ranks[ends[0]] and not plan.ranks[ends[1]]:
            plan.rates[index] = 16 * HOST
    probe = probed(Simulated(plan.build(), 0.1), seed, most=2000)
    assert len(set(true_splits(plan)) - found_sets(probe)) <= 1


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3))])
def test_a_thousand_hosts(seed: int) -> None:
    """Half of the rounds that each set alone would take: hosts beside known sets are asked at once with these."""
    rng = Random(seed)
    plan = with_rates(star_of_switches([rng.randint(21, 29) for _ in range(40)]), [8] * 39)
    probe = probed(Simulated(plan.build(), 0.05), seed, most=500)
    assert found_sets(probe) == set(true_splits(plan))


@pytest.mark.parametrize("hosts", [2, 3, 5, 16, 33])
def test_full_bisection_has_no_bottleneck(hosts: int) -> None:
    probe = probed(Simulated(star(hosts).build(), 0.05))
    assert probe.bottlenecks == []
    assert probe.rounds <= 140


def test_splits_that_carry_their_hosts_are_no_bottlenecks() -> None:
    probe = probed(Simulated(with_rates(chain([8, 8, 8]), [1, 1]).build(), 0.05))
    assert probe.bottlenecks == []


def test_a_slow_host_is_no_bottleneck_of_others() -> None:
    plan = with_rates(chain([6, 6]), [3])
    slow = plan.hosts[2]
    link = next(i for i, ends in enumerate(plan.links) if slow in ends)
    plan.rates[link] = HOST / 10
    probe = probed(Simulated(plan.build(), 0.03))
    assert found_sets(probe) == set(true_splits(plan))
    assert [round(rate / HOST, 1) for rate in probe.out] == [1.0, 1.0, 0.1, *[1.0] * 9]


class Hashed(Simulated):
    """Streams by one of several spines, by who sends to whom."""

    def __init__(self, leaves: int, hosts: int, spines: int) -> None:
        plan = NetworkPlan()
        self.spines = [plan.node(0) for _ in range(spines)]
        self.leaves = [plan.node(0) for _ in range(leaves)]
        self.channel: dict[tuple[int, int], int] = {}
        for leaf in self.leaves:
            for spine in self.spines:
                plan.link(leaf, spine, HOST)
        self.leaf_of = [leaf for leaf in self.leaves for _ in range(hosts)]
        for leaf in self.leaf_of:
            plan.node(1, leaf, HOST)
        self.plan = plan
        for index, (a, b) in enumerate(plan.links):
            self.channel[a, b], self.channel[b, a] = 2 * index, 2 * index + 1
        super().__init__(plan.build("graph"), 0.03)

    def route(self, a: int, b: int) -> list[int]:
        here, there = self.plan.hosts[a], self.plan.hosts[b]
        near, far = self.leaf_of[a], self.leaf_of[b]
        spine = self.spines[Random(1000 * a + b).randrange(len(self.spines))]
        nodes = [here, near, far, there] if near == far else [here, near, spine, far, there]
        steps = [step for step in itertools.pairwise(nodes) if step[0] != step[1]]
        return [self.channel[step] for step in steps]


def test_many_paths_differ_by_pairing_and_not_by_repeat() -> None:
    probe = probed(Hashed(4, 4, 4))
    assert probe.by_pairing > 0.2
    assert probe.by_repeat < 0.1


def test_bottlenecks_differ_neither_by_pairing_nor_by_repeat() -> None:
    probe = probed(Simulated(with_rates(chain([8, 8, 8]), [8, 8]).build(), 0.03))
    assert max(probe.by_pairing, probe.by_repeat) < 0.1


def test_the_same_rates_tell_the_same() -> None:
    plan = with_rates(chain([8, 8, 8]), [4, 4])
    one, other = (probed(Simulated(plan.build(), 0.1, seed=3), 5) for _ in range(2))
    assert found_sets(one) == found_sets(other)
    assert (one.out, one.rounds) == (other.out, other.rounds)


@pytest.mark.parametrize("rewired", [False, True])
def test_what_is_known_is_checked(rewired: bool) -> None:
    """Six permutations find out that hosts have changed their switches."""
    plan = with_rates(chain([8, 8, 8]), [4, 4])
    known = probed(Simulated(plan.build(), 0.03))
    bottlenecks = [(each.hosts, each.out, each.into) for each in known.bottlenecks]
    if rewired:
        hosts = [*range(0, 24, 2), *range(1, 24, 2)]
        bottlenecks = [(sorted(hosts[host] for host in behind), *rates) for behind, *rates in bottlenecks]
    simulated, probe = (
        Simulated(plan.build(), 0.03, seed=2),
        _core.TreeProbe.checking(known.out, known.into, bottlenecks, 1),
    )
    while streams := probe.next():
        probe.add(simulated.rates(streams))
    assert len(probe.errors) == 6
    assert (sorted(probe.errors)[3] > 0.3) == rewired


def test_no_more_rounds_than_were_allowed() -> None:
    plan = with_rates(chain([8, 8, 8, 8]), [8, 8, 8])
    assert probed(Simulated(plan.build()), most=80).rounds <= 110


def test_wrong_input() -> None:
    with pytest.raises(_core.InputError, match="two hosts"):
        _core.TreeProbe(1, 1, 100)
    with pytest.raises(_core.InputError, match="one of each switch"):
        _core.TreeProbe(5000, 1, 100)
    with pytest.raises(_core.InputError, match="as many rates as hosts"):
        _core.TreeProbe.checking([1.0, 1.0], [1.0], [], 1)
    with pytest.raises(_core.InputError, match="host that is not there"):
        _core.TreeProbe.checking([1.0, 1.0], [1.0, 1.0], [([2], 1.0, 1.0)], 1)
    probe = _core.TreeProbe(4, 1, 100)
    with pytest.raises(_core.InputError, match="as many rates"):
        probe.add([1.0])
    with pytest.raises(_core.InputError, match="no number"):
        probe.add([float("nan")] * len(probe.next()))
