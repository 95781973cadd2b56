"""``hocket doctor``: looks at installation, MPI, network file and placement, and says what to do."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from hocket.doctor.case import Case, Finding, Level, problem_of
from hocket.doctor.installation import (
    check_cache,
    check_compiler,
    check_mpi,
    check_package,
    check_runtime,
    check_variables,
)
from hocket.doctor.network import check_network, check_order, check_plans
from hocket.doctor.ranks import check_launcher, check_placement, check_scheduled
from hocket.errors import HocketError

__all__ = ["Case", "Finding", "Level", "examine"]

# In this order: each may use what those before have found out.
CHECKS: Final[tuple[tuple[str, Callable[[Case], Iterator[Finding]]], ...]] = (
    ("hocket", check_package),
    ("environment", check_variables),
    ("cache", check_cache),
    ("mpi", check_mpi),
    ("compiler", check_compiler),
    ("network", check_network),
    ("plan", check_plans),
    ("launcher", check_launcher),
    ("runtime", check_runtime),
    ("placement", check_placement),
    ("order", check_order),
    ("scheduled", check_scheduled),
)


def examine(case: Case) -> Iterator[Finding]:
    """Yield the findings of all checks as they are made. A check that fails says why; the following ones still run."""
    for topic, check in CHECKS:
        try:
            for finding in check(case):
                yield finding if finding.topic else replace(finding, topic=topic)
        except HocketError as error:
            yield replace(problem_of(error), topic=topic)
