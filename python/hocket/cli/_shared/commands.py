"""Commands as users meet them: examples first, many options in panels, collectives by any of their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    _Choice = click.Choice[str]
else:
    _Choice = click.Choice  # generic from click 8.2 on

FEW: Final = 10  # options that one list shows well
# Panels of commands with more options, in this order. An option that stands in none is among the last, the others.
PANELS: Final = {
    "Exchange": (
        *("--pattern", "--for", "--bytes", "--contributions", "--demand", "--root", "--sizes", "--density", "--time"),
    ),
    "Schedule": (
        *("--algorithm", "--flow", "--window", "--seed", "--two-level", "--compare", "--plan", "--placement"),
        *("--choose", "--min-bytes", "--candidates", "--native"),
    ),
    "Network": (
        *("--network", "--rate", "--latency", "--ranks-per-host", "--oversubscription", "--uplink-rate"),
        *("--forwarding", "--lids", "--topology", "--buffer", "--cc", "--mtu", "--id"),
    ),
    "Costs": ("--alpha", "--token-cost", "--barrier-cost", "--overhead", "--calibration"),
    "Ranks": (
        *("-n", "--mpi", "--abi", "--program", "--hosts", "--hostfile", "--shuffle", "--distribution", "--order"),
        *("--slurm", "--timeout"),
    ),
    "Output": (
        *("--format", "--explain", "--output", "--dump", "--rank", "--plot", "--csv", "--report", "--json"),
        "--verbose",
    ),
}  # fmt: skip
OTHERS: Final = "Others"
_PANEL_OF: Final = {name: panel for panel, names in PANELS.items() for name in names}


class _WithExamples(click.Command):
    """Command line whose help shows how it is called before it says what it does."""

    def __init__(self, *given: Any, examples: tuple[str, ...] = (), **more: Any) -> None:
        super().__init__(*given, **more)
        self.examples = examples
        # Lists of commands and man pages have the whole first sentence; click would cut it after 45 characters.
        self.short_help = self.short_help or self.get_short_help_str(limit=1000)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Examples"):
            for example in self.examples:
                formatter.write(f"{'':{formatter.current_indent}}{example}\n")
        super().format_help_text(ctx, formatter)


class Command(_WithExamples):
    """Command with examples, whose options are shown in panels where there are many."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        parameters = self.get_params(ctx)
        shown: dict[str, list[tuple[str, str]]] = {panel: [] for panel in (*PANELS, OTHERS, "Options")}
        for parameter in parameters:
            record = parameter.get_help_record(ctx)
            if record is not None and record[1]:  # arguments are in the line of usage
                panel = "Options" if len(parameters) <= FEW else panel_of(parameter)
                shown[panel].append(record)
        for panel, records in shown.items():
            if records:
                with formatter.section(panel):
                    formatter.write_dl(records)


class Group(_WithExamples, click.Group):
    """Commands under one name."""

    command_class = Command


class Collectives(Group):
    """Commands that are named by collectives, and called by any name of theirs (``alltoall``, ``MPI_Alltoall``)."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from hocket.demand.collectives import spelled

        return super().get_command(ctx, spelled(cmd_name))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from hocket.demand.collectives import spelled

        return super().resolve_command(ctx, [spelled(args[0]), *args[1:]])


class CollectiveName(_Choice):
    """One of some collectives, by any of its names; the value is the one spelling."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from hocket.demand.collectives import spelled

        return super().convert(spelled(value) if isinstance(value, str) else value, param, ctx)


def panel_of(parameter: click.Parameter) -> str:
    """The panel in which an option is shown."""
    return next((_PANEL_OF[name] for name in parameter.opts if name in _PANEL_OF), OTHERS)
