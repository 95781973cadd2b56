"""``hocket report``: a page for the browser."""

import datetime
from functools import partial
from pathlib import Path

import click

from hocket.cli._shared.commands import command, option
from hocket.cli._shared.options import defaults_options, output_option
from hocket.cli._shared.request import bytes_option, parse_size
from hocket.cli._shared.work import (
    check_writable,
    json_option,
    tell,
    wants_json,
    with_spinner,
    write_atomically,
)
from hocket.errors import UsageError
from hocket.network import Defaults


@command(
    "hocket report plan.hkt calls.json -o page.html",
    "hocket report tree:4x8 times.csv --title 'Before the upgrade' -o page.html",
)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@output_option("FILE.html", "File to write; - is standard output.", required=True)
@option("--title TEXT", "Title of the page.  [default: the names of the files]")
@bytes_option("Message size of the all-to-all that loads the links of a network.")
@defaults_options
@json_option
def report(files: tuple[str, ...], output: str, title: str | None, size: str, defaults: Defaults) -> None:
    """Write one HTML page about FILES. The page needs no other file and no connection.

    Each FILE is a plan, a network (or a short form such as tree:4x8), a report of 'hocket run --report=FILE.json',
    learned timings (see 'hocket tune show'), or a CSV table of 'hocket bench'. Hocket recognises its kind by its
    content.
    """  # fmt: skip
    from hocket.report.html import page
    from hocket.report.recognise import sections_of

    if output == "-" and wants_json():
        raise UsageError(
            "--json and the page would both go to standard output", remedy="name a file: -o FILE.html"
        )
    bytes = parse_size(size)
    check_writable(None if output == "-" else output)
    sections = []
    for path in files:
        sections += with_spinner(
            f"drawing {path}", partial(lambda path: list(sections_of(path, defaults, bytes)), path)
        )
    names = ", ".join(Path(path).name for path in files[:3]) + (
        f" and {len(files) - 3} more" if len(files) > 3 else ""
    )
    made = f"Made on {datetime.date.today().isoformat()} of {', '.join(files)}."
    text = with_spinner("writing the page", lambda: page(title or names, made, sections))
    if output == "-":
        click.echo(text)
        return
    data = text.encode(errors="backslashreplace")
    write_atomically(output, [data])
    told = [section.title for section in sections if section.level == 1]
    tell(
        {"output": output, "bytes": len(data), "files": list(files), "sections": told},
        lambda: [f"wrote {output}: {len(sections)} sections, {len(data) / 1e6:.1f} MB; open it in a browser"],
    )
