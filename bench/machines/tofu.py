"""Messages of algorithms that know the torus: Bine trees that write through uTofu, and Fujitsu's own.

Bine's are as their source has them (HLC-Lab/bine_trees_fugaku): the vector is cut into as many parts as there are
ports, each part runs a collective of its own that begins with another dimension, ports beyond the dimensions are
mirrored. Names read FAMILY-ALGORITHM[-ORDER]-LAYER-SEGMENT-PORTS. Fujitsu's sources are not public: its algorithms
are modelled by what their names say and by what links allow.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
import peers
import standard

from model import Phase, Program, Ranks

Sides = tuple[int, ...]
Grid = Callable[[Sides, float], Program]
NAME: Final = re.compile(r"(BINE|RECDOUB|RING|SWING|BRUCK)-(\w+?)(?:-(INC|DEC))?-(UTOFU|MPI)-(\d+)-(\d+)")
MOST_PUT: Final = 1 << 24  # bytes of one write: what the interface takes
HIDING: Final = 1 << 20  # bytes of a segment: smaller ones hide no sums behind the next
RING_POSTS: Final = 2  # a step of a ring: its message, and the word that its place is free
COMBINING: Final = 4  # threads: built with -Kparallel, which has no effect within threads of ports


class Named(NamedTuple):
    family: str
    algorithm: str
    order: str
    direct: bool
    segment: int
    ports: int


def named(name: str) -> Named | None:
    found = NAME.fullmatch(name)
    if not found:
        return None
    family, algorithm, order, layer, segment, ports = found.groups()
    if not 1 <= int(ports) <= 6:
        return None
    return Named(family.lower(), algorithm, order or "", layer == "UTOFU", int(segment), int(ports))


def program(collective: str, name: Named, sides: Sides, bytes: float) -> Program | None:
    """None for an algorithm that is not known."""
    if name.family == "bruck":
        bruck = standard.all_to_all_bruck(math.prod(sides), bytes)
        return replace(bruck, temporary=()) if collective == "alltoall" else None
    maker = _MAKERS.get((collective, name.algorithm))
    if maker is None:
        return None
    made = maker(name, sides, bytes)
    ports = made.ports if name.direct else 1
    opened = name.ports * (1 + made.opened) if name.direct else 0
    threads = COMBINING if name.direct and ports == 1 else 1
    return Program(made.phases, made.temporary, ports, name.direct, opened, threads)


def _at_once(partners: list[Ranks]) -> tuple[Ranks, Ranks]:
    """Messages of all ports, of whose partners of all ranks these are."""
    return np.tile(np.arange(len(partners[0])), len(partners)), np.concatenate(partners)


def _together(name: Named, sides: Sides, step: int) -> tuple[Ranks, Ranks]:
    """Messages of all ports in one step."""
    return _at_once([peers.grid_peers(sides, port, step, name.family) for port in range(name.ports)])


def _steps(sides: Sides) -> int:
    return sum(peers.steps_of(side) for side in sides)


def _pieces(name: Named, bytes: float) -> float:
    """Segments that a message of a port is sent in."""
    return max(1.0, math.ceil(bytes / (name.segment or MOST_PUT)))


def _told(name: Named, sides: Sides) -> Phase:
    """Addresses of buffers, which ranks tell the partners of each step first, through MPI, where a rank writes into
    what the caller gave; once more for the mirrored ports."""
    rounds = _steps(sides) * (2 if name.ports > len(sides) else 1)
    posts = 2 / name.ports if name.direct else 1
    return Phase(*peers.shift(math.prod(sides), 1), 8, times=rounds, posts=posts)


def _doubling(name: Named, sides: Sides, bytes: float, *, rows: bool = False) -> list[Phase]:
    """The farthest partner first; ``rows``: each block is written by itself."""
    if name.family == "ring":
        return _ring(name, sides, bytes)
    ranks, steps = math.prod(sides), _steps(sides)
    phases = []
    for done in range(steps):
        size = bytes / ranks * min(1 << done, ranks - (1 << done)) / name.ports
        posts = float(1 << done) if rows else 1.0
        there = _together(name, sides, steps - 1 - done)
        phases.append(Phase(*there, size, posts=posts, pieces=_pieces(name, size)))
    return phases


def _halving(name: Named, sides: Sides, bytes: float) -> list[Phase]:
    hidden = name.segment >= HIDING
    there = reversed(_doubling(name, sides, bytes))
    return [replace(one, posts=1, combined=one.bytes * name.ports, overlapped=hidden) for one in there]


def _ring(name: Named, sides: Sides, bytes: float) -> list[Phase]:
    """Rings along one dimension after the other, both ways: the bucket algorithm (Sack and Gropp, 2015)."""
    phases, have = [], bytes / math.prod(sides) / name.ports
    for turn in range(len(sides)):
        axis = [(port + turn) % len(sides) for port in range(name.ports)]
        side = max(sides[one] for one in axis)
        next_ones = [peers.along(sides, one, 1 if port < len(sides) else -1) for port, one in enumerate(axis)]
        phases.append(Phase(*_at_once(next_ones), have, times=side - 1, posts=RING_POSTS))
        have *= side
    return phases


def _all_gather(name: Named, sides: Sides, bytes: float) -> Program:
    sort = [] if name.family == "ring" else [_sorted(sides, bytes)]
    return Program([*_doubling(name, sides, bytes), *sort], ports=name.ports)


def _sorted(sides: Sides, bytes: float) -> Phase:
    """Each port's thread moves the blocks of all ranks, one by one."""
    return Phase(copied=bytes, moved=math.prod(sides))


