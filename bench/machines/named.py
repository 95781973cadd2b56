"""Programs by the names that the tables of timings give to algorithms."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import peers
import standard
import tofu
import trees

from model import Phase, Program

Algorithm = Callable[[int, float], Program]
Grid = Callable[[tuple[int, ...], float], Program]

_BINE_GATHERS: Final = {
    "bine_2_blocks": "two",
    "bine_block_by_block": "blocks",
    "bine_block_by_block_any_even": "blocks",
    "bine_permute_remap": "permute",
    "bine_permute_static": "permute",
    "bine_permutation": "permute",
    "bine_send_remap": "send",
    "bine_send_static": "send",
}
_NEAR: Final = standard.reduce_scatter_halving(far_first=False)
_FAR: Final = standard.reduce_scatter_halving(far_first=True)
_BINE_SUMS: Final = standard.all_reduce_halving(peers.bine)

STANDARD: Final[dict[str, dict[str, Algorithm]]] = {
    "allgather": {
        "ring": standard.all_gather_ring,
        "recursive_doubling": standard.all_gather_doubling,
        "neighbor": standard.all_gather_neighbours,
        "bruck": standard.all_gather_bruck,
        "brucks": standard.all_gather_bruck,
        "k_bruck": standard.all_gather_bruck,
        "sparbit": standard.all_gather_sparbit,
        "linear": standard.all_gather_linear,
        **{name: standard.all_gather_bine(extra) for name, extra in _BINE_GATHERS.items()},
    },
    "allreduce": {
        "ring": standard.all_reduce_ring,
        "ring_segmented": standard.all_reduce_ring,
        "segmented_ring": standard.all_reduce_ring,
        "recursive_doubling": standard.all_reduce_doubling(),
        "rabenseifner": standard.all_reduce_halving(),
        "reduce_scatter_allgather": standard.all_reduce_halving(),
        "allgather_reduce": standard.all_reduce_halving(),  # PICO tags it as Rabenseifner's
        "bine_lat": standard.all_reduce_doubling(peers.bine),
        "bine_bdw_remap": _BINE_SUMS,
        "bine_bdw_remap_segmented": _BINE_SUMS,
        "bine_bdw_static": _BINE_SUMS,
        "bine_bdw_segmented": _BINE_SUMS,
        "bine_block_by_block": _BINE_SUMS,
        "bine_block_by_block_any_even": _BINE_SUMS,
        "bine_bdw_memcpy": standard.all_reduce_halving(peers.bine, 3),
    },
    "reduce_scatter": {
        "ring": standard.reduce_scatter_ring,
        "pairwise": standard.reduce_scatter_pairwise,
        "recursive_halving": _FAR,
        "recursive_distance_doubling": _NEAR,
        "butterfly": _NEAR,
        "non_commutative": _NEAR,
        "bine_permute_remap": standard.reduce_scatter_halving(far_first=False, partners=peers.bine),
        "bine_send_remap": standard.reduce_scatter_halving(far_first=False, partners=peers.bine),
        "bine_block_by_block": standard.reduce_scatter_blocks,
        "bine_block_by_block_any_even": standard.reduce_scatter_blocks,
    },
    "alltoall": {
        "linear": standard.all_to_all_linear,
        "linear_sync": standard.all_to_all_linear,
        "scattered": standard.all_to_all_linear,
        "pairwise": standard.all_to_all_pairwise,
        "pairwise_ompi": standard.all_to_all_pairwise,
        "pairwise_sendrecv_replace": standard.all_to_all_pairwise,
        "bruck": standard.all_to_all_bruck(),
        "brucks": standard.all_to_all_bruck(),
        "modified_bruck": standard.all_to_all_bruck(),
        "bine": standard.all_to_all_bruck(peers.bine),
    },
    "bcast": {
        "linear": standard.bcast_linear,
        "basic_linear": standard.bcast_linear,
        "binomial": standard.bcast_binomial,
        "knomial": standard.bcast_binomial,
        "chain": standard.bcast_pipelined,
        "pipeline": standard.bcast_pipelined,
        "binary_tree": lambda ranks, bytes: standard.bcast_pipelined(ranks, bytes, 2),
        "binary": lambda ranks, bytes: standard.bcast_pipelined(ranks, bytes, 2),
        "split_binary": standard.bcast_pipelined,
        "scatter_allgather": standard.bcast_scatter_gather(standard.all_gather_doubling),
        "scatter_recursive_doubling_allgather": standard.bcast_scatter_gather(standard.all_gather_doubling),
        "scatter_allgather_ring": standard.bcast_scatter_gather(standard.all_gather_ring),
        "scatter_ring_allgather": standard.bcast_scatter_gather(standard.all_gather_ring),
        "bine_lat": trees.bcast_at_once(peers.bine),
        "bine_lat_reversed": trees.bcast_at_once(peers.bine_far_first),
        "bine_lat_new": standard.bcast_bine,
        "bine_lat_i_new": trees.bcast_at_once(peers.bine_far_first),
        "bine_bdw_remap": standard.bcast_scatter_gather(standard.all_gather_bine("")),
    },
    "gather": {
        "linear": standard.gather_linear,
        "basic_linear": standard.gather_linear,
        "linear_sync": standard.gather_linear,
        "binomial": standard.gather_binomial,
        "bine": standard.kept(standard.gather_binomial),
    },
    "scatter": {
        "linear": standard.scatter_linear,
        "basic_linear": standard.scatter_linear,
        "linear_nb": standard.scatter_linear,
        "binomial": standard.scatter_binomial,
        "bine": standard.kept(standard.scatter_binomial),
    },
    "reduce": {
        "linear": standard.reduce_linear,
        "binomial": standard.reduce_binomial,
        "chain": standard.reduce_pipelined,
        "pipeline": standard.reduce_pipelined,
        "binary": lambda ranks, bytes: standard.reduce_pipelined(ranks, bytes, 2),
        "in_order_binary": lambda ranks, bytes: standard.reduce_pipelined(ranks, bytes, 2),
        "rabenseifner": standard.reduce_scatter_then_gather,
        "reduce_scatter_gather": standard.reduce_scatter_then_gather,
        "bine_lat": standard.reduce_binomial,
        "bine_bdw": standard.reduce_scatter_then_gather,
    },
}


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


def _unsegmented(steps: Callable[[int], float], combine: bool) -> Grid:
    """Fujitsu's trees of Open MPI's, which cut nothing: the whole vector, so many times one after the other."""

    def program(sides: tuple[int, ...], bytes: float) -> Program:
        phase = Phase(stream=bytes, times=steps(math.prod(sides)), combined=bytes if combine else 0)
        return Program([phase], ((bytes, bytes),) * 2 if combine else ())

    return program


def _sum_and_spread(trees: int) -> Grid:
    """A reduction to one rank and a broadcast, down so many trees, or as the library chooses (0); a ring where the
    job's grid has no room for the trees."""

    def program(sides: tuple[int, ...], bytes: float) -> Program:
        if not trees:
            spread = standard.reduce_pipelined(math.prod(sides), bytes, 2)
            return spread.then(tofu.spread_trees(6)(sides, bytes))
        if not tofu.room(sides, trees):
            return standard.all_reduce_ring(math.prod(sides), bytes)
        return tofu.spread_reductions(trees)(sides, bytes).then(tofu.spread_trees(trees)(sides, bytes))

    return program


