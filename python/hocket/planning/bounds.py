"""Three bounds of an all-to-all: of the routes as installed, of any routes, of the ports.

The bound of any routes is the maximum concurrent flow (Shahrokhi and Matula, JACM 1990). Prices of the channels certify
it: :func:`hocket._core.priced_seconds` checks them. The core finds good prices; where these may not be the best and
scipy is installed, a linear program finds those (HiGHS).
"""

from __future__ import annotations

import json
import math
from typing import Any, Final, NamedTuple

from hocket import _core
from hocket.demand.collectives import ALL_TO_ALL
from hocket.errors import PlanError
from hocket.planning.plan import ratio

LINEAR_PROGRAM: Final = "linear program"
PRICES: Final = "prices"
MOST_VARIABLES: Final = 60_000
MOST_SECONDS: Final = 5.0  # of the linear program; beyond, the prices of the core stand


class FreeRoutes(NamedTuple):
    """The bound of any routes. ``prices``: its certificate, a price per channel. ``exact``: no prices say more than
    0.1 % more. ``by``: how they were found: by the core (``prices``), by a ``linear program``, or because there is but
    ``one path``."""

    seconds: float
    prices: list[float]
    exact: bool
    by: str


def bounds_line(bounds: dict[str, Any]) -> str:
    """Bounds of true_bounds() in one line for people."""
    free = bounds.get("free_routes", {"by": "", "exact": True})
    texts = []
    for what, name, more in (
        ("these routes", "installed_routes", ""),
        ("any routes", "free_routes", f"by {free['by']}" + ("" if free["exact"] else ", maybe more")),
        ("ports", "ports", ""),
        ("balanced routes", "balanced_routes", "'hocket network balance'"),
    ):
        if (bound := bounds.get(name)) is not None:
            over = f"ratio {bound['ratio']:.3f}" if "ratio" in bound else ""
            inside = ", ".join(filter(None, (over, more)))
            texts.append(f"{what} {bound['phases']:.5g}" + (f" ({inside})" if inside else ""))
    return ", ".join(texts)


