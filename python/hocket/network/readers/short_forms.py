"""Short forms: ``star:24``, ``chain:8,8,8,8``, ``tree:(8,(4),(4))``, ``torus:8x4x8x2``, ``fat-tree:8x8x4`` …

``KIND:SIZE[*RANKS][@RATE[,LATENCY]]``; a torus may name its rule of ties, as in ``torus:8x8/up``. Hosts are called n0,
n1, …, switches s0, s1, … in the order of a depth-first walk from the root, each switch's own hosts before its child
switches; in fat trees level by level from the lowest, in dragonflies group by group."""

import re
from dataclasses import replace
from typing import Final

from hocket.network import families
from hocket.network.description import NetworkDescription, suggestion
from hocket.network.parts import MAX_NODES, MAX_RANKS, Defaults, Grid, GridKind
from hocket.network.source import Source, shown
from hocket.units import parse_rate, parse_time

EXAMPLES: Final[dict[str, str]] = {
    "star": "star:24",
    "chain": "chain:8,8,8,8",
    "tree": "tree:4x8x32 or tree:(8,(4),(4))",
    "torus": "torus:8x4x8x2 or torus:8x8/up",
    "mesh": "mesh:8x8",
    "hypercube": "hypercube:6",
    "fat-tree": "fat-tree:8x8x4 or fat-tree:k=4",
    "dragonfly": "dragonfly:9x4x2",
    "dragonfly+": "dragonfly+:5x4x4x4",
}
_GRIDS: Final[dict[str, GridKind]] = {"torus": "torus", "mesh": "mesh", "hypercube": "hypercube"}
MAX_LENGTH: Final = 2**20

_PREFIX: Final = re.compile(r"([A-Za-z_+-]+):(?![\\/])(?=[\d(\s*@]|$)")
_TAIL: Final = re.compile(r"(?:\*([^*@]*))?(?:@([^*@]*))?")


def sniff(source: Source) -> bool:
    """A known kind and a colon; ``./star:24`` is a file."""
    match = re.match(r"([A-Za-z_+-]+):", source.name)
    if source.is_file or match is None:
        return False
    # An unknown kind is taken too when it can hardly be a file, to say which kinds there are.
    return match[1].lower() in EXAMPLES or _PREFIX.match(source.name) is not None


def read(source: Source, defaults: Defaults) -> NetworkDescription:
    """The network of a short form."""
    source = Source(
        shown(source.name)[1:-1] if len(source.name) <= 60 else source.name[:60] + "…", source.text, False
    )
    kind, _, rest = source.text.partition(":")
    if (kind := kind.lower()) not in EXAMPLES:
        near = suggestion(kind, EXAMPLES)
        raise source.error(
            f"there is no short form {kind!r}",
            remedy=f"{near + ' ' if near else ''}known are {', '.join(EXAMPLES.values())}",
        )
    if len(rest) > MAX_LENGTH:
        raise source.error("the short form is too long", remedy="write a network file")
    size = re.match(r"[^*@]*", rest)
    assert size is not None
    if (tail := _TAIL.fullmatch(rest, size.end())) is None:
        raise _bad(source, kind, "ranks and rate follow as *2@100Mbit,5us")
    defaults = _options(source, tail[1], tail[2], defaults)
    text = size[0].strip()
    if kind == "star":
        return _switches(source, defaults, [(-1, _integer(source, kind, text, 1))])
    if kind == "chain":
        hosts = [_integer(source, kind, item, 0) for item in text.split(",")]
        return _switches(source, defaults, [(index - 1, count) for index, count in enumerate(hosts)])
    if kind == "tree":
        tree = _nested(source, text) if text.startswith("(") else _balanced(source, text)
        return _switches(source, defaults, tree)
    if kind == "fat-tree":
        return _fat_tree(source, text, defaults)
    if kind == "dragonfly":
        return _dragonfly(source, text, defaults)
    if kind == "dragonfly+":
        return _dragonfly_plus(source, text, defaults)
    return _grid(source, _GRIDS[kind], text, defaults)


def _bad(source: Source, kind: str, problem: str) -> Exception:
    return source.error(f"this is not a {kind}: {problem}", remedy=f"write it like {EXAMPLES[kind]}")


