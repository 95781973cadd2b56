"""``--plot KIND=FILE``: the pictures that a command draws."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click

from hocket.cli._shared.usage import Decorator
from hocket.errors import UsageError

ENDINGS: Final = (".svg", ".png", ".pdf")


def plot_option(kinds: Mapping[str, str]) -> Decorator:
    """Option whose value is the pictures asked for, as tuples of kind and file. ``kinds``: what each shows."""

    def asked(_context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> Any:
        return tuple(_kind_and_file(text, kinds) for text in texts)

    def complete(_context: click.Context, _option: click.Parameter, incomplete: str) -> list[str]:
        return [f"{kind}=" for kind in kinds if kind.startswith(incomplete)]

    shown = "; ".join(f"{kind}: {meaning}" for kind, meaning in kinds.items())
    return click.option(
        "--plot", "plots", metavar="KIND=FILE", multiple=True, callback=asked, shell_complete=complete,
        help=f"Draw a picture, as .svg, .png or .pdf; may be given several times. {shown}.",
    )  # fmt: skip


def _kind_and_file(text: str, kinds: Mapping[str, str]) -> tuple[str, str]:
    kind, equals, file = text.partition("=")
    if not equals or kind not in kinds or not file:
        raise UsageError(
            f"--plot {text!r} is not KIND=FILE",
            remedy=f"give {' or '.join(f'{each}=FILE' for each in kinds)}",
        )
    if Path(file).suffix.lower() not in ENDINGS:
        raise UsageError(f"--plot {text} has no known ending", remedy=f"use one of {', '.join(ENDINGS)}")
    return kind, file