def prices_in(text: bytes, name: str) -> list[float]:
    """The prices in what ``hocket plan all-to-all --json`` printed. Raises PlanError."""
    remedy = "give what 'hocket plan all-to-all … --json' printed"
    try:
        prices = json.loads(text)["bounds"]["free_routes"]["prices"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise PlanError(f"{name}: no prices under bounds, free_routes", remedy=remedy) from None
    if not isinstance(prices, list) or not all(type(price) in (int, float) for price in prices):
        raise PlanError(f"{name}: the prices are no list of numbers", remedy=remedy)
    try:
        return [float(price) for price in prices]
    except OverflowError:
        raise PlanError(f"{name}: a price is too large", remedy=remedy) from None


def true_bounds(
    network: _core.Network,
    demand: _core.Demand,
    direct: bool = True,
    taken: float | None = None,
    known: _core.TrueBounds | None = None,
) -> dict[str, Any] | None:
    """The three bounds of an all-to-all, as reports have them; None for other demands. Takes a second or two at 500
    hosts. ``direct``: False of a plan whose ranks pass on parts of messages: the bound of the routes does not hold for
    it. ``taken``: the plan's phases, of which each bound then tells the ratio, and the one of any routes its
    certificate. ``known``: the bounds, if planning has found them.

    Seconds of each bound, and phases: how many messages at a host's full speed take as long. Of the routes and the
    ports they are whole where messages are and no link is slower than the hosts: then a phase takes a message's time.
    Any routes: not where only routes are known; parts of a message may take different ways. Balanced routes: those that
    ``hocket network balance`` proposes in place of installed ones, where these are better.
    """
    if demand.pattern != ALL_TO_ALL:
        return None
    known = known or _core.true_bounds(network, demand, direct)

    def told(seconds: float, bound: float, holds: bool = True) -> dict[str, Any]:
        over = {"ratio": ratio(taken, bound)} if holds and taken is not None else {}
        return {"seconds": seconds, "phases": bound, **over}

    def of_routes(bound: tuple[float, float], holds: bool = direct) -> dict[str, Any]:
        return told(bound[0], int(bound[1]) if known.in_phases else bound[1], holds)

    found = {"installed_routes": of_routes(known.installed_routes), "ports": of_routes(known.ports, True)}
    free, message = _improved(network, demand, known.free_routes), known.message_seconds
    if free is not None and message:
        certificate = {} if taken is None else {"prices": free.prices}
        how = {"by": free.by, "exact": free.exact, **certificate}
        found["free_routes"] = told(free.seconds, free.seconds / message) | how
    if known.balanced_routes is not None:
        found["balanced_routes"] = of_routes(known.balanced_routes)
    return found


def free_routes(network: _core.Network, demand: _core.Demand) -> FreeRoutes | None:
    """The bound of any routes. None where only routes are known, and where one search of all cheapest ways would take
    many seconds."""
    return _improved(network, demand, _core.free_routes(network, demand))


def _improved(
    network: _core.Network, demand: _core.Demand, found: _core.TrueBounds.FreeRoutes | None
) -> FreeRoutes | None:
    """The core's bound, or a linear program's where that may be better."""
    if found is None:
        return None
    known = FreeRoutes(found.seconds, found.prices, found.exact, found.by)
    if known.exact:
        return known
    best = _best_prices(network)
    if best is None:
        return known
    # The program's own prices are exact up to its tolerance; the bound is what the check says of them. Links of hosts
    # are not in it: where these take longer, the known prices are theirs, and the best.
    seconds = float(_core.priced_seconds(network, demand, best))
    if seconds >= known.seconds:
        return FreeRoutes(seconds, best, True, LINEAR_PROGRAM)
    return known._replace(exact=True)


def _best_prices(network: _core.Network) -> list[float] | None:
    """Prices by a linear program; None without scipy, where it is too large, or at its limit.

    Variables: what each node with ranks sends over each channel, and the time T. Hosts with one link to a switch are
    left out; what they send is their switch's.
    """
    core = _Core(network)
    if len(core.sources) * len(core.channels) > MOST_VARIABLES or not core.channels:
        return None
    try:
        import numpy as np
        from scipy.optimize import linprog
        from scipy.sparse import coo_array
    except ImportError:
        return None
    count = len(core.channels)
    ends = np.array([core.ends[c] for c in core.channels])
    rates = np.array([network.rate(c) for c in core.channels]) / network.host_rate
    number = {node: i for i, node in enumerate(core.nodes)}
    tail = np.array([number[a] for a, _ in ends])
    head = np.array([number[b] for _, b in ends])
    rows, columns, entries, wanted = [], [], [], []
    usable = np.ones(len(core.sources) * count + 1, dtype=bool)
    for k, source in enumerate(core.sources):
        here = np.arange(count) + k * count
        at = k * len(core.nodes)
        rows += [at + head, at + tail]
        columns += [here, here]
        entries += [np.ones(count), -np.ones(count)]
        want = np.array([core.ranks[node] for node in core.nodes], dtype=float) * core.ranks[source]
        want[number[source]] -= want.sum()
        wanted.append(want / network.ranks)
        passes = np.array([a == source or core.forwards[a] for a, _ in ends])
        usable[here] = passes & (head != number[source])
    equal = coo_array(
        (np.concatenate(entries), (np.concatenate(rows), np.concatenate(columns))),
        shape=(len(core.sources) * len(core.nodes), len(core.sources) * count + 1),
    )
    total = len(core.sources) * count
    over = coo_array(
        (
            np.concatenate([np.ones(total), -rates]),
            (
                np.concatenate([np.tile(np.arange(count), len(core.sources)), np.arange(count)]),
                np.concatenate([np.arange(total), np.full(count, total)]),
            ),
        ),
        shape=(count, total + 1),
    )
    cost = np.zeros(total + 1)
    cost[-1] = 1
    found = linprog(
        cost, A_ub=over.tocsr(), b_ub=np.zeros(count), A_eq=equal.tocsr(), b_eq=np.concatenate(wanted),
        bounds=np.column_stack([np.zeros(total + 1), np.where(usable, np.inf, 0)]),
        method="highs-ipm", options={"time_limit": MOST_SECONDS},
    )  # fmt: skip
    if found.status != 0:
        return None
    prices = [0.0] * network.channels
    for channel, price in zip(core.channels, -found.ineqlin.marginals, strict=True):
        prices[channel] = max(float(price), 0.0)
    return prices if math.fsum(prices) > 0 else None


class _Core:
    """The network without hosts that have one link to a switch."""

    def __init__(self, network: _core.Network) -> None:
        passes_on = network.shape not in (_core.Shape.graph, _core.Shape.tree)
        count = network.ranks_per_node
        self.ends = [ends for a, b in network.links for ends in ((a, b), (b, a))]
        leaving: list[list[int]] = [[] for _ in count]
        for channel, (tail, _) in enumerate(self.ends):
            leaving[tail].append(channel)
        self.ranks = dict(enumerate(count))
        for host in () if passes_on else network.hosts:
            if len(leaving[host]) == 1 and not count[switch := self.ends[leaving[host][0]][1]]:
                self.ranks[switch] += self.ranks.pop(host)
        self.nodes = list(self.ranks)
        self.sources = [node for node in self.nodes if self.ranks[node]]
        passing = network.forwards or [0] * len(count)
        self.forwards = {node: passes_on or not count[node] or bool(passing[node]) for node in self.nodes}
        self.channels = [c for node in self.nodes for c in leaving[node] if self.ends[c][1] in self.ranks]
