"""``hocket calibrate``: what this machine's parts cost, measured once and used from then on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from hocket.cli._shared.commands import Group
from hocket.cli._shared.launching import check_ranks_here, mpi_option
from hocket.cli._shared.options import memory_option, output_option, ranks_option
from hocket.cli._shared.request import parse_size
from hocket.cli._shared.usage import Whole
from hocket.cli._shared.work import (
    as_columns,
    check_writable,
    json_option,
    progress_of,
    tell,
    wants_json,
    write_atomically,
)
from hocket.cli.calibrate_network import network, quick_option, show_option

if TYPE_CHECKING:
    from hocket import _core

LEAST_MEMORY: Final = 1 << 20


@click.group(
    cls=Group,
    examples=("hocket calibrate memory --quick", "hocket calibrate network -n 32 --hostfile hosts"),
)
def calibrate() -> None:
    """Measure the costs of memory and of messages, which predictions use."""


calibrate.add_command(network)


@calibrate.command(
    examples=("hocket calibrate memory", "hocket calibrate memory --show --evaluate 'wC1 o 1S0'")
)
@ranks_option("one for each core", least=2)
@output_option("FILE", "File for the profile.  [default: the one in the user's cache]")
@quick_option(30)
@memory_option("Memory that each rank works on.  [default: by what is free]")
@mpi_option
@show_option("profile", "the one in use")
@click.option(
    "--evaluate", metavar="COMPOSITION", help="Also print the rate of this composition, such as 'wC1 o 1S0'."
)
@click.option(
    "--width",
    type=Whole(1, 1 << 20),
    default=8,
    show_default=True,
    metavar="BYTES",
    help="Size of an element in the table.",
)
@json_option
def memory(
    ranks: int | None,
    output: str | None,
    quick: bool,
    memory_size: str | None,
    mpi_name: str | None,
    show: str | None,
    evaluate: str | None,
    width: int,
) -> None:
    """Measure memory and messages: the basic transfers of the copy-transfer model.

    All ranks of this host measure at the same time. Permuting and sorting choose their methods by the result.
    """  # fmt: skip
    from hocket.measure.memory.basic import composed, transfers

    if evaluate is not None:
        composed(evaluate)  # say what is wrong with it before the long work
    if show is not None:
        from hocket.costs.memory import read_profile

        profile, where = read_profile(show or None), None
    else:
        profile, where = _measure(ranks, output, quick, memory_size, mpi_name)
    figures = transfers(profile, width)
    rate = None if evaluate is None else composed(evaluate, figures)
    report = {"origin": profile.origin, "width": width, "transfers": figures, "profile": where}
    if rate is not None:
        report["evaluated"] = rate
    evaluated = [] if rate is None else [f"{evaluate} = {rate:.4g} MB/s"]
    tell(report, lambda: [profile.origin, *_transfers(figures, width), *evaluated], indent=2)
    if where is not None and not wants_json():
        click.echo(f"wrote {where}", err=True)


def _measure(
    ranks: int | None, output: str | None, quick: bool, size: str | None, mpi_name: str | None
) -> tuple[_core.memory.Profile, str]:
    from hocket.costs.memory import kept_path
    from hocket.errors import UsageError
    from hocket.launch.mpi import find_mpi
    from hocket.measure.memory.calibrate import DIFFER, cores, made_slower, usable_memory
    from hocket.measure.memory.calibrate import calibrate as measure

    check_writable(output)
    check_ranks_here(ranks, None, instead="")
    ranks = ranks or max(cores(), 2)
    usable = usable_memory(ranks, quick)
    memory = usable if size is None else parse_size(size, option="--memory")
    if memory < LEAST_MEMORY or memory > 4 * usable:
        raise UsageError(f"{memory} bytes per rank are too few or too many to measure with",
                         remedy=f"give from 1MiB to {4 * usable >> 20}MiB, or leave it out")  # fmt: skip
    path = output or str(kept_path())
    mpi = find_mpi(mpi_name)
    with progress_of() as report:
        profile = measure(mpi, ranks, memory, quick, report)
    write_atomically(path, [profile.text()])
    again = "calibrate again when nothing else runs"
    if DIFFER in profile.origin:
        click.echo(f"hocket: warning: many figures {DIFFER}; {again}", err=True)
    for sort, ratio in made_slower(mpi, ranks, memory, path).items():
        click.echo(
            f"hocket: warning: sorting {sort} keys takes {ratio:.1f} times as long by this profile as by the "
            f"built-in figures; {again}, or remove {path}",
            err=True,
        )
    return profile, path


def _transfers(figures: dict[str, float], width: int) -> list[str]:
    from hocket.measure.memory.basic import MEANINGS, WAYS, composed

    basic = [[name, MEANINGS[name], f"{rate:,.0f}"] for name, rate in figures.items()]
    ways = [[what, way, f"{composed(way, figures):,.0f}"] for what, way in WAYS.items()]
    return [
        as_columns(["transfer", f"elements of {width} bytes, out of the caches", "MB/s"], basic),
        "",
        as_columns(["operation", "composition", "MB/s"], ways),
    ]
