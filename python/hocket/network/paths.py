"""Ways that connections take by their ports, as found in a running network; a JSON file beside the network's TOML.

``{"version": 2, "found": "2026-11-27T20:30:00Z", "listen": 28000, "ports": 28, "addresses": {"n0": "10.0.0.1"},
"routers": {"10.255.0.5": "s4"}, "ways": ["s4", "s5"], "pairs": [["n0", "n5", [way of each port], [way of each
answer]]]}``

A way is the switch by which it differs from the others. A connection from host a to host b comes from one of ``ports``
ports and goes to the port ``listen``; ``pairs`` has the ways from a to b of connections that a opens, and of what a
answers on connections that b opens. ``routers``: by which addresses switches have answered."""

import itertools
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from hocket import _core
from hocket.network.parts import MAX_NAME
from hocket.network.source import Source

VERSION: Final = 2
LISTEN: Final = 28000  # below the ports that Linux gives to connections
PORTS: Final = 28  # of a pair
FIRST_PORT: Final = 33000
_LAST_PORT: Final = 60000  # Linux gives 32768 to 60999
SILENT: Final = -1  # nobody answered, or somebody else
SEVERAL: Final = -2  # one port, several ways
MAX_PAIRS: Final = 1_000_000
_MOST_PORTS: Final = 64
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z", re.ASCII)
_ADDRESS: Final = re.compile(r"[0-9A-Fa-f:.]{2,45}", re.ASCII)


@dataclass(slots=True)
class Paths:
    """Ways by ports. ``pairs``: of hosts by name, in both orders; see the module."""

    found: str
    addresses: dict[str, str]
    ways: list[str]
    routers: dict[str, str] = field(default_factory=dict)
    pairs: dict[tuple[str, str], tuple[list[int], list[int]]] = field(default_factory=dict)
    listen: int = LISTEN
    ports: int = PORTS
    chosen: tuple[Any, Any] | None = field(default=None, compare=False, repr=False)
    """Kept by choose(): the network and its choice. Pairs do not change once it stands."""

    @property
    def spraying(self) -> bool:
        """True if packets of one connection were seen on several ways."""
        return any(SEVERAL in ways for both in self.pairs.values() for ways in both)

    def to_json(self) -> str:
        """Text of the file."""
        pairs = ",\n".join(json.dumps([a, b, *both]) for (a, b), both in self.pairs.items())
        head = {"version": VERSION, "found": self.found, "listen": self.listen, "ports": self.ports,
                "addresses": self.addresses, "routers": self.routers, "ways": self.ways}  # fmt: skip
        return json.dumps(head)[:-1] + f', "pairs": [\n{pairs}\n]}}\n'


def port_of(number: int, ports: int, index: int) -> int:
    """Source port of connections to the ``number``-th host, the ``index``-th of ``ports``."""
    sets = (_LAST_PORT - FIRST_PORT) // ports
    return FIRST_PORT + number % sets * ports + index


def read_paths(source: Source) -> Paths:
    """Paths of a file. Raises :class:`hocket.errors.NetworkError` for what is none."""
    try:
        return _checked(json.loads(source.text))
    except (ValueError, RecursionError, TypeError, KeyError) as problem:
        what = str(problem) if type(problem) is ValueError else "is no table of paths"
        raise source.error(what, remedy="find them again: hocket network discover --paths") from None


