"""Trees with inter-switch links wider than a host's link, and what no all-to-all on them can do without."""

from __future__ import annotations

from math import prod
from typing import Final

from hocket import _core
from strategies import RATE, NetworkPlan

# Hosts: switches below each switch, level by level; at last hosts on each leaf.
SHAPES: Final[dict[int, dict[str, tuple[int, ...]]]] = {
    16: {"two levels": (4, 4), "three levels": (2, 2, 4)},
    64: {"two levels": (4, 16), "three levels": (2, 4, 8)},
    128: {"two levels": (8, 16), "three levels": (4, 4, 8)},
    256: {"two levels": (16, 16), "three levels": (4, 4, 16)},
    512: {"two levels": (16, 32), "three levels": (4, 8, 16)},
}

SwitchLinks = list[tuple[int, float]]  # hosts below, width in host speeds


def tapered_tree(shape: tuple[int, ...], taper: float) -> tuple[_core.Network, SwitchLinks]:
    """Each level has 1/taper of the bandwidth of the one below it."""
    plan, switch_links = NetworkPlan(), SwitchLinks()
    level = [plan.node(0)]
    below = prod(shape)
    for depth, count in enumerate(shape[:-1]):
        below //= count
        width = below / taper ** (len(shape) - 1 - depth)
        level = [plan.node(0, parent, width * RATE) for parent in level for _ in range(count)]
        switch_links += [(below, width)] * len(level)
    for leaf in level:
        for _ in range(shape[-1]):
            plan.node(1, leaf)
    return plan.build(), switch_links


def closed_bound(hosts: int, switch_links: SwitchLinks) -> float:
    """Bound in messages one after the other at a host's rate: those that a host sends, and those that cross
    an inter-switch link over the link's width."""
    return max([hosts - 1.0, *(below * (hosts - below) / width for below, width in switch_links)])
