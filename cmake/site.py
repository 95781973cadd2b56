"""Prepares the documentation site: build/site-source holds the pages and every file that they lead to; man pages.

site.py SOURCE MAN: SOURCE is written anew, MAN gets a man page of each command.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")
# What generators add to pages; in a terminal, 'hocket help' and '--help' show the same without them.
ADDED = {
    "docs/commands.md": """
::: mkdocs-click
    :module: hocket.cli
    :command: cli
    :prog_name: hocket
    :depth: 2

::: mkdocs-click
    :module: hocket.cli.sort
    :command: sort
    :prog_name: hocket-sort
    :depth: 2
""",
    "docs/c-and-python.md": "\n## Python reference\n\n::: hocket.planning.api\n\n::: hocket.planning.network.Network\n",
}


def reached(begin: Path) -> set[Path]:
    """Files of the repository that the page leads to by links, itself among them."""
    found: set[Path] = set()
    left = [begin]
    while left:
        page = left.pop()
        if page in found or not page.is_file() or ROOT not in page.parents:
            continue
        found.add(page)
        if page.suffix == ".md":
            text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
            left += [(page.parent / link).resolve() for link in LINK.findall(text) if ":" not in link]
    return found


def stage(source: Path) -> None:
    shutil.rmtree(source, ignore_errors=True)
    for path in reached(ROOT / "README.md"):
        name = path.relative_to(ROOT)
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        if name.as_posix() in ADDED:
            (source / name).write_text(path.read_text() + ADDED[name.as_posix()])
        else:
            shutil.copy(path, source / name)


def man_pages(folder: Path) -> None:
    import click
    from click_man.core import write_man_pages

    from hocket import __version__
    from hocket.cli import cli

    context = click.Context(cli)
    cli.commands = {
        name: command for name in cli.list_commands(context) if (command := cli.get_command(context, name))
    }
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_man_pages("hocket", cli, version=__version__, target_dir=str(folder))


if __name__ == "__main__":
    stage(Path(sys.argv[1]))
    man_pages(Path(sys.argv[2]))