TOFU: Final[dict[str, dict[str, Grid]]] = {
    "allgather": {
        "3dtorus": tofu.torus_all_gather,
        "linear": lambda sides, bytes: tofu.two_port_gather(sides, bytes).then(
            tofu.spread_trees(6)(sides, bytes)
        ),
        "gtbc": lambda sides, bytes: tofu.two_port_gather(sides, bytes).then(
            tofu.spread_trees(6)(sides, bytes)
        ),
    },
    "alltoall": {
        "blacc3d": tofu.torus_all_to_all,
        "blacc6d": tofu.one_port_all_to_all,
        "crp": tofu.one_port_all_to_all,
        "doublespread": tofu.one_port_all_to_all,
    },
    "bcast": {
        "trinaryx3": tofu.spread_trees(3),
        "trinaryx6": tofu.spread_trees(6),
        "bintree6d": tofu.chain,
        "binomial": tofu.lines,
        "chain": _unsegmented(lambda ranks: math.ceil((ranks - 1) / 3), False),
        "pipeline": _unsegmented(lambda ranks: ranks - 1, False),
        "binary_tree": _unsegmented(
            lambda ranks: 2 * peers.steps_of(ranks + 1) - 4 if ranks > 8 else 3, False
        ),
    },
    "reduce": {
        "chain": _unsegmented(lambda ranks: math.ceil((ranks - 1) / 3), True),
        "pipeline": _unsegmented(lambda ranks: ranks - 1, True),
        "trinaryx3": tofu.spread_reductions(3),
        "trinaryx6": tofu.spread_reductions(6),
    },
    "allreduce": {
        "trix3": _sum_and_spread(3),
        "trix6": _sum_and_spread(6),
        "nonoverlapping": _sum_and_spread(0),
        "rdbc": _sum_and_spread(0),
    },
    "reduce_scatter": {
        "non_overlapping": lambda sides, bytes: standard.reduce_pipelined(math.prod(sides), bytes, 2).then(
            standard.scatter_linear(math.prod(sides), bytes)
        ),
        "recursive_halving": lambda sides, bytes: replace(_FAR(math.prod(sides), bytes), temporary=()),
        "ring": lambda sides, bytes: replace(
            standard.reduce_scatter_ring(math.prod(sides), bytes), temporary=()
        ),
    },
    "gather": {"simple": tofu.two_port_gather},
    "scatter": {"use_bcast": tofu.spread_trees(6)},
}


UNKNOWN: Final = {
    ("fujitsu", "bcast", "split_binary_tree"): "its segments are not published, and decide",
    ("fujitsu", "bcast", "bintree3d"): "the shape of its tree is not published",
    (
        "fujitsu",
        "bcast",
        "basic_linear",
    ): "on 8 nodes it is faster than links allow: what runs by this name is unknown",
    ("over", "allgather", "bine_2_blocks_dtype"): "what libraries take to pack derived types is not modelled",
    (
        "fujitsu",
        "allgather",
        "3dtorus_sm",
    ): "what it does in shared memory with one rank a node is not published",
}


def reason(collective: str, name: str) -> str:
    """Why an algorithm has no model."""
    library, bare = plain(name)
    if bare in ("default", "auto"):
        return "the library chooses, by rules that are not public or not recorded"
    if tofu.named(name):
        return "it is not described here, or not for several ranks a node"
    return UNKNOWN.get((library, collective, bare), "no algorithm of this name is described here")


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
    if (library, collective, bare) in UNKNOWN:
        return None
    if library == "fujitsu" and lone and (grid := TOFU.get(collective, {}).get(bare)):
        return grid(sides, bytes)
    if library == "ompi" and (maker := OPEN_MPI.get((collective, bare))):
        return maker(ranks, bytes)
    maker = STANDARD.get(collective, {}).get(bare)
    return maker(ranks, bytes) if maker else None
