"""Dataclasses from JSON: what fits their types and limits is read, anything else is told by its field."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

import pytest

from hocket.system.records import Limits, record


@dataclass(frozen=True)
class Inner:
    part: Annotated[float, Limits(0.5, 1)]


@dataclass(frozen=True)
class Outer:
    name: str
    count: Annotated[int, Limits(1, 9)]
    done: bool
    kind: Literal["a", "b"]
    first: Inner
    others: Annotated[tuple[Inner, ...], Limits(1, 2)]
    by_name: dict[str, float]
    limit: int | None


WHOLE = Outer("x", 3, True, "a", Inner(1.0), (Inner(0.5), Inner(1.0)), {"y": 2.0}, None)


def test_what_is_written_is_read() -> None:
    assert record(Outer, json.loads(json.dumps(asdict(WHOLE)))) == WHOLE
    assert record(Outer, asdict(WHOLE) | {"limit": 2, "more": "ignored"}).limit == 2
    assert record(Inner, {}, part=7.0) == Inner(7.0)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"name": None}, "name is 'None'"),
        ({"name": "a\x1b"}, "name is "),
        ({"name": "a" * 5000}, "name is '5000', out of range"),
        ({"count": True}, "count is 'True'"),
        ({"count": 2.0}, "count is '2.0'"),
        ({"count": 10}, "count is '10', out of range"),
        ({"done": 1}, "done is '1'"),
        ({"kind": "c"}, "kind is "),
        ({"kind": []}, "kind is "),
        ({"first": []}, "first is "),
        ({"first": {"part": float("nan")}}, "part is 'nan', out of range"),
        ({"others": []}, "others is '0', out of range"),
        ({"others": [{}]}, "part is 'None'"),
        ({"by_name": {"y": "fast"}}, "y is "),
        ({"by_name": {"y": 10**400}}, "y is "),
        ({"limit": -1}, "limit is '-1', out of range"),
    ],
)
def test_anything_else_is_told(change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=f"^{complaint}"):
        record(Outer, asdict(WHOLE) | change)


@pytest.mark.parametrize("found", [None, [], "text", 3])
def test_what_is_no_object(found: object) -> None:
    with pytest.raises(ValueError, match="is not an object"):
        record(Inner, found)
