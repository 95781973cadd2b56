from __future__ import annotations

from pathlib import Path

import pytest

from hocket.errors import NetworkError
from hocket.network import read_network_description
from hocket.network.readers.registry import READERS
from hocket.network.source import MAX_FILE_BYTES


def refusal(path: str) -> str:
    with pytest.raises(NetworkError) as caught:
        read_network_description(path)
    assert caught.value.where is not None or not path
    assert caught.value.remedy
    return str(caught.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b" \n\t\n", "is empty"),
        (b"[[switch]]\nname = '\xff'", "2: is not UTF-8: byte 0xff at offset 19"),
        (b"SwitchName=s0\nNodes=\0", "2: holds a NUL byte at offset 20"),
        ("[[switch]]".encode("utf-16"), "1: is not UTF-8"),
        (b"\n\nhello world", "the format of this file is not known; known are: Hocket's own TOML, SimGrid"),
        (b"[[switch]]\n# " + b"x" * 10_000_000, "2: the line is 10,000,002 bytes long"),
        (b"SwitchName=s0 Nodes=n[" + b"1," * 2_000_000 + b"1]", "1: the host list"),
    ],
)
def test_files_that_are_no_text(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "bad"
    path.write_bytes(data)
    assert refusal(str(path)).removeprefix(f"{path}:").strip().startswith(message)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    assert "no such file" in refusal(str(tmp_path / "none"))
    assert "is a directory" in refusal(str(tmp_path))
    assert "is not a file name" in refusal("a\0b")
    assert "cannot be read" in refusal("x" * 5000)
    assert "no network is named" in refusal("")


def test_a_file_too_large(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    assert "is larger than 64 MiB" in refusal(str(path))


def test_line_ends_and_byte_order_mark_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "windows.toml"
    path.write_bytes(b'\xef\xbb\xbf[[switch]]\r\nname = "s0"\r\nhosts = "n[0-1]"\r\n')
    assert len(read_network_description(str(path)).hosts) == 2


def test_a_file_named_like_a_short_form_needs_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("star:5").write_text("SwitchName=s0 Nodes=n[0-1]")
    assert len(read_network_description("star:5").hosts) == 5
    assert len(read_network_description("./star:5").hosts) == 2


def test_the_readers_have_names_of_their_own() -> None:
    assert len({reader.name for reader in READERS}) == len(READERS)
    assert all(reader.description for reader in READERS)
