"""A seeded sample of altered files for every reader."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from hocket.errors import HocketError
from mutations import altered, complaint, readers

SAMPLE = 25  # per reader


def test_every_reader_refuses_in_one_clear_line(tmp_path: Path) -> None:
    for number, reader in enumerate(readers(tmp_path)):
        folder = tmp_path / str(number)
        folder.mkdir()
        reader.prepare(folder)
        choose = random.Random(reader.name)
        for seed in reader.seeds:
            (folder / reader.file).write_bytes(seed)
            reader.read(folder / reader.file)  # as it is, it is accepted
        for _ in range(SAMPLE):
            data = altered(choose.choice(reader.seeds), choose)
            (folder / reader.file).write_bytes(data)
            try:
                reader.read(folder / reader.file)
            except HocketError as problem:
                assert not complaint(problem, folder), (reader.name, data)


@pytest.mark.parametrize("said", ["two\nlines", "x" * 2000])
def test_a_bad_refusal_is_found(tmp_path: Path, said: str) -> None:
    assert complaint(HocketError(said, remedy="r"), tmp_path)
    assert complaint(HocketError("no remedy"), tmp_path)
    assert not complaint(HocketError("wrong", remedy="right it"), tmp_path)
