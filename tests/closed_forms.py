"""Checks of every all-to-all in closed form."""

from __future__ import annotations

from hocket import _core


def check(network: _core.Network, algorithm: str) -> None:
    """Proven as a whole; every program is that of the whole by the rule of waits; a sample finds nothing."""
    demand = _core.Demand(network.ranks, 64)
    planned = _core.plan_exchange(network, demand, 1, algorithm)
    certificate = _core.verify(network, demand, planned.schedule)
    waits = _core.local_waits(network, planned.schedule)
    _core.verify_waits(network, planned.schedule, waits, certificate)
    assert certificate.ok and certificate.contention_free and certificate.complete
    form = _core.ClosedForm(network, demand, algorithm)
    assert (form.algorithm, form.phases) == (algorithm, planned.schedule.phases)
    for rank, program in enumerate(planned.schedule.programs(waits)):
        assert form.program(rank) == program
    sample = form.verify_sample(40, 1)
    assert sample.ok, sample.findings