def _options(source: Source, ranks: str | None, link: str | None, defaults: Defaults) -> Defaults:
    count, rate, latency = defaults.ranks, defaults.rate, defaults.latency
    if ranks is not None:
        if not re.fullmatch(r"\s*\d{1,9}\s*", ranks, re.ASCII) or not 1 <= int(ranks) <= MAX_RANKS:
            raise source.error(
                f"*{shown(ranks)[1:-1]} is not a number of ranks per host", remedy=f"write *1 to *{MAX_RANKS}"
            )
        count = int(ranks)
    if link is not None:
        rate_text, comma, latency_text = link.partition(",")
        rate = source.parse(parse_rate, rate_text, 0)
        if comma:
            latency = source.parse(parse_time, latency_text, 0)
    return replace(defaults, rate=rate, latency=latency, ranks=count)


def _integer(source: Source, kind: str, text: str, least: int) -> int:
    text = text.strip()
    if not re.fullmatch(r"\d+", text, re.ASCII):
        raise _bad(source, kind, f"{shown(text)} is not a number")
    # Compared by length first: int() refuses thousands of digits with an exception of its own.
    digits = text.lstrip("0") or "0"
    if len(digits) > 7 or int(digits) > MAX_NODES:
        raise _bad(source, kind, f"{shown(text)} is more than {MAX_NODES:,}")
    if int(digits) < least:
        raise _bad(source, kind, f"{text} is less than {least}")
    return int(digits)


def _balanced(source: Source, text: str) -> list[tuple[int, int]]:
    """``4x8x32``: a root with 4 switches with 8 switches each with 32 hosts each."""
    *arities, hosts = (_integer(source, "tree", item, 1) for item in text.lower().split("x"))
    levels = _level_sizes(arities)
    if sum(levels) > MAX_NODES or (levels[-1] if levels else 1) * hosts > MAX_NODES:
        raise _bad(source, "tree", f"it has more than {MAX_NODES:,} hosts or switches")
    tree: list[tuple[int, int]] = []
    pending = [(-1, 0)]
    while pending:
        parent, level = pending.pop()
        leaf = level == len(arities)
        tree.append((parent, hosts if leaf else 0))
        if not leaf:
            pending += [(len(tree) - 1, level + 1)] * arities[level]
    return tree


def _level_sizes(arities: list[int]) -> list[int]:
    """The number of switches on each level below the root, stopped where it is beyond all limits."""
    products: list[int] = []
    for arity in arities:
        products.append((products[-1] if products else 1) * arity)
        if products[-1] > MAX_NODES or len(products) > MAX_NODES:
            break
    return products


def _nested(source: Source, text: str) -> list[tuple[int, int]]:
    """``(8,(4),(4))``: parentheses are a switch, a number in them that many hosts on it."""
    tree: list[list[int]] = []
    path: list[int] = []
    expect_item = True
    position = 0
    for token in re.finditer(r"\s*(?:(\()|(\))|(,)|([^(),\s]+))\s*", text):
        if token.start() != position:
            break
        position = token.end()
        opened, closed, comma, number = token.groups()
        if not path and not (opened and not tree):
            raise _bad(source, "tree", "something follows the last parenthesis")
        if (comma or closed) and expect_item:
            raise _bad(source, "tree", "a number or a switch in parentheses is missing")
        if (opened or number) and not expect_item:
            raise _bad(source, "tree", "a comma is missing")
        if opened:
            tree.append([path[-1] if path else -1, 0])
            path.append(len(tree) - 1)
        elif closed:
            path.pop()
        elif number:
            tree[path[-1]][1] += _integer(source, "tree", number, 0)
        expect_item = bool(opened or comma)
    if path or position != len(text):
        raise _bad(source, "tree", "a parenthesis is not closed")
    return [(parent, hosts) for parent, hosts in tree]


