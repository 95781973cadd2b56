"""Help: its groups, examples, panels and defaults."""

from __future__ import annotations

import re

import click
import pytest

from bad_input import commands
from hocket.cli import COMMANDS, cli
from hocket.cli._shared.commands import FEW, OTHERS, PANELS, panel_of
from hocket.network import Defaults
from hocket.units import format_rate, format_time

GROUPS = {
    "Run": ["run", "env", "bench", "tune", "doctor"],
    "Plan": ["network", "plan", "verify", "simulate", "export", "record"],
    "More": ["report", "lab", "calibrate", "info", "help", "completion"],
}
EVERY = dict(commands())


def help_of(command: click.Command) -> str:
    with click.Context(command, info_name=command.name, terminal_width=120) as context:
        return command.get_help(context)


def test_groups_hold_every_command_once(hocket) -> None:
    found: dict[str, list[str]] = {}
    for line in hocket("--help").out.splitlines():
        if title := re.fullmatch(r"(\w+):", line):
            found[title[1]] = []
        elif name := re.match(r"  ([a-z]+)  ", line):
            found[list(found)[-1]].append(name[1])
    shown = {group: found[group] for group in GROUPS}
    assert sorted(name for names in shown.values() for name in names) == sorted(COMMANDS)
    assert {
        group: [name for name in names if name in shown[group]] for group, names in GROUPS.items()
    } == GROUPS
    assert len(COMMANDS) <= 18


@pytest.mark.parametrize("name", EVERY)
def test_help_begins_with_two_examples(name: str) -> None:
    lines = help_of(EVERY[name]).splitlines()
    begin = lines.index("Examples:")
    assert all(not line or line.startswith(("Usage:", " ")) for line in lines[:begin])
    first, second = lines[begin + 1 : begin + 3]
    program = "hocket-sort" if name == "hocket-sort" else f"hocket {name.split()[0]}"
    assert first != second and all(example.startswith("  ") for example in (first, second))
    assert program in first + second and lines[begin + 3] == ""


def test_groups_of_commands_have_examples() -> None:
    context = click.Context(cli)
    for name in ("network", "plan", "bench", "tune", "lab", "calibrate"):
        group = cli.get_command(context, name)
        assert group is not None and len(group.examples) == 2
    assert len(cli.examples) == 2


@pytest.mark.parametrize("name", EVERY)
def test_many_options_are_in_panels(name: str) -> None:
    command = EVERY[name]
    text, options = help_of(command), command.get_params(click.Context(command))
    titles = re.findall(r"^(\w+):$", text, re.MULTILINE)
    if len(options) <= FEW:
        assert titles == ["Examples", "Options"]
        return
    assert titles == ["Examples", *(panel for panel in (*PANELS, OTHERS) if panel in titles)]
    shown = [option for option in options if isinstance(option, click.Option)]
    assert set(titles[1:]) == {panel_of(option) for option in shown}


def test_simulate_has_its_panels() -> None:
    titles = re.findall(r"^(\w+):$", help_of(EVERY["simulate"]), re.MULTILINE)
    assert titles == ["Examples", "Exchange", "Schedule", "Network", "Costs", "Output", "Others"]


def test_an_option_is_in_one_panel() -> None:
    names = [name for names in PANELS.values() for name in names]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", EVERY)
def test_defaults_are_shown_as_values(name: str) -> None:
    command = EVERY[name]
    context = click.Context(command)
    for option in command.get_params(context):
        record = option.get_help_record(context)
        if record is None or not isinstance(option, click.Option):
            continue
        text = record[1]
        assert text and re.search(r"\.( *\[|$)", text), (option.opts, text)
        default = option.get_default(context)
        if not option.is_flag and not option.count and isinstance(default, (str, int, float)):
            assert re.search(rf"\[.*default: {re.escape(str(default))}\b", text), (option.opts, text)
        for bracket in re.findall(r"(?<!\w)\[(.*?)\]", text):
            assert "default: " in bracket or bracket.startswith(("x", "env", "required")) or "=" in bracket, (
                text
            )


@pytest.mark.parametrize("name", ["plan all-to-all", "simulate", "run", "network show"])
def test_defaults_of_networks_are_the_readers(name: str) -> None:
    text, usual = " ".join(help_of(EVERY[name]).split()), Defaults()
    rate, latency = (
        value.replace(" ", "") for value in (format_rate(usual.rate), format_time(usual.latency))
    )
    assert f"Rate of links that state none. [default: {rate.removesuffix('/s')}]" in text
    assert f"Latency of links that state none. [default: {latency}]" in text
    assert f"Ranks per host where the network states none. [default: {usual.ranks}]" in text


def test_the_per_message_cost_has_one_default(hocket, tmp_path) -> None:
    """A simulation takes the cost that its plan was made for: without and with a root."""
    for collective, alpha in (("all-to-all", 0), ("all-gather", 0), ("broadcast", 5e-5), ("gather", 5e-5)):
        plan = tmp_path / "p.hkt"
        planned = hocket("plan", collective, "--network", "star:5", "-o", plan, "--json").object()
        simulated = hocket("simulate", plan, "--network", "star:5", "--json").object()
        assert planned["alpha"] == alpha
        assert simulated["predicted_seconds"] == pytest.approx(planned["predicted_seconds"]), collective
        assert simulated["bound_seconds"] == pytest.approx(planned["bound_seconds"]), collective
