"""Readers under test get their input as a file, and their complaints are taken apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hocket.errors import NetworkError
from hocket.network import NetworkDescription, read_network_description

Describe = Callable[[str], NetworkDescription]
Refused = Callable[[str], str]


@pytest.fixture
def describe(tmp_path: Path) -> Describe:
    """Reads a text as a network file."""

    def describe(text: str) -> NetworkDescription:
        path = tmp_path / "network"
        path.write_text(text, encoding="utf-8")
        return read_network_description(str(path))

    return describe


@pytest.fixture
def refused(tmp_path: Path, describe: Describe) -> Refused:
    """The message with which a text is refused, beginning with the line: ``3: what; remedy``."""

    def refused(text: str) -> str:
        with pytest.raises(NetworkError) as caught:
            describe(text)
        message = str(caught.value)
        where = str(tmp_path / "network") + ":"
        assert message.startswith(where)
        assert "\n" not in message
        assert caught.value.remedy
        return message[len(where) :].strip()

    return refused
