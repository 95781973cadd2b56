"""Tests are seeded: the same examples on every machine. Several processes run them."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "seeded",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("seeded")

# What is scheduled is not left to measurement: tests of the choice itself say so.
os.environ.setdefault("HOCKET_CHOOSE", "off")


@pytest.fixture(autouse=True)
def one_lab_at_a_time(request: pytest.FixtureRequest) -> Iterator[None]:
    """Tests marked ``lab`` look for what labs have left on this machine."""
    if request.node.get_closest_marker("lab") is None:
        yield
        return
    with (Path(tempfile.gettempdir()) / "hocket-test-lab.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
