"""Programs by the names that the tables of timings give to algorithms."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

import peers
import standard
import tofu
import trees
from cells import Cell

from model import Phase, Program

Algorithm = Callable[[int, float], Program]

_BINE_SUMS: Final = partial(standard.all_reduce_halving, partners=peers.bine)
_SCATTER_DOUBLING: Final = standard.bcast_scatter_gather(standard.all_gather_doubling)
_SCATTER_RING: Final = standard.bcast_scatter_gather(standard.all_gather_ring)


def _by_name(collectives: dict[str, dict[Any, str]]) -> dict[str, dict[str, Any]]:
    """Algorithms of collectives by each of their names."""
    return {
        collective: {name: made for made, names in algorithms.items() for name in names.split()}
        for collective, algorithms in collectives.items()
    }


STANDARD: Final[dict[str, dict[str, Algorithm]]] = _by_name(
    {
        "allgather": {
            standard.all_gather_ring: "ring",
            standard.all_gather_doubling: "recursive_doubling",
            standard.all_gather_neighbours: "neighbor",
            standard.all_gather_bruck: "bruck brucks k_bruck",
            standard.all_gather_sparbit: "sparbit",
            standard.all_gather_linear: "linear",
            partial(standard.all_gather_bine, extra="two"): "bine_2_blocks",
            partial(standard.all_gather_bine, extra="blocks"): "bine_block_by_block "
            "bine_block_by_block_any_even",
            partial(standard.all_gather_bine, extra="permute"): "bine_permute_remap bine_permute_static "
            "bine_permutation",
            partial(standard.all_gather_bine, extra="send"): "bine_send_remap bine_send_static",
        },
        "allreduce": {
            standard.all_reduce_ring: "ring ring_segmented segmented_ring",
            standard.all_reduce_doubling: "recursive_doubling",
            # PICO tags allgather_reduce as Rabenseifner's
            standard.all_reduce_halving: "rabenseifner reduce_scatter_allgather allgather_reduce",
            partial(standard.all_reduce_doubling, partners=peers.bine): "bine_lat",
            _BINE_SUMS: "bine_bdw_remap bine_bdw_remap_segmented bine_bdw_static "
            "bine_bdw_segmented bine_block_by_block bine_block_by_block_any_even",
            partial(standard.all_reduce_halving, partners=peers.bine, copies=3): "bine_bdw_memcpy",
        },
        "reduce_scatter": {
            standard.reduce_scatter_ring: "ring",
            standard.reduce_scatter_pairwise: "pairwise",
            partial(standard.reduce_scatter_halving, far_first=True): "recursive_halving",
            standard.reduce_scatter_halving: "recursive_distance_doubling butterfly non_commutative",
            partial(standard.reduce_scatter_halving, partners=peers.bine): "bine_permute_remap "
            "bine_send_remap",
            standard.reduce_scatter_blocks: "bine_block_by_block bine_block_by_block_any_even",
        },
        "alltoall": {
            standard.all_to_all_linear: "linear linear_sync scattered",
            standard.all_to_all_pairwise: "pairwise pairwise_ompi pairwise_sendrecv_replace",
            standard.all_to_all_bruck: "bruck brucks modified_bruck",
            partial(standard.all_to_all_bruck, partners=peers.bine): "bine",
        },
        "bcast": {
            standard.bcast_linear: "linear basic_linear",
            standard.bcast_binomial: "binomial knomial",
            partial(standard.bcast_pipelined, children=1): "chain pipeline split_binary",
            partial(standard.bcast_pipelined, children=2): "binary_tree binary",
            _SCATTER_DOUBLING: "scatter_allgather scatter_recursive_doubling_allgather",
            _SCATTER_RING: "scatter_allgather_ring scatter_ring_allgather",
            partial(trees.bcast_at_once, partners=peers.bine): "bine_lat",
            partial(trees.bcast_at_once, partners=peers.bine_far_first): "bine_lat_reversed bine_lat_i_new",
            standard.bcast_bine: "bine_lat_new",
            standard.bcast_scatter_gather(standard.all_gather_bine): "bine_bdw_remap",
        },
        "gather": {
            standard.gather_linear: "linear basic_linear linear_sync",
            standard.gather_binomial: "binomial",
            standard.kept(standard.gather_binomial): "bine",
        },
        "scatter": {
            standard.scatter_linear: "linear basic_linear linear_nb",
            standard.scatter_binomial: "binomial",
            standard.kept(standard.scatter_binomial): "bine",
        },
        "reduce": {
            standard.reduce_linear: "linear",
            standard.reduce_binomial: "binomial bine_lat",
            partial(standard.reduce_pipelined, children=1): "chain pipeline",
            partial(standard.reduce_pipelined, children=2): "binary in_order_binary",
            standard.reduce_scatter_then_gather: "rabenseifner reduce_scatter_gather bine_bdw",
        },
    }
)


# Open MPI's trees cut nothing by default, and PICO asks for no segments. Where Bine trees post all sends, or one after
# the other, times show.
OPEN_MPI: Final[dict[tuple[str, str], Algorithm]] = {
    ("bcast", "binomial"): partial(trees.bcast_at_once, partners=peers.exchange),
    ("bcast", "knomial"): partial(trees.bcast_knomial, radix=4),
    ("bcast", "binary"): trees.bcast_binary,
    ("bcast", "binary_tree"): trees.bcast_binary,
    ("bcast", "split_binary"): trees.bcast_split_binary,
    ("bcast", "chain"): partial(trees.unsegmented, chains=4, combine=False),
    ("bcast", "pipeline"): partial(trees.unsegmented, chains=1, combine=False),
    ("gather", "binomial"): standard.kept(standard.gather_binomial),
    ("scatter", "binomial"): standard.kept(standard.scatter_binomial),
    ("reduce", "binary"): trees.reduce_binary,
    ("reduce", "in_order_binary"): trees.reduce_binary,
    ("reduce", "chain"): partial(trees.unsegmented, chains=4, combine=True),
    ("reduce", "pipeline"): partial(trees.unsegmented, chains=1, combine=True),
}


def _chains(sides: tofu.Sides, bytes: float, chains: int, combine: bool = False) -> Program:
    """Fujitsu's chains of Open MPI's, which cut nothing: the whole vector, so many times one after the other."""
    times = math.ceil((math.prod(sides) - 1) / chains)
    phase = Phase(stream=bytes, times=times, combined=bytes if combine else 0)
    return Program([phase], ((bytes, bytes),) * 2 if combine else ())


def _binary_tree(sides: tofu.Sides, bytes: float) -> Program:
    ranks = math.prod(sides)
    return Program([Phase(stream=bytes, times=2 * peers.steps_of(ranks + 1) - 4 if ranks > 8 else 3)])


def _sum_and_spread(sides: tofu.Sides, bytes: float, trees: int) -> Program:
    """A reduction to one rank and a broadcast, down so many trees, or as the library chooses (0); a ring where the
    job's grid has no room for the trees."""
    if not trees:
        reduced = standard.reduce_pipelined(math.prod(sides), bytes, 2)
        return reduced.then(tofu.spread_trees(sides, bytes, 6))
    if not tofu.room(sides, trees):
        return standard.all_reduce_ring(math.prod(sides), bytes)
    return tofu.spread_reductions(sides, bytes, trees).then(tofu.spread_trees(sides, bytes, trees))


