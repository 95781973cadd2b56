"""Hocket's own communication does not show in the program's communicators."""

from __future__ import annotations

from collections.abc import Callable

from scheduled_calls import EVERYTHING

Check = Callable[..., str]


def test_messages_attributes_names_and_handlers(check: Check) -> None:
    said = check("bystander", "chain:2,2", 4, env=EVERYTHING)
    assert said.count("all-to-all of 4 ranks on 4 hosts") >= 4, said


def test_more_communicators_than_hocket_takes(check: Check) -> None:
    """MPI has few, MPICH 2,046: beyond some, the MPI library serves the program's, on all ranks alike."""
    said = check("held_comms 1950 4 90", "chain:2,1", 3, env=EVERYTHING)
    assert 50 <= said.count("all-gather of 3 ranks on 3 hosts") < 90, said
