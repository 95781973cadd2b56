"""Tests of which hosts measure together how wide the inter-switch links are."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hocket import _core
from hocket.network import read_network
from strategies import RATE, NetworkPlan, balanced, chain, random_tree, star, tree_plans, unequal

BYTES = 1 << 33  # latencies take less than a millionth


def sides(network: _core.Network, link: int) -> tuple[set[int], set[int]]:
    """The hosts on either side of a link."""
    around: dict[int, list[int]] = {}
    for index, (a, b) in enumerate(network.links):
        if index != link:
            around.setdefault(a, []).append(b)
            around.setdefault(b, []).append(a)
    found = {network.links[link][0]}
    todo = list(found)
    while todo:
        for node in around.get(todo.pop(), []):
            if node not in found:
                found.add(node)
                todo.append(node)
    here = {host for host in network.hosts if host in found}
    return here, set(network.hosts) - here


def drawn(network: _core.Network, pairs: list[tuple[int, int]]) -> float:
    """Rate of all pairs at once in both directions, each way, in hosts' rates, by the fluid model."""
    rank = {network.host_of(r): r for r in reversed(range(network.ranks))}
    rows = []
    for a, b in pairs:
        rows += [
            (0, rank[a], rank[b], rank[a], rank[b], 0, BYTES),
            (0, rank[b], rank[a], rank[b], rank[a], 0, BYTES),
        ]
    schedule = _core.Schedule.from_rows(network.ranks, BYTES, rows)
    ends = _core.simulate(network, schedule, None, "free").end
    return float(sum(BYTES / end for end in ends) / 2 / network.host_rate)


def oversubscribed(network: _core.Network, by: float) -> _core.Network:
    widths = [(t.link, max(1.0, t.hosts / by)) for t in network.switch_links()]
    return _core.with_widths(network, widths)


@settings(max_examples=150, deadline=None)
@given(tree_plans(2, 24))
def test_pairs_are_disjoint_and_cross_the_switch_link(plan: NetworkPlan) -> None:
    network = plan.build()
    switch_links = network.switch_links()
    crossed = {
        link: min(map(len, sides(network, link)))
        for link, ends in enumerate(network.links)
        if all(network.ranks_per_node[end] == 0 for end in ends)
    }
    assert {t.link: t.hosts for t in switch_links} == {
        link: hosts for link, hosts in crossed.items() if hosts >= 2
    }
    for switch_link in switch_links:
        pairs = _core.switch_link_pairs(network, switch_link.link)
        assert len(pairs) == switch_link.hosts
        assert len({host for pair in pairs for host in pair}) == 2 * switch_link.hosts
        here, there = sides(network, switch_link.link)
        assert all((a in here) != (b in here) and (a in there) != (b in there) for a, b in pairs)
    for pair in _core.pair_without_switch_link(network):
        ranks = [next(r for r in range(network.ranks) if network.host_of(r) == host) for host in pair]
        assert not {c // 2 for c in network.route(*ranks)} & {t.link for t in switch_links}


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(4, 32), st.sampled_from([1.0, 2.0, 4.0]))
def test_a_fluid_model_finds_the_widths_of_oversubscribed_trees(seed: int, hosts: int, by: float) -> None:
    network = oversubscribed(random_tree(Random(seed), hosts).build(), by)
    for switch_link in network.switch_links():
        found = drawn(network, _core.switch_link_pairs(network, switch_link.link))
        truth = network.rate(2 * switch_link.link) / network.host_rate
        assert found <= truth * 1.001
        if switch_link.hosts >= by:
            assert found == pytest.approx(truth, rel=1e-3)


@pytest.mark.parametrize(("leaf", "pod"), [(1, 1), (1, 2), (2, 2), (2, 4), (1, 4), (4, 4), (2, 8)])
def test_a_level_does_not_hide_another(leaf: int, pod: int) -> None:
    """Oversubscription that grows towards the root: partners in one pod do not cross its uplinks."""
    plain = balanced([3, 4, 8]).build()
    width = {8: 8 / leaf, 32: 32 / pod}
    network = _core.with_widths(plain, [(t.link, width[t.hosts]) for t in plain.switch_links()])
    assert Counter(t.hosts for t in network.switch_links()) == {8: 12, 32: 3}
    for switch_link in network.switch_links():
        found = drawn(network, _core.switch_link_pairs(network, switch_link.link))
        assert found == pytest.approx(width[switch_link.hosts], rel=1e-3)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(4, 24))
