"""``hocket export``: a plan as C source, or in the words of other engines."""

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from hocket import _core
from hocket.cli._shared.commands import Choice, command, option
from hocket.cli._shared.options import flow_option, load_plan, output_option
from hocket.cli._shared.work import (
    check_writable,
    json_option,
    tell,
    wants_json,
    with_spinner,
    write_atomically,
)
from hocket.errors import UsageError
from hocket.export import FORMATS
from hocket.export.c_source import exchange_of, routine_options, routine_source
from hocket.export.transfers import transfers_of
from hocket.system.files import as_error, make_folders

C: Final = "c"
_SUMMARIES: Final = {C: "a C routine that needs nothing but MPI"} | {
    name: form.summary for name, form in FORMATS.items()
}


@command("hocket export plan.hkt --to c -o alltoall.c", "hocket export plan.hkt --to goal -o plan.goal")
@option("--to", f"Format. {' '.join(f'{name}: {summary}.' for name, summary in _SUMMARIES.items())}", "form",
        type=Choice(list(_SUMMARIES)), required=True)  # fmt: skip
@click.argument("path", metavar="PLAN")
@output_option("FILE", "File to write; - is standard output.", required=True)
@option("--function-name NAME",
        "With --to c: name of the routine. MPI's name replaces the library's routine; another name, such as "
        "hocket_alltoall, stands beside it.  [default: MPI's name]")  # fmt: skip
@flow_option("With --to c: flow control between messages.  [default: as planned]")
@json_option
def export(form: str, path: str, output: str, function_name: str | None, flow: str | None) -> None:
    """Write PLAN as C source, or in the format of a simulator or of a GPU library.

    A C routine serves every size of message. A trace of SMPI takes several files: FILE lists those in FILE_files."""
    to_stdout = output == "-"
    if to_stdout and wants_json():
        raise UsageError(
            "--json and the export would both go to standard output", remedy="name a file: -o FILE"
        )
    if form != C:
        for option, value in (("--function-name", function_name), ("--flow", flow)):
            if value is not None:
                raise UsageError(f"{option} is for --to c", remedy="leave it out")
    check_writable(None if to_stdout else output)
    read = load_plan(path)
    if form == C:
        files, report, told = _routine(read, path, output, function_name, flow)
    else:
        files, report, told = _transfers(read, form, output)
    if to_stdout:
        if len(files) > 1:
            raise UsageError(f"{form} takes {len(files)} files", remedy="name the first: -o FILE")
        for text in files[output]:
            click.echo(text, nl=False)
        return
    # The file that names the others comes last: it never names what is not there yet.
    for name in reversed(files):
        folder = Path(name).parent
        with as_error(f"cannot write {folder}", "choose another place"):
            make_folders(folder)
        with_spinner(f"writing {name}", partial(write_atomically, name, files[name]))
    more = f" and {len(files) - 1} files in {output}_files" if len(files) > 1 else ""
    tell(
        {"plan": path, "format": form, **report, "files": list(files)},
        lambda: [f"wrote {output}{more}: {told}"],
    )


_Made = tuple[dict[str, Iterable[str]], Mapping[str, Any], str]  # files, what JSON says of them, and text


def _routine(plan: _core.Plan, path: str, output: str, function: str | None, flow: str | None) -> _Made:
    options = routine_options(plan, function, flow)
    planned = with_spinner("verifying", lambda: exchange_of(plan, options))
    text = with_spinner("writing C", lambda: routine_source(planned, path, options))
    report = {"messages": len(planned.schedule), "function": options.function, "flow": options.flow}
    told = (
        f"{options.function} for {planned.network.ranks} ranks, {planned.schedule.phases} phases "
        f"(bound {planned.bound_phases}), {options.flow}"
    )
    return {output: [text]}, report | {"phases": planned.schedule.phases}, told


def _transfers(plan: _core.Plan, form: str, output: str) -> _Made:
    transfers = with_spinner("reading the transfers", lambda: transfers_of(plan))
    files = with_spinner(f"exporting to {form}", lambda: FORMATS[form].files(transfers, output))
    messages = len(transfers.transfers)
    return files, {"messages": messages}, f"{messages} messages of {transfers.ranks} ranks"