def _switches(source: Source, defaults: Defaults, tree: list[tuple[int, int]]) -> NetworkDescription:
    """The network of switches given as (parent or -1, number of hosts), parents first."""
    total = sum(hosts for _, hosts in tree)
    if not 1 <= total <= MAX_NODES or len(tree) > MAX_NODES:
        raise source.error(
            f"a network of {total:,} hosts and {len(tree):,} switches",
            remedy=f"it needs 1 to {MAX_NODES:,} hosts and at most as many switches",
        )
    return families.switch_tree(source.name, tree, defaults, source.at())


def _grid(source: Source, kind: GridKind, text: str, defaults: Defaults) -> NetworkDescription:
    ties: str | None = None
    if kind == "hypercube":
        sides = [_integer(source, kind, text, 1)]
    else:
        text, slash, rule = text.partition("/") if kind == "torus" else (text, "", "")
        sides = [
            _integer(source, kind, item, 0) for item in text.lower().split("x", families.MAX_DIMENSIONS + 1)
        ]
        if slash:
            if (rule := rule.strip().lower()) not in families.TIE_RULES:
                raise _bad(
                    source,
                    kind,
                    f"there is no rule {shown(rule)} for ties, only {' and '.join(families.TIE_RULES)}",
                )
            ties = rule
    families.check_sides(source, kind, sides)
    grid = Grid(kind, sides, defaults.rate, defaults.latency, None, defaults.ranks, ties)
    return NetworkDescription(source=source.name, shape="grid", grid=grid)


def _sizes(source: Source, kind: str, text: str, least: int, most: int) -> list[int]:
    sizes = [_integer(source, kind, item, 1) for item in text.lower().split("x", most)]
    if not least <= len(sizes) <= most:
        raise _bad(source, kind, f"{least} to {most} numbers are needed")
    return sizes


def _fat_tree(source: Source, text: str, defaults: Defaults) -> NetworkDescription:
    """``8x8x4[x2]``: leaves, hosts on each, spines, cables from each leaf to each spine; ``k=4[xHOSTS]``:
    three levels of switches with k ports, HOSTS (k/2 unless given) on each switch of the lowest."""
    if text.lower().startswith("k="):
        ports, *hosts = _sizes(source, "fat-tree", text[2:], 1, 2)
        if ports % 2:
            raise _bad(source, "fat-tree", f"k={ports} is odd")
        half = ports // 2
        down, up, cables = [hosts[0] if hosts else half, half, ports], [1, half, half], [1, 1, 1]
    else:
        leaves, hosts_each, spines, *parallel = _sizes(source, "fat-tree", text, 3, 4)
        down, up, cables = [hosts_each, leaves], [1, spines], [1, parallel[0] if parallel else 1]
    sizes = families.fat_tree_levels(down, up)
    _check_links(source, "fat-tree", sizes[0], sum(sizes[1:]), families.fat_tree_links(down, up))
    return families.fat_tree(source.name, down, up, cables, defaults, source.at())


def _dragonfly(source: Source, text: str, defaults: Defaults) -> NetworkDescription:
    """``9x4x2[x1]``: groups, routers in each, hosts on each router, links between any two groups."""
    sizes = groups, routers, hosts, _ = [*_sizes(source, "dragonfly", text, 3, 4), 1][:4]
    links = families.dragonfly_links(*sizes)
    _check_links(source, "dragonfly", groups * routers * hosts, groups * routers, links)
    return families.dragonfly(source.name, sizes, defaults, source.at())


def _dragonfly_plus(source: Source, text: str, defaults: Defaults) -> NetworkDescription:
    """``5x4x4x4[x1]``: groups, leaves in each, hosts on a leaf, spines in each group, links between two groups."""
    sizes = groups, leaves, hosts, spines, _ = [*_sizes(source, "dragonfly+", text, 4, 5), 1][:5]
    links = families.dragonfly_plus_links(*sizes)
    _check_links(source, "dragonfly+", groups * leaves * hosts, groups * (leaves + spines), links)
    return families.dragonfly_plus(source.name, sizes, defaults, source.at())


def _check_links(source: Source, kind: str, hosts: int, switches: int, links: int) -> None:
    if hosts > MAX_NODES or switches > MAX_NODES or links > families.MAX_LINKS:
        raise _bad(source, kind, f"it has {hosts:,} hosts, {switches:,} switches and {links:,} links")
