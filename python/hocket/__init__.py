"""Hocket: schedules for collective exchanges. ``hocket.Exchange`` runs irregular ones with mpi4py."""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["Exchange"]

if TYPE_CHECKING:
    from hocket.exchange import Exchange
else:

    def __getattr__(name: str) -> object:
        """Imports it when it is first used: it needs what the command line does not."""
        if name == "Exchange":
            from hocket.exchange import Exchange

            return Exchange
        raise AttributeError(f"module 'hocket' has no attribute '{name}'")
