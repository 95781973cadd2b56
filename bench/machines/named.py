"""Programs by the names that the tables of timings give to algorithms."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import peers
import standard
import tofu
import trees
from cells import Cell

from model import Phase, Program

Algorithm = Callable[[int, float], Program]

_BINE_SUMS: Final = standard.all_reduce_halving(peers.bine)
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
            standard.all_gather_bine("two"): "bine_2_blocks",
            standard.all_gather_bine("blocks"): "bine_block_by_block bine_block_by_block_any_even",
            standard.all_gather_bine("permute"): "bine_permute_remap bine_permute_static bine_permutation",
            standard.all_gather_bine("send"): "bine_send_remap bine_send_static",
        },
        "allreduce": {
            standard.all_reduce_ring: "ring ring_segmented segmented_ring",
            standard.all_reduce_doubling(): "recursive_doubling",
            # PICO tags allgather_reduce as Rabenseifner's
            standard.all_reduce_halving(): "rabenseifner reduce_scatter_allgather allgather_reduce",
            standard.all_reduce_doubling(peers.bine): "bine_lat",
            _BINE_SUMS: "bine_bdw_remap bine_bdw_remap_segmented bine_bdw_static "
            "bine_bdw_segmented bine_block_by_block bine_block_by_block_any_even",
            standard.all_reduce_halving(peers.bine, 3): "bine_bdw_memcpy",
        },
        "reduce_scatter": {
            standard.reduce_scatter_ring: "ring",
            standard.reduce_scatter_pairwise: "pairwise",
            standard.reduce_scatter_halving(far_first=True): "recursive_halving",
            standard.reduce_scatter_halving(): "recursive_distance_doubling butterfly non_commutative",
            standard.reduce_scatter_halving(peers.bine): "bine_permute_remap bine_send_remap",
            standard.reduce_scatter_blocks: "bine_block_by_block bine_block_by_block_any_even",
        },
        "alltoall": {
            standard.all_to_all_linear: "linear linear_sync scattered",
            standard.all_to_all_pairwise: "pairwise pairwise_ompi pairwise_sendrecv_replace",
            standard.all_to_all_bruck(): "bruck brucks modified_bruck",
            standard.all_to_all_bruck(peers.bine): "bine",
        },
        "bcast": {
            standard.bcast_linear: "linear basic_linear",
            standard.bcast_binomial: "binomial knomial",
            standard.bcast_pipelined(1): "chain pipeline split_binary",
            standard.bcast_pipelined(2): "binary_tree binary",
            _SCATTER_DOUBLING: "scatter_allgather scatter_recursive_doubling_allgather",
            _SCATTER_RING: "scatter_allgather_ring scatter_ring_allgather",
            trees.bcast_at_once(peers.bine): "bine_lat",
            trees.bcast_at_once(peers.bine_far_first): "bine_lat_reversed bine_lat_i_new",
            standard.bcast_bine: "bine_lat_new",
            standard.bcast_scatter_gather(standard.all_gather_bine("")): "bine_bdw_remap",
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
            standard.reduce_pipelined(1): "chain pipeline",
            standard.reduce_pipelined(2): "binary in_order_binary",
            standard.reduce_scatter_then_gather: "rabenseifner reduce_scatter_gather bine_bdw",
        },
    }
)


# Open MPI's trees cut nothing by default, and PICO asks for no segments. Where Bine trees post all sends, or one after
# the other, times show.
OPEN_MPI: Final[dict[tuple[str, str], Algorithm]] = {
    ("bcast", "binomial"): trees.bcast_at_once(peers.exchange),
    ("bcast", "knomial"): trees.bcast_knomial(4),
    ("bcast", "binary"): trees.bcast_binary,
    ("bcast", "binary_tree"): trees.bcast_binary,
    ("bcast", "split_binary"): trees.bcast_split_binary,
    ("bcast", "chain"): trees.unsegmented(lambda ranks: math.ceil((ranks - 1) / 4), 4, False),
    ("bcast", "pipeline"): trees.unsegmented(lambda ranks: ranks - 1, 1, False),
    ("gather", "binomial"): standard.kept(standard.gather_binomial),
    ("scatter", "binomial"): standard.kept(standard.scatter_binomial),
    ("reduce", "binary"): trees.reduce_binary,
    ("reduce", "in_order_binary"): trees.reduce_binary,
    ("reduce", "chain"): trees.unsegmented(lambda ranks: math.ceil((ranks - 1) / 4), 4, True),
    ("reduce", "pipeline"): trees.unsegmented(lambda ranks: ranks - 1, 1, True),
}


def _unsegmented(steps: Callable[[int], float], combine: bool) -> tofu.Grid:
    """Fujitsu's trees of Open MPI's, which cut nothing: the whole vector, so many times one after the other."""

    def program(sides: tuple[int, ...], bytes: float) -> Program:
        phase = Phase(stream=bytes, times=steps(math.prod(sides)), combined=bytes if combine else 0)
        return Program([phase], ((bytes, bytes),) * 2 if combine else ())

    return program


def _sum_and_spread(trees: int) -> tofu.Grid:
    """A reduction to one rank and a broadcast, down so many trees, or as the library chooses (0); a ring where the
    job's grid has no room for the trees."""

    def program(sides: tuple[int, ...], bytes: float) -> Program:
        if not trees:
            spread = standard.reduce_pipelined(2)(math.prod(sides), bytes)
            return spread.then(tofu.spread_trees(6)(sides, bytes))
        if not tofu.room(sides, trees):
            return standard.all_reduce_ring(math.prod(sides), bytes)
        return tofu.spread_reductions(trees)(sides, bytes).then(tofu.spread_trees(trees)(sides, bytes))

    return program


