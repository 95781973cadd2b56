"""``hocket export``: a plan in the words of other engines."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import click

from hocket.cli._shared.options import json_option, load_plan
from hocket.cli._shared.work import check_writable, with_spinner, write_atomically
from hocket.errors import HocketError, UsageError
from hocket.export.registry import FORMATS
from hocket.system.files import make_folders


@click.command()
@click.option("--to", "form", type=click.Choice(list(FORMATS)), required=True,
              help="; ".join(f"{name}: {form.summary}" for name, form in FORMATS.items()) + ".")  # fmt: skip
@click.argument("path", metavar="PLAN")
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to write; - is standard output.")
@json_option
def export(form: str, path: str, output: str, as_json: bool) -> None:
    """Write PLAN in the format of another engine: a simulator, or a runtime of GPUs.

    A trace of SMPI takes several files: FILE lists those in FILE_files.
    """
    from hocket.export.transfers import transfers_of

    to_stdout = output == "-"
    if to_stdout and as_json:
        raise UsageError(
            "--json and the export would both go to standard output", remedy="name a file: -o FILE"
        )
    check_writable(None if to_stdout else output)
    read = load_plan(path, as_json)
    plan = with_spinner("reading the transfers", lambda: transfers_of(read), as_json)
    files = with_spinner(f"exporting to {form}", lambda: FORMATS[form].files(plan, output), as_json)
    if to_stdout:
        if len(files) > 1:
            raise UsageError(f"{form} takes {len(files)} files", remedy="name the first: -o FILE")
        for text in files[output]:
            click.echo(text, nl=False)
        return
    # The file that names the others comes last: it never names what is not there yet.
    for name in reversed(files):
        _make_folder(Path(name).parent)
        with_spinner(f"writing {name}", partial(write_atomically, name, files[name]), as_json)
    if as_json:
        report = {"plan": path, "format": form, "messages": len(plan.transfers), "files": list(files)}
        click.echo(json.dumps(report))
        return
    more = f" and {len(files) - 1} files in {output}_files" if len(files) > 1 else ""
    click.echo(f"wrote {output}{more}: {len(plan.transfers)} messages of {plan.ranks} ranks")


def _make_folder(folder: Path) -> None:
    try:
        make_folders(folder)
    except OSError as error:
        raise HocketError(f"cannot write {folder}: {error.strerror}", remedy="choose another place") from None
