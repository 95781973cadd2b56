"""The documentation that comes with the package: one topic per page."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from hocket.errors import HocketError, UsageError
from hocket.launch.runtime.build import native_dir


def pages() -> dict[str, Path]:
    """The Markdown file of each topic, by name. Raises HocketError if the installation has none."""
    folder = _folder()
    found = {path.stem: path for path in sorted(folder.glob("*.md"))}
    if not found:
        raise HocketError(
            f"{folder} has no documentation", remedy="install it again: pip install --force-reinstall hocket"
        )
    return found


def _folder() -> Path:
    """Pages come with the package; an editable install reads those of its sources, so they are never old."""
    sources = Path(__file__).parents[4]
    return sources / "docs" if (sources / "pyproject.toml").is_file() else native_dir().parent / "docs"


def title(page: Path) -> str:
    """Title of a page, from its first line."""
    with page.open(encoding="utf-8") as lines:
        return lines.readline().lstrip("# ").strip()


def page_of(topic: str, others: tuple[str, ...] = ()) -> Path | None:
    """The page of a topic, which may be given as a file (``docs/networks.md``); None if it is in ``others``.

    Raises UsageError, with what may be meant, where it is neither.
    """
    known = pages()
    name = topic.removeprefix("docs/").removesuffix(".md").lower()
    if name in known:
        return known[name]
    if name in others:
        return None
    close = get_close_matches(name, [*known, *others], n=2)
    raise UsageError(
        f"there is no topic '{topic[:60]}'",
        remedy=f"did you mean {' or '.join(close)}?" if close else "'hocket help' lists them",
    )
