"""Orders of a job's ranks in which its calls load the wires least.

:func:`order_job` asks the core (``core/order``) for one; ``formats`` writes it for whoever starts the ranks, ``gains``
tells what it gains, and whether a job that is there could do better."""

from hocket.order.job import (
    DEFAULT_CALLS,
    JobHosts,
    Ordered,
    Wanted,
    listed_job,
    order_job,
    parse_wanted,
    slurm_job,
    whole_network,
)

__all__ = [
    "DEFAULT_CALLS",
    "JobHosts",
    "Ordered",
    "Wanted",
    "listed_job",
    "order_job",
    "parse_wanted",
    "slurm_job",
    "whole_network",
]