def test_no_width_is_overestimated(seed: int, hosts: int) -> None:
    network = random_tree(Random(seed), hosts, switch_link=unequal).build()
    for switch_link in network.switch_links():
        found = drawn(network, _core.switch_link_pairs(network, switch_link.link))
        assert found <= network.rate(2 * switch_link.link) / network.host_rate * 1.001


def test_hosts_without_ranks_do_not_count() -> None:
    whole = chain([3, 3]).build()
    assert [t.hosts for t in whole.switch_links()] == [3]
    ranks = whole.ranks_per_node
    left = [host for host in whole.hosts if host in sides(whole, whole.switch_links()[0].link)[0]]
    part = whole.restricted_to([0 if node in left[:1] else n for node, n in enumerate(ranks)])
    assert [t.hosts for t in part.switch_links()] == [2]
    part = whole.restricted_to([0 if node in left[:2] else n for node, n in enumerate(ranks)])
    assert part.switch_links() == []
    assert star(8).build().switch_links() == []


def overloaded(network: _core.Network) -> bool:
    """Return true if some link is too narrow for as many pairs of ranks as can send across it, each rank
    once."""
    ranks = {network.host_of(rank): rank for rank in range(network.ranks)}
    for link in range(len(network.links)):
        here, there = (sorted(side) for side in sides(network, link))
        for a, b in ((here, there), (there, here)):
            routes = [network.route(ranks[src], ranks[dst]) for src, dst in zip(a, b, strict=False)]
            used = Counter(channel for route in routes for channel in route)
            if any(
                count * network.host_rate > network.rate(channel) * 1.001 for channel, count in used.items()
            ):
                return True
    return False


@settings(max_examples=150, deadline=None)
@given(tree_plans(2, 16, ranks=lambda _: 1, switch_link=lambda rng: rng.choice([1.0, 2.0, 8.0])))
def test_only_ports_are_shared_where_no_link_is_too_narrow(plan: NetworkPlan) -> None:
    network = plan.build()
    assert _core.only_ports_shared(network) != overloaded(network)


def test_where_more_than_ports_is_shared() -> None:
    for name in ("star:4*2", "torus:3x3", "fat-tree:4x2x2", "chain:3,3"):
        assert not _core.only_ports_shared(read_network(name)), name
    for name in ("star:9", "fat-tree:2x3x1x3", "chain:3,1", "tree:(2,(1))"):
        assert _core.only_ports_shared(read_network(name)), name
    whole = chain([3, 3]).build()
    here, there = map(sorted, sides(whole, whole.switch_links()[0].link))
    for kept, only_ports in ((here, True), (here[:1] + there, True), (here[:2] + there[:2], False)):
        part = [n if node in kept else 0 for node, n in enumerate(whole.ranks_per_node)]
        assert _core.only_ports_shared(whole.restricted_to(part)) == only_ports


def test_levels_and_who_stands_for_whom() -> None:
    network = balanced([3, 4, 8]).build()
    switch_links = network.switch_links()
    assert {(t.hosts, t.level) for t in switch_links} == {(8, 1), (32, 2)}
    assert _core.representatives(switch_links, 15) == list(range(15))
    few = _core.representatives(switch_links, 14)
    assert len(set(few)) == 2
    assert all(
        (switch_links[f].hosts, switch_links[f].level) == (t.hosts, t.level)
        for f, t in zip(few, switch_links, strict=True)
    )
    odd = chain([2, 3, 4, 5, 6]).build().switch_links()
    assert len(set(_core.representatives(odd, 2))) <= len({t.level for t in odd})


def test_widths_become_rates() -> None:
    network = chain([4, 4]).build()
    switch_link = network.switch_links()[0].link
    wide = _core.with_widths(network, [(switch_link, 4.0)])
    assert wide.rate(2 * switch_link) == wide.rate(2 * switch_link + 1) == 4 * RATE
    assert wide.capacity(2 * switch_link) == 4 and wide.host_rate == RATE
    with pytest.raises(_core.InputError):
        _core.with_widths(network, [(99, 4.0)])


@pytest.mark.parametrize(
    ("measured", "pairs", "width"),
    [(3.8, 4, 4), (4.3, 4, 4), (3.5, 4, 3.5), (1.93, 4, 2), (1.04, 4, 1), (15.1, 16, 16), (7.6, 16, 8),
     (10.2, 16, 16 / 1.5), (4.9, 16, 5), (0.5, 2, 0.5), (0.26, 2, 0.25), (0.0, 2, 0.001)],
)  # fmt: skip
def test_measured_widths_settle(measured: float, pairs: int, width: float) -> None:
    assert _core.SwitchLink.settled_width(measured, pairs) == pytest.approx(width)