def _gather_and_spread(sides: tofu.Sides, bytes: float) -> Program:
    return tofu.two_port_gather(sides, bytes).then(tofu.spread_trees(sides, bytes, 6))


def _reduce_and_scatter(sides: tofu.Sides, bytes: float) -> Program:
    ranks = math.prod(sides)
    return standard.reduce_pipelined(ranks, bytes, 2).then(standard.scatter_linear(ranks, bytes))


def _in_place(algorithm: Algorithm) -> tofu.Grid:
    return lambda sides, bytes: replace(algorithm(math.prod(sides), bytes), temporary=())


TOFU: Final[dict[str, dict[str, tofu.Grid]]] = _by_name(
    {
        "allgather": {tofu.torus_all_gather: "3dtorus", _gather_and_spread: "linear gtbc"},
        "alltoall": {tofu.torus_all_to_all: "blacc3d", tofu.one_port_all_to_all: "blacc6d crp doublespread"},
        "bcast": {
            partial(tofu.spread_trees, trees=3): "trinaryx3",
            partial(tofu.spread_trees, trees=6): "trinaryx6",
            tofu.chain: "bintree6d",
            tofu.lines: "binomial",
            partial(_chains, chains=3): "chain",
            partial(_chains, chains=1): "pipeline",
            _binary_tree: "binary_tree",
        },
        "reduce": {
            partial(_chains, chains=3, combine=True): "chain",
            partial(_chains, chains=1, combine=True): "pipeline",
            partial(tofu.spread_reductions, trees=3): "trinaryx3",
            partial(tofu.spread_reductions, trees=6): "trinaryx6",
        },
        "allreduce": {
            partial(_sum_and_spread, trees=3): "trix3",
            partial(_sum_and_spread, trees=6): "trix6",
            partial(_sum_and_spread, trees=0): "nonoverlapping rdbc",
        },
        "reduce_scatter": {
            _reduce_and_scatter: "non_overlapping",
            _in_place(partial(standard.reduce_scatter_halving, far_first=True)): "recursive_halving",
            _in_place(standard.reduce_scatter_ring): "ring",
        },
        "gather": {tofu.two_port_gather: "simple"},
        "scatter": {partial(tofu.spread_trees, trees=6): "use_bcast"},
    }
)


