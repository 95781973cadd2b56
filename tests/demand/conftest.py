"""Files of traffic, and what reading them must give."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hocket.demand import read_traffic
from hocket.errors import DemandError

Table = list[tuple[int, int, int]]


@pytest.fixture
def table() -> Callable[[object], Table]:
    """(sender, receiver, bytes) of the messages in a file."""

    def read(path: object) -> Table:
        traffic = read_traffic(str(path))
        return sorted(zip(traffic.src, traffic.dst, traffic.bytes, strict=True))

    return read


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def refusal(written: Callable[[str, str | bytes], Path]) -> Callable[..., str]:
    """The message that refuses a file of this content, in one line and with a remedy."""

    def refuse(name: str, content: str | bytes, call: str = "") -> str:
        with pytest.raises(DemandError) as caught:
            read_traffic(str(written(name, content)) + call)
        assert caught.value.remedy and "\n" not in str(caught.value) and len(str(caught.value)) < 1500
        assert name in str(caught.value)
        return str(caught.value)

    return refuse