def _gather_and_spread(sides: tuple[int, ...], bytes: float) -> Program:
    return tofu.two_port_gather(sides, bytes).then(tofu.spread_trees(6)(sides, bytes))


def _reduce_and_scatter(sides: tuple[int, ...], bytes: float) -> Program:
    ranks = math.prod(sides)
    return standard.reduce_pipelined(2)(ranks, bytes).then(standard.scatter_linear(ranks, bytes))


def _in_place(algorithm: Algorithm) -> tofu.Grid:
    return lambda sides, bytes: replace(algorithm(math.prod(sides), bytes), temporary=())


TOFU: Final[dict[str, dict[str, tofu.Grid]]] = _by_name(
    {
        "allgather": {tofu.torus_all_gather: "3dtorus", _gather_and_spread: "linear gtbc"},
        "alltoall": {tofu.torus_all_to_all: "blacc3d", tofu.one_port_all_to_all: "blacc6d crp doublespread"},
        "bcast": {
            tofu.spread_trees(3): "trinaryx3",
            tofu.spread_trees(6): "trinaryx6",
            tofu.chain: "bintree6d",
            tofu.lines: "binomial",
            _unsegmented(lambda ranks: math.ceil((ranks - 1) / 3), False): "chain",
            _unsegmented(lambda ranks: ranks - 1, False): "pipeline",
            _unsegmented(
                lambda ranks: 2 * peers.steps_of(ranks + 1) - 4 if ranks > 8 else 3, False
            ): "binary_tree",
        },
        "reduce": {
            _unsegmented(lambda ranks: math.ceil((ranks - 1) / 3), True): "chain",
            _unsegmented(lambda ranks: ranks - 1, True): "pipeline",
            tofu.spread_reductions(3): "trinaryx3",
            tofu.spread_reductions(6): "trinaryx6",
        },
        "allreduce": {
            _sum_and_spread(3): "trix3",
            _sum_and_spread(6): "trix6",
            _sum_and_spread(0): "nonoverlapping rdbc",
        },
        "reduce_scatter": {
            _reduce_and_scatter: "non_overlapping",
            _in_place(standard.reduce_scatter_halving(far_first=True)): "recursive_halving",
            _in_place(standard.reduce_scatter_ring): "ring",
        },
        "gather": {tofu.two_port_gather: "simple"},
        "scatter": {tofu.spread_trees(6): "use_bcast"},
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


def program(collective: str, name: str, sides: tuple[int, ...], ranks: int, bytes: float) -> Program | None:
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