def _checked(told: Any) -> Paths:
    if told["version"] != VERSION:
        raise ValueError("is a table of paths of another version")
    listen, ports = told["listen"], told["ports"]
    if type(listen) is not int or not 1024 <= listen < FIRST_PORT:
        raise ValueError(f"listen is not a port from 1024 to {FIRST_PORT - 1}")
    if type(ports) is not int or not 1 <= ports <= _MOST_PORTS:
        raise ValueError(f"ports is not a number from 1 to {_MOST_PORTS}")
    if not isinstance(told["found"], str) or not _DATE.fullmatch(told["found"]):
        raise ValueError("found is not a time like 2026-11-27T20:30:00Z")
    addresses, routers, ways, pairs = (told[key] for key in ("addresses", "routers", "ways", "pairs"))
    if not all(isinstance(a, str) and _ADDRESS.fullmatch(a) for a in (*addresses.values(), *routers)):
        raise ValueError("an address is no IP address")
    if not all(isinstance(way, str) and len(way) <= MAX_NAME for way in (*ways, *routers.values())):
        raise ValueError("a way is no name")
    if not isinstance(pairs, list) or len(pairs) > MAX_PAIRS:
        raise ValueError(f"pairs are no list of at most {MAX_PAIRS:,}")
    paths = Paths(told["found"], addresses, ways, routers, listen=listen, ports=ports)
    for a, b, asked, answered in pairs:
        if a not in addresses or b not in addresses or a == b or (a, b) in paths.pairs:
            raise ValueError("a pair has an unknown host, or stands twice")
        for numbers in (asked, answered):
            if len(numbers) != ports or not all(type(n) is int and SEVERAL <= n < len(ways) for n in numbers):
                raise ValueError(f"the ways from {a} to {b} are not one for each port")
        paths.pairs[a, b] = asked, answered
    return paths


MOST_WAYS: Final = 256  # between two hosts
_MOST_HELD: Final = 15  # ports of a connection that the runtime tries
_BESIDE: Final = 4  # ports by which it asks for a way while the connection is in use: one must be free

_LOOKS: Final = 30_000_000  # in the search for ways by shifts: at most 0.2 s

Route = list[int]  # channels
_Option = Sequence[tuple[tuple[int, int], Route]]  # routes, by their hosts


@dataclass(slots=True)
class Chosen:
    """The choice. ``routes``: of each pair of hosts, by node. ``held``: the ports of the connection from a host to
    another that go there and back on these routes, by name. ``as_they_come``: routes of each pair's first port.
    ``beside``: ports that go there on the same route, the last to be held at the end. ``open_pairs``: pairs of which
    nothing was found, or no port does both ways."""

    routes: dict[tuple[int, int], Route] = field(default_factory=dict)
    as_they_come: dict[tuple[int, int], Route] = field(default_factory=dict)
    held: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    beside: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    open_pairs: int = 0


