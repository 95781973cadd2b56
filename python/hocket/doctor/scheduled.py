"""The probe's all-to-all under the preload library: scheduled, and every byte right."""

from __future__ import annotations

from collections.abc import Iterator

from hocket import _core
from hocket.doctor.case import Case
from hocket.doctor.finding import Finding, note, ok, problem
from hocket.doctor.start import rank_count, ranks_in, start
from hocket.doctor.variables import ENABLE
from hocket.launch.environment import RuntimeOptions, is_disabled, scheduled_environment
from hocket.network import read_network


def check_scheduled(case: Case) -> Iterator[Finding]:
    """Check that an exchange is scheduled. Without a network, one is invented with a host for each rank."""
    if case.mpi is None or case.probe is None or case.runtime is None:
        return
    if is_disabled(case.environment):
        yield note("scheduled", "no call was scheduled, because HOCKET_DISABLE=1 is set", ENABLE)
        return
    count = rank_count(case)
    invented = case.network is None
    network = read_network(f"star:{max(count, 2)}") if case.network is None else case.network
    options = RuntimeOptions(placement="order" if invented else case.placement, min_bytes=1, log=1)
    variables = scheduled_environment(case.mpi.mpicc, network, options, case.plans, count)
    done = start(case, variables, case.probe)
    told = ranks_in(done.stdout)
    said = [line.removeprefix("hocket: ") for line in done.stderr.splitlines() if line.startswith("hocket: ")]
    if len(told) != count or not all(rank.right for rank in told):
        yield problem(
            "scheduled",
            "with Hocket the probe's all-to-all delivers wrong bytes",
            "do not use Hocket with this MPI, and report this with what 'hocket doctor --json' prints",
        )
        return
    on = " on an invented network" if invented else ""
    for line in said:
        if line.startswith("all-to-all of "):
            yield ok("scheduled", f"{line}{on}, every byte right")
            return
    told_before = _core.wrong_variables([f"{name}={value}" for name, value in case.environment.items()])
    reasons = [line for line in said if line not in told_before]
    if reasons:
        yield problem("scheduled", f"the MPI library served the all-to-all: {reasons[0]}",
                      "follow the advice of this line and those above")  # fmt: skip
    elif count < 3:
        yield note(
            "scheduled", "with fewer than three ranks there is nothing to schedule", "give more: -n RANKS"
        )
    elif case.placement == "names" and len({rank.name for rank in told}) == 1:
        yield note("scheduled", "all ranks are on one host, so there was nothing to schedule",
                   "start them on several: --hostfile FILE")  # fmt: skip
    else:
        yield problem(
            "scheduled",
            "the MPI library served the all-to-all, and the preload library said nothing",
            "check that the launcher hands LD_PRELOAD to its ranks",
        )
