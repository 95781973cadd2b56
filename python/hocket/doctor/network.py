"""The network file, what would be planned for it, and plans made before."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from hocket import _core
from hocket.demand.collectives import PLANNED_FOR_JOBS
from hocket.doctor.case import Case
from hocket.doctor.finding import Finding, note, ok, problem
from hocket.doctor.paths import check_paths
from hocket.launch.environment import read_plan, run_demand
from hocket.network import read_known_network
from hocket.network.chosen import job_hosts


def check_network(case: Case) -> Iterator[Finding]:
    if case.network_file is None:
        if not case.plans:
            yield note("network", "no network was given; network and placement were not checked",
                       "give one: --network FILE")  # fmt: skip
        return
    known = read_known_network(case.network_file, case.defaults, job_hosts(case.environment, case.hostfile))
    network = case.network = known.network
    hosts = sum(1 for ranks in network.ranks_per_node if ranks)
    yield ok("network", f"{case.network_file}: {hosts} hosts for {network.ranks} ranks")
    for warning in known.warnings:
        yield note("network", warning)
    if known.host_rates.provenance != "none":
        yield (note if known.host_rates.assumed else ok)("network", known.host_rates.text)
    if known.uplinks.assumed:
        yield note("network", known.uplinks.text)
    elif known.uplinks.switch_links:
        yield ok("network", known.uplinks.text)
    if (paths := known.description.paths) is not None:
        yield from check_paths(known.without_paths().network, paths, datetime.datetime.now(datetime.UTC))
    if network.ranks > _core.MOST_RANKS_PLANNED_FOR_RUN:
        yield note(
            "network",
            f"with more than {_core.MOST_RANKS_PLANNED_FOR_RUN} ranks, each communicator plans what it uses",
        )
        return
    for pattern in PLANNED_FOR_JOBS:
        demand = run_demand(network, pattern)
        try:
            yield ok("network", f"{pattern}: algorithm {_core.plan_exchange(network, demand).algorithm.name}")
        except _core.InputError as error:
            yield note("network", f"{pattern}: the MPI library serves it: {error}")


def check_plans(case: Case) -> Iterator[Finding]:
    for path in case.plans:
        plan = read_plan(path)
        planned = plan.build_network()
        if case.network is None:
            case.network = planned
        elif planned.names != case.network.names or planned.ranks_per_node != case.network.ranks_per_node:
            yield problem("plan", f"{path} was made for other hosts than the network's",
                          "plan again: hocket plan --network FILE -o PLAN")  # fmt: skip
            continue
        yield ok("plan", f"{path}: {plan.header.demand.pattern} of {planned.ranks} ranks")