def asked_of(network: _core.Network, a: int, b: int) -> tuple[int, dict[str, Route]]:
    """The router, by its number on the way from host a to host b, by which equally short ways differ, and each way by
    its name. (0, {}) where there is one way only, or no router tells all apart."""
    ways = network.equal_ways(a, b, MOST_WAYS)
    if len(ways) < 2:
        return 0, {}
    links, names = network.links, network.names
    for hop in range(1, len(ways[0])):
        at = {names[links[way[hop - 1] // 2][way[hop - 1] % 2 == 0]]: list(way) for way in ways}
        if len(at) == len(ways):
            return hop, at
    return 0, {}


def own_routes(network: _core.Network) -> Callable[[int, int], Route]:
    """The network's own routes between hosts; the core knows them by ranks."""
    first = {network.host_of(rank): rank for rank in reversed(range(network.ranks))}
    return lambda a, b: list(network.route(first[a], first[b]))


def settled(network: _core.Network, paths: Paths) -> _core.Network:
    """The network on chosen paths. Where packets of one connection go several ways, the middle of the network counts as
    non-blocking: messages load nothing but the links of their hosts."""
    if not paths.spraying:
        return routed(network, choose(network, paths).routes)
    hosts = {network.name_of(host): host for host in network.hosts}
    route, routes = own_routes(network), {}
    for a, b in paths.pairs:
        if a in hosts and b in hosts:
            own = route(hosts[a], hosts[b])
            routes[hosts[a], hosts[b]] = [own[0], own[-1]]
    return routed(network, routes)


def said(network: _core.Network, paths: Paths) -> str:
    """One line for the user: when paths were found, and what their choice is worth."""
    from_when = f"paths: found {paths.found}"
    if paths.spraying:
        return f"{from_when}; one port takes several ways (packets are sprayed): the middle counts as non-blocking"
    chosen = choose(network, paths)
    demand = _core.Demand(network.ranks, 1)
    loads = [
        _core.lower_bounds(routed(network, routes), demand).phases
        for routes in (chosen.as_they_come, chosen.routes)
    ]
    left = f"; {chosen.open_pairs} connections find no port for them" if chosen.open_pairs else ""
    return f"{from_when}: an all-to-all takes {loads[0]} phases on ports as they come, {loads[1]} on those chosen{left}"


def choose(network: _core.Network, paths: Paths) -> Chosen:
    """Choose a way for each pair of hosts from those that ports were found for.

    Both directions of a pair are chosen together, as a connection serves both; whichever host opens it. Starts from the
    network's own routes (D-mod-k on fat trees). Where ports do not give them all, ways are chosen by which an
    all-to-all goes in shifts, each host sending to the one so many places on, with a channel for each message of a
    shift; where none are found, such that the load of an all-to-all is balanced. The paths keep the choice: it is asked
    for when a file is read and when its network is built."""
    rates = tuple(network.rate(channel) for channel in range(network.channels))
    of = (network.names, network.links, rates, [network.host_of(rank) for rank in range(network.ranks)])
    if paths.chosen is None or paths.chosen[0] != of:
        paths.chosen = of, _chosen(network, paths)
    return paths.chosen[1]


def _chosen(network: _core.Network, paths: Paths) -> Chosen:
    hosts = {network.name_of(host): host for host in network.hosts}
    numbers = {name: number for number, name in enumerate(paths.addresses)}
    chosen, items, wants = Chosen(), [], []
    route = own_routes(network)
    for a, b in paths.pairs:
        if a not in hosts or b not in hosts or a > b or (b, a) not in paths.pairs:
            continue
        there, back = _named(network, hosts[a], hosts[b]), _named(network, hosts[b], hosts[a])
        by_a, by_b = _ports(paths, a, b), _ports(paths, b, a)
        both = [ways for ways in by_a if (ways[1], ways[0]) in by_b] or [*by_a, *((y, x) for x, y in by_b)]
        options = {ways: (there[paths.ways[ways[0]]], back[paths.ways[ways[1]]]) for ways in both
                   if paths.ways[ways[0]] in there and paths.ways[ways[1]] in back}  # fmt: skip
        if not options:
            chosen.open_pairs += 1
            continue
        own = tuple(route(hosts[x], hosts[y]) for x, y in ((a, b), (b, a)))
        order = sorted(options, key=lambda ways: (options[ways] != own, ways))
        ends = (hosts[a], hosts[b]), (hosts[b], hosts[a])
        items.append([list(zip(ends, options[ways], strict=True)) for ways in order])
        wants.append((a, b, order, options, by_a, by_b))
    # Pairs with one way are there whatever is chosen.
    free = {pair for a, b, *_ in wants for pair in ((hosts[a], hosts[b]), (hosts[b], hosts[a]))}
    fixed = [
        [[(pair, route(*pair))]] for pair in itertools.permutations(network.hosts, 2) if pair not in free
    ]
    picks = _picks(network, [*items, *fixed])
    for (a, b, order, options, by_a, by_b), pick in zip(wants, picks, strict=False):
        ways = order[pick]
        chosen.routes[hosts[a], hosts[b]], chosen.routes[hosts[b], hosts[a]] = options[ways]
        for x, y, ports in ((a, b, by_a.get(ways, [])), (b, a, by_b.get((ways[1], ways[0]), []))):
            chosen.open_pairs += not ports
            if ports:
                asked = paths.pairs[x, y][0]
                wanted = asked[ports[0]]
                there_on = [i for i, way in enumerate(asked) if way == wanted]
                beside = [*(i for i in there_on if i not in ports), *reversed(ports)]
                for held, indices in ((chosen.held, ports[:_MOST_HELD]), (chosen.beside, beside[:_BESIDE])):
                    held[x, y] = [port_of(numbers[y], paths.ports, index) for index in indices]
        come = next((ways for ways, indices in by_a.items() if 0 in indices and ways in options), ways)
        chosen.as_they_come[hosts[a], hosts[b]], chosen.as_they_come[hosts[b], hosts[a]] = options[come]
    return chosen


def _picks(network: _core.Network, items: Sequence[Sequence[_Option]]) -> list[int]:
    """Number of the option chosen for each item."""
    rates = [network.rate(c) for c in range(network.channels)]
    plain = [[[c for _, route in option for c in route] for option in options] for options in items]
    picks: list[int] = _core.least_load(rates, plain)
    loads = Counter(c for options, pick in zip(plain, picks, strict=True) for c in options[pick])
    place = {host: i for i, host in enumerate(network.hosts)}
    channels: int = network.channels
    if network.ranks != len(place) or max(loads.values(), default=0) >= len(place):
        return picks  # shifts have no room for all

    def in_shift(a: int, b: int, channel: int) -> int:
        return (place[b] - place[a]) % len(place) * channels + channel

    layers = [[[in_shift(a, b, c) for (a, b), route in option for c in route] for option in options]
              for options in items]  # fmt: skip
    in_shifts: list[int] | None = _core.disjoint_ways(len(place) * channels, layers, _LOOKS)
    return in_shifts or picks


def _named(network: _core.Network, a: int, b: int) -> dict[str, Route]:
    return asked_of(network, a, b)[1]


def _ports(paths: Paths, a: str, b: str) -> dict[tuple[int, int], list[int]]:
    """Indices of the ports from which a reaches b, by the ways there and back."""
    found: dict[tuple[int, int], list[int]] = defaultdict(list)
    for index, ways in enumerate(zip(paths.pairs[a, b][0], paths.pairs[b, a][1], strict=True)):
        if min(ways) >= 0:
            found[ways].append(index)
    return found


def routed(network: _core.Network, routes: Mapping[tuple[int, int], Route]) -> _core.Network:
    """The network with these routes, and its own for all other pairs of hosts; itself if they are its own."""
    own = own_routes(network)
    if all(own(*pair) == route for pair, route in routes.items()):
        return network
    return network.rerouted([(a, b, route) for (a, b), route in routes.items()])


def table_for_ranks(network: _core.Network, paths: Paths, chosen: Chosen, pace: int | None = None) -> str:
    """Table of the ranks; nodes are indices in the network, channels its own. Of its lines the preloaded library reads
    the first kind, and the runtime, which asks at start whether all is as found, the others:

    - ``FROM TO TO_PORT PORT...``, by addresses: ports of a held connection, best first;
    - ``way FROM TO HOPS A B SWITCH PORT...``: the HOPS-th router on this connection's way from node A to node B, and
      ports that tell of it while those of the connection are in use;
    - ``up A SWITCH CHANNEL...`` and ``down SWITCH B CHANNEL...``: the two parts of every way that there is;
    - ``router ADDRESS SWITCH``; ``found DATE``; ``pace RATE``: bytes a second of a connection in a scheduled call."""
    lines = [f"found {paths.found}", *([f"pace {pace}"] if pace else [])]
    parts: dict[tuple[str, int, int], Route] = {}
    node = {name: number for number, name in enumerate(network.names)}
    for (a, b), ports in chosen.held.items():
        hop, ways = asked_of(network, node[a], node[b])
        for switch, way in ways.items():
            parts.setdefault(("up", node[a], node[switch]), way[:hop])
            parts.setdefault(("down", node[switch], node[b]), way[hop:])
        by = next(switch for switch, way in ways.items() if way == chosen.routes[node[a], node[b]])
        ends = f"{paths.addresses[a]} {paths.addresses[b]}"
        lines += [
            f"{ends} {paths.listen} {' '.join(map(str, ports))}",
            f"way {ends} {hop} {node[a]} {node[b]} {node[by]} {' '.join(map(str, chosen.beside[a, b]))}",
        ]
    lines += [f"{kind} {x} {y} {' '.join(map(str, way))}" for (kind, x, y), way in parts.items()]
    lines += [f"router {address} {node[name]}" for address, name in paths.routers.items() if name in node]
    return "".join(f"{line}\n" for line in lines)