def _all_gather_blocks(name: Named, sides: Sides, bytes: float) -> Program:
    return Program([_told(name, sides), *_doubling(name, sides, bytes, rows=True)], ports=name.ports)


def _all_gather_send(name: Named, sides: Sides, bytes: float) -> Program:
    ranks = math.prod(sides)
    first = Phase(*peers.shift(ranks, ranks // 2), bytes / ranks)
    return Program([_told(name, sides), first, *_doubling(name, sides, bytes)], ports=name.ports)


def _reduce_scatter(name: Named, sides: Sides, bytes: float) -> Program:
    return Program([_sorted(sides, bytes), *_halving(name, sides, bytes)], ports=name.ports)


def _all_reduce(name: Named, sides: Sides, bytes: float) -> Program:
    """Bookkeeping of each step on each port takes about as long as making a port ready: seen in the times, not in the
    source. The ring is another program there."""
    phases = [_told(name, sides), *_halving(name, sides, bytes), *_doubling(name, sides, bytes)]
    return Program(phases, ports=name.ports, opened=0 if name.family == "ring" else 2 * _steps(sides))


def _all_reduce_whole(name: Named, sides: Sides, bytes: float) -> Program:
    size = bytes / name.ports
    phases = [Phase(*_together(name, sides, step), size, combined=bytes) for step in range(_steps(sides))]
    return Program(phases, ports=name.ports)


def _tree(name: Named, sides: Sides, bytes: float, *, far_first: bool) -> list[tuple[Phase, float]]:
    """Phases of a tree from rank 0, and the part of the ranks that lies below each receiver of the phase."""
    steps = _steps(sides)
    order = range(steps)[::-1] if far_first else range(steps)
    trees = [
        list(peers.tree([peers.grid_peers(sides, port, step, name.family) for step in order]))
        for port in range(name.ports)
    ]
    size = bytes / name.ports
    phases = []
    for at in range(steps):
        src = np.concatenate([one[at][0] for one in trees])
        dst = np.concatenate([one[at][1] for one in trees])
        phases.append((Phase(src, dst, size, pieces=_pieces(name, size)), 0.5 ** (at + 1)))
    return phases


def _bcast(name: Named, sides: Sides, bytes: float) -> Program:
    kept = name.algorithm.endswith("TMPBUF")
    phases = [phase for phase, _ in _tree(name, sides, bytes, far_first=True)]
    last = Phase(copied=bytes) if kept else _told(name, sides)
    return Program([*phases, last], ports=name.ports)


def _scatter(name: Named, sides: Sides, bytes: float) -> Program:
    there = _tree(name, sides, bytes, far_first=name.order == "DEC")
    phases = [Phase(one.src, one.dst, one.bytes * part) for one, part in there]
    return Program([_sorted(sides, bytes), *phases], ports=name.ports)


def _gather(name: Named, sides: Sides, bytes: float) -> Program:
    there = _tree(name, sides, bytes, far_first=name.order != "DEC")
    phases = [Phase(one.dst, one.src, one.bytes * part) for one, part in reversed(there)]
    return Program([*phases, _sorted(sides, bytes)], ports=name.ports)


def _reduce(name: Named, sides: Sides, bytes: float) -> Program:
    """The source has one port after the other: as fast as one port, but for what ports cost."""
    there = _tree(name._replace(ports=1), sides, bytes, far_first=False)
    phases = [
        Phase(one.dst, one.src, one.bytes, posts=name.ports, pieces=2 * one.pieces, combined=bytes)
        for one, _ in reversed(there)
    ]
    return Program(phases)


def _scatter_all_gather(name: Named, sides: Sides, bytes: float) -> Program:
    gathered = Program([_told(name, sides), *_doubling(name, sides, bytes)])
    return _scatter(name, sides, bytes).then(gathered)


def _reduce_scatter_gather(name: Named, sides: Sides, bytes: float) -> Program:
    """Blocks stay in the tree's order in between: only the gather sorts them."""
    return Program(_halving(name, sides, bytes), ports=name.ports).then(_gather(name, sides, bytes))


def _all_to_all(name: Named, sides: Sides, bytes: float) -> Program:
    steps = (_together(name, sides, step) for step in range(_steps(sides)))
    phases = [Phase(*there, bytes / 2, posts=2, copied=bytes) for there in steps]
    return Program([Phase(copied=bytes), *phases, Phase(copied=bytes)])


Maker = Callable[[Named, Sides, float], Program]
_MAKERS: Final[dict[tuple[str, str], Maker]] = {
    ("allgather", "VEC_DOUBLING_CONT_PERMUTE"): _all_gather,
    ("allgather", "VEC_DOUBLING_BLOCKS"): _all_gather_blocks,
    ("allgather", "VEC_DOUBLING_CONT_SEND"): _all_gather_send,
    ("reduce_scatter", "VEC_HALVING_CONT_PERMUTE"): _reduce_scatter,
    ("allreduce", "B_CONT"): _all_reduce,
    ("allreduce", "L"): _all_reduce_whole,
    ("bcast", "BINOMIAL_TREE"): _bcast,
    ("bcast", "BINOMIAL_TREE_TMPBUF"): _bcast,
    ("bcast", "SCATTER_ALLGATHER"): _scatter_all_gather,
    ("scatter", "BINOMIAL_TREE_CONT_PERMUTE"): _scatter,
    ("gather", "BINOMIAL_TREE_CONT_PERMUTE"): _gather,
    ("reduce", "BINOMIAL_TREE"): _reduce,
    ("reduce", "REDUCE_SCATTER_GATHER"): _reduce_scatter_gather,
    ("alltoall", "LOG"): _all_to_all,
}


# Fujitsu's


def torus_all_gather(sides: Sides, bytes: float) -> Program:
    """Six parts at once, each along one dimension after the other: as fast as the links."""
    name = Named("ring", "", "", True, 0, 2 * len(sides))
    return Program(_ring(name, sides, bytes), ports=name.ports, direct=True)


def torus_all_to_all(sides: Sides, bytes: float) -> Program:
    """Parts, as many as dimensions, at once; each is moved along one dimension after the other, both ways."""
    parts = len(sides)
    phases = []
    for turn in range(parts):
        for by in range(1, max(sides)):
            there = [peers.along(sides, (part + turn) % parts, by) for part in range(parts)]
            phases.append(Phase(*_at_once(there), bytes / parts / max(sides)))
    return Program([*phases, Phase(copied=bytes)], ports=parts, direct=True)


def one_port_all_to_all(sides: Sides, bytes: float) -> Program:
    """Every block in its turn, one interface busy all the time and no link more."""
    ranks = math.prod(sides)
    return Program([Phase(stream=bytes / ranks, times=ranks - 1)], direct=True)


def segment_of(bytes: float, largest: float) -> float:
    """Bytes of a segment, as Fujitsu's rules and the scripts of the measurements have them: 64 KiB beyond
    ``largest``."""
    return 4096.0 if bytes <= 393216 else 16384.0 if bytes <= largest else 65536.0


def chain(sides: Sides, bytes: float) -> Program:
    segment = segment_of(bytes, 48 << 20)
    return Program([Phase(stream=segment, times=bytes / segment + sum(sides), overlapped=True)])


def lines(sides: Sides, bytes: float) -> Program:
    """A broadcast that takes as long as if neighbours passed the vector on along each dimension."""
    return Program([Phase(stream=bytes, times=sum(side - 1 for side in sides))])


def _spread(sides: Sides, bytes: float, trees: int, largest: float, combined: float) -> Program:
    """``largest``: as of ``segment_of``; ``combined``: segments of each tree."""
    segment = min(bytes / trees, segment_of(bytes, largest))
    times = bytes / trees / segment + sum(side // 2 for side in sides)
    step = Phase(stream=segment, times=times, combined=combined * trees * segment, overlapped=True)
    return Program([step], opened=trees)


def spread_trees(sides: Sides, bytes: float, trees: int) -> Program:
    """A broadcast down so many trees at once, in segments, through an interface each; down one chain where the job's
    grid has no room for them."""
    return _spread(sides, bytes, trees, 48 << 20, 0) if room(sides, trees) else chain(sides, bytes)


def spread_reductions(sides: Sides, bytes: float, trees: int) -> Program:
    """The same, turned round. A host is inside half of the trees, and combines for three children there."""
    if not room(sides, trees):
        return standard.reduce_pipelined(math.prod(sides), bytes, 2)
    return _spread(sides, bytes, trees, 6 << 20, 1.5)


def room(sides: Sides, trees: int) -> bool:
    """True if a node has neighbours for so many trees: two a side, one if the side is 2."""
    return sum(min(side - 1, 2) for side in sides) >= trees


def two_port_gather(sides: Sides, bytes: float) -> Program:
    ranks = math.prod(sides)
    return Program([Phase(stream=bytes * (ranks - 1) / ranks / 2)], opened=2)
