"""Orders of a job's ranks in which its calls load the wires least.

:func:`order_job` asks the core (``core/order``) for one; ``formats`` writes it for whoever starts the ranks,
``gains`` tells what it gains, and whether a job that is there could do better.
"""

from __future__ import annotations

from hocket.order.hosts import JobHosts, listed_job, slurm_job, whole_network
from hocket.order.job import DEFAULT_CALLS, Ordered, Wanted, order_job, parse_wanted

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