UNKNOWN: Final = {
    "fujitsu bcast split_binary_tree": "its segments are not published, and decide",
    "fujitsu bcast bintree3d": "the shape of its tree is not published",
    "fujitsu bcast basic_linear": "on 8 nodes it is faster than links allow: what runs by this name is unknown",
    "fujitsu allgather 3dtorus_sm": "what it does in shared memory with one rank a node is not published",
    "over allgather bine_2_blocks_dtype": "what libraries take to pack derived types is not modelled",
}


def reason(collective: str, name: str) -> str:
    """Why an algorithm has no model."""
    library, bare = plain(name)
    if bare in ("default", "auto"):
        return "the library chooses, by rules that are not public or not recorded"
    if tofu.named(name):
        return "it is not described here, or not for several ranks a node"
    return UNKNOWN.get(f"{library} {collective} {bare}", "no algorithm of this name is described here")


def plain(name: str) -> tuple[str, str]:
    """Library and bare name: ("ompi", "ring") of ``ring_ompi``, ("fujitsu", "linear_sync") of
    ``default-linear-sync``."""
    if name.startswith("default-"):
        return "fujitsu", name.removeprefix("default-").replace("-", "_")
    name = name.replace("swing_", "bine_")  # what Bine trees were called first
    head, _, library = name.rpartition("_")
    return (library, head) if head and library in ("ompi", "mpich", "over", "intel", "cray") else ("", name)


def program(collective: str, name: str, sides: tofu.Sides, ranks: int, bytes: float) -> Program | None:
    """None for an algorithm that has no model: of those that follow a library's choice, too."""
    if ranks < 2:
        return Program([Phase(copied=bytes)])
    lone = ranks == math.prod(sides)  # one rank a node, as programs for grids of nodes are
    if found := tofu.named(name):
        return tofu.program(collective, found, sides, bytes) if lone else None
    library, bare = plain(name)
    if f"{library} {collective} {bare}" in UNKNOWN:
        return None
    if library == "fujitsu" and lone and (grid := TOFU.get(collective, {}).get(bare)):
        return grid(sides, bytes)
    if library == "ompi" and (maker := OPEN_MPI.get((collective, bare))):
        return maker(ranks, bytes)
    maker = STANDARD.get(collective, {}).get(bare)
    return maker(ranks, bytes) if maker else None


def program_of(cell: Cell) -> Program | None:
    return program(cell.collective, cell.algorithm, cell.job.shape, cell.job.ranks, cell.bytes)
