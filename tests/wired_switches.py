"""Graphs of switches with hosts, as the literature has them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from random import Random

from strategies import NetworkPlan


def hung(switches: int, wires: Iterable[tuple[int, int]], hosts: int) -> NetworkPlan:
    """So many hosts of one rank on each switch."""
    plan = NetworkPlan()
    for _ in range(switches):
        plan.node(0)
    for a, b in wires:
        plan.link(a, b)
    for switch in range(switches):
        for _ in range(hosts):
            plan.node(1, switch)
    return plan


def hyperx(side: int, hosts: int) -> NetworkPlan:
    """A square of switches, all of a row and of a column wired to each other."""
    wires = [
        (a, b)
        for a, b in itertools.combinations(range(side * side), 2)
        if a // side == b // side or a % side == b % side
    ]
    return hung(side * side, wires, hosts)


def random_regular(switches: int, degree: int, hosts: int, seed: int) -> NetworkPlan:
    """Connected, without parallel wires: ends of a ring's wires and of random matchings."""
    rng = Random(seed)
    wires = {(i, i + 1) for i in range(switches - 1)} | {(0, switches - 1)}
    for _ in range(degree - 2):
        matching = set[tuple[int, int]]()
        while not matching or matching & wires:
            order = rng.sample(range(switches), switches)
            for place in range(0, switches, 2):  # one of those that are left, not wired yet
                free = [i for i in range(place + 1, switches) if _wire(order[place], order[i]) not in wires]
                if not free:
                    break
                other = rng.choice(free)
                order[place + 1], order[other] = order[other], order[place + 1]
            pairs = zip(order[::2], order[1::2], strict=True)
            matching = {_wire(a, b) for a, b in pairs}
        wires |= matching
    return hung(switches, sorted(wires), hosts)


def _wire(a: int, b: int) -> tuple[int, int]:
    return min(a, b), max(a, b)


def kautz(letters: int, hosts: int) -> NetworkPlan:
    """Words of three letters, no letter twice in a row; a word is wired to those that it begins but for a letter."""
    words = [w for w in itertools.product(range(letters), repeat=3) if w[0] != w[1] != w[2]]
    number = {word: i for i, word in enumerate(words)}
    wires = {
        tuple(sorted((number[w], number[(w[1], w[2], x)])))
        for w in words
        for x in range(letters)
        if x != w[2] and (w[1], w[2], x) != w
    }
    return hung(len(words), sorted((a, b) for a, b in wires), hosts)
