"""Irregular demands from files: how many bytes each rank sends to each other one.

:func:`read_traffic` gives what a file says, :func:`read_demand` the demand of the core."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hocket.demand.traffic import Source, Traffic, load

if TYPE_CHECKING:
    from hocket._core import Demand

__all__ = ["Source", "Traffic", "read_demand", "read_traffic"]


def read_traffic(path: str) -> Traffic:
    """Read a file of traffic; ``FILE:CALL`` names one call of recorded traffic.

    Raises :class:`hocket.errors.DemandError`, and nothing else, when the file is none."""
    from hocket.demand.registry import find  # with numpy, which launching a job does without

    source = load(path)
    return find(source).read(source)


def read_demand(path: str, ranks: int) -> Demand:
    """The irregular demand of a network of ``ranks`` ranks; a file for another number is refused."""
    traffic = read_traffic(path)
    traffic.check_ranks(ranks, path)
    return traffic.demand()
