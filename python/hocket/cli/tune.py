"""``hocket tune``: what runs have learned about their calls."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, Final

import click

from hocket.cli._shared.commands import Group
from hocket.cli._shared.options import json_option
from hocket.cli._shared.work import as_columns, check_writable, write_atomically

if TYPE_CHECKING:
    from hocket.measure.tuning.kept import Choice

FORMATS: Final = ("openmpi", "openmpi-6", "mpich")

place_option = click.option(
    "--place", metavar="PLACE", help="Only places whose names begin with this.  [default: all]"
)


@click.group(cls=Group, examples=("hocket tune show", "hocket tune export --to openmpi -o rules"))
def tune() -> None:
    """Show, forget or export the timings that runs have kept.

    A run measures which way of serving a call is the fastest. It keeps the timings for later runs at the same place:
    the same network, hosts, ranks and MPI library.
    """  # fmt: skip


def _object(choice: Choice) -> dict[str, Any]:
    one = choice.timings
    candidates = [
        {
            "name": candidate.name,
            "calls": candidate.calls,
            "seconds": candidate.seconds,
            "spread": candidate.spread,
        }
        for candidate in one.candidates
    ]
    return {
        "place": one.place, "ranks": one.ranks, "hosts": one.hosts, "mpi": one.mpi, "call": one.call,
        "layout": one.layout, "least_bytes": choice.least, "most_bytes": choice.most, "winner": one.winner,
        "gain": choice.gain, "calls": choice.calls, "candidates": candidates,
    }  # fmt: skip


@tune.command(examples=("hocket tune show", "hocket tune show --json"))
@place_option
@json_option
def show(place: str | None, as_json: bool) -> None:
    """Show the fastest way for each call and size, and its gain over the MPI library."""
    from hocket.measure.tuning.kept import COLUMNS, choices
    from hocket.system.cache import choices_dir

    found = choices(place or "")
    if as_json:
        click.echo(
            json.dumps({"kept_in": str(choices_dir()), "choices": [_object(one) for one in found]}, indent=2)
        )
        return
    if not found:
        click.echo(f"nothing is kept in {choices_dir()}")
        return
    click.echo(as_columns(COLUMNS, [one.cells() for one in found]))


@tune.command(examples=("hocket tune clear --all", "hocket tune clear --place 3f2a"))
@place_option
@click.option("--all", "every", is_flag=True, help="Forget the timings of all places.")
def clear(place: str | None, every: bool) -> None:
    """Forget the timings of one place, or of all. The next runs measure again."""
    from hocket.errors import UsageError
    from hocket.measure.tuning.kept import forget

    if every == (place is not None):
        raise UsageError(
            "nothing says which places to forget, or both --place and --all do",
            remedy="hocket tune show lists all places",
        )
    removed = forget(place or "")
    click.echo(f"forgotten: {len(removed)} place{'' if len(removed) == 1 else 's'}")


@tune.command(
    examples=(
        "hocket tune export --to openmpi -o rules",
        "hocket tune export --to mpich --library /usr/lib/libmpi.so -o rules.json",
    )
)
@click.option("--to", "form", type=click.Choice(FORMATS), required=True,
              help="Library: openmpi (up to 5), openmpi-6 (JSON, from 6 on), or mpich (JSON).")  # fmt: skip
@place_option
@click.option(
    "--library", metavar="FILE", help="With mpich: its libmpi.so, which has the library's other decisions."
)
@click.option("-o", "--output", metavar="FILE", help="File for the rules.  [default: standard output]")
def export(form: str, place: str | None, library: str | None, output: str | None) -> None:
    """Write kept timings as tuning rules of the MPI library, for sites that may not load Hocket.

    Rules choose between the library's own algorithms. They cannot express Hocket's schedules. The command says how many
    choices it left out.

    \b
    mpirun --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename rules ...
    MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=rules.json mpiexec ...
    """  # fmt: skip
    from pathlib import Path

    from hocket.errors import UsageError
    from hocket.measure.tuning.kept import choices
    from hocket.measure.tuning.rules import Mpich, mpich_json, openmpi_classic, openmpi_json, rules

    check_writable(output)
    if form == "mpich" and library is None:
        raise UsageError("the file replaces all decisions of MPICH, so its own are needed",
                         remedy="name its libmpi.so: --library FILE")  # fmt: skip
    if form != "mpich" and library is not None:
        raise UsageError("--library is for --to mpich", remedy="leave it out")
    made, needless, unsayable = rules(choices(place or ""))
    if library is not None:
        text = mpich_json(made, Mpich.of(Path(library)))
    else:
        text = openmpi_classic(made) if form == "openmpi" else openmpi_json(made)
    if output is None:
        click.echo(text, nl=False)
    else:
        write_atomically(output, [text])
    sys.stdout.flush()
    click.echo(
        f"rules: {len(made)}; choices without a rule, as the library's own decision is the fastest: {len(needless)}; "
        f"choices that rules cannot express: {len(unsayable)} (Hocket's schedules need 'hocket run' or 'hocket env')",
        err=True,
    )
