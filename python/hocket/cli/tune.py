"""``hocket tune``: what runs have learned about their calls."""

from typing import Any

import click

from hocket.cli._shared.commands import group, option
from hocket.cli._shared.work import as_columns, json_option, tell
from hocket.errors import UsageError
from hocket.measure.kept import COLUMNS, Choice, choices, forget
from hocket.system.cache import choices_dir
from hocket.system.text import picked

place_option = option("--place PLACE", "Only places whose names begin with this.  [default: all]")


@group("hocket tune show", "hocket tune clear --all")
def tune() -> None:
    """Show or forget the timings that runs have kept.

    A run measures which way of serving a call is the fastest. It keeps the timings for later runs at the same place:
    the same network, hosts, ranks and MPI library.
    """  # fmt: skip


def _object(choice: Choice) -> dict[str, Any]:
    one = choice.timings
    return {
        **picked(one, "place", "ranks", "hosts", "mpi", "call", "layout"),
        "least_bytes": choice.least,
        "most_bytes": choice.most,
        "winner": one.winner,
        **picked(choice, "gain", "calls"),
        "candidates": [picked(each, "name", "calls", "seconds", "spread") for each in one.candidates],
    }


@tune.command(examples=("hocket tune show", "hocket tune show --json"))
@place_option
@json_option
def show(place: str | None) -> None:
    """Show the fastest way for each call and size, and its gain over the MPI library."""
    found = choices(place or "")
    report = {"kept_in": str(choices_dir()), "choices": [_object(one) for one in found]}
    text = (
        as_columns(COLUMNS, [one.cells() for one in found])
        if found
        else f"nothing is kept in {choices_dir()}"
    )
    tell(report, lambda: [text], indent=2)


@tune.command(examples=("hocket tune clear --all", "hocket tune clear --place 3f2a"))
@place_option
@option("--all", "Forget the timings of all places.", "every")
def clear(place: str | None, every: bool) -> None:
    """Forget the timings of one place, or of all. The next runs measure again."""
    if every == (place is not None):
        raise UsageError(
            "nothing says which places to forget, or both --place and --all do",
            remedy="hocket tune show lists all places",
        )
    removed = forget(place or "")
    click.echo(f"forgotten: {len(removed)} place{'' if len(removed) == 1 else 's'}")
