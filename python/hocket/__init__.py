"""Hocket: schedules for collective exchanges.

With mpi4py: ``hocket.Exchange`` runs irregular exchanges, ``hocket.sort`` sorts distributed arrays,
``hocket.permute`` and its sisters move their elements.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

__all__ = [
    "Exchange",
    "__version__",
    "empty",
    "grouped_permute",
    "permute",
    "send_elements",
    "sort",
    "sort_report",
    "take",
    "transpose",
]

if TYPE_CHECKING:
    from hocket.elements import empty, grouped_permute, permute, send_elements, take, transpose
    from hocket.exchange import Exchange
    from hocket.sorting import sort, sort_report

    __version__: str
else:
    _HOMES = {"Exchange": "exchange", "sort": "sorting", "sort_report": "sorting"} | dict.fromkeys(
        ["empty", "grouped_permute", "permute", "send_elements", "take", "transpose"], "elements"
    )

    def __getattr__(name: str) -> object:
        """Imports it when it is first used: it needs what the command line does not."""
        if name in _HOMES:
            return getattr(importlib.import_module(f"hocket.{_HOMES[name]}"), name)
        if name == "__version__":
            from importlib.metadata import version

            return version("hocket")
        raise AttributeError(f"module 'hocket' has no attribute '{name}'")
