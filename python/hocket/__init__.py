"""Hocket: schedules for collective exchanges.

Planning, on any machine: ``hocket.plan(network, demand)`` schedules an exchange on a ``hocket.Network``,
``hocket.verify`` proves the ``hocket.Plan``, ``hocket.simulate`` predicts it (hocket help c-and-python).

With mpi4py: ``hocket.Exchange`` runs irregular exchanges, ``hocket.sort`` sorts distributed arrays, ``hocket.permute``
and its sisters move their elements.

Errors that a caller can cause are a ``hocket.HocketError``."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

__all__ = [
    "EVERYONE",
    "DemandError",
    "Exchange",
    "HocketError",
    "Network",
    "NetworkError",
    "Plan",
    "PlanError",
    "UsageError",
    "__version__",
    "empty",
    "grouped_permute",
    "permute",
    "plan",
    "send_elements",
    "simulate",
    "sort",
    "sort_report",
    "take",
    "transpose",
    "verify",
]

if TYPE_CHECKING:
    from hocket.errors import DemandError, HocketError, NetworkError, PlanError, UsageError
    from hocket.launch.runtime.exchange import Exchange
    from hocket.planning.api import EVERYONE, Plan, plan, simulate, verify
    from hocket.planning.network import Network
    from hocket.sorting.elements import empty, grouped_permute, permute, send_elements, take, transpose
    from hocket.sorting.sort import sort, sort_report

    __version__: str
else:
    _HOMES = dict.fromkeys(["EVERYONE", "Plan", "plan", "simulate", "verify"], "planning.api")
    _HOMES |= {"Network": "planning.network"}
    _HOMES |= dict.fromkeys(
        ["DemandError", "HocketError", "NetworkError", "PlanError", "UsageError"], "errors"
    )
    _HOMES |= dict.fromkeys(
        ["empty", "grouped_permute", "permute", "send_elements", "take", "transpose"], "sorting.elements"
    )
    _HOMES |= {"sort": "sorting.sort", "sort_report": "sorting.sort", "Exchange": "launch.runtime.exchange"}

    def __getattr__(name: str) -> object:
        """Imports it when it is first used: it needs what the command line does not."""
        if name in _HOMES:
            return getattr(importlib.import_module(f"hocket.{_HOMES[name]}"), name)
        if name == "__version__":
            from importlib.metadata import version

            return version("hocket")
        raise AttributeError(f"module 'hocket' has no attribute '{name}'")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
