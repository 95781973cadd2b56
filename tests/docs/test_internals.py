"""The reader that docs/internals.md adds reads a network, and says where a file is wrong."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from hocket.errors import NetworkError
from hocket.network.parts import Defaults
from hocket.network.readers import registry
from hocket.network.source import Source

PAGE = (Path(__file__).parents[2] / "docs/internals.md").read_text()


def test_the_reader_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    source, line = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    cables: Any = type("cables", (), {})
    space: dict[str, Any] = {}
    exec(source, space)
    cables.sniff, cables.read = space["sniff"], space["read"]
    (added,) = eval(line, {"Reader": registry.Reader, "cables": cables})
    monkeypatch.setattr(registry, "READERS", (*registry.READERS, added))
    good = Source("site.cables", "s a\ns b  # a comment\n")
    network = registry.find(good).read(good, Defaults())
    assert [node.name for node in network.nodes if node.is_host] == ["a", "b"]
    network.build()
    with pytest.raises(NetworkError, match=r"site\.cables:2: names no host; write: switch host"):
        added.read(Source("site.cables", "s a\nb\n"), Defaults())
    twice = Source("site.cables", "s a\ns a\n")
    with pytest.raises(NetworkError, match=r"site\.cables:2: "):
        added.read(twice, Defaults()).build()
