"""Dataclasses from JSON of files and messages: each field by its type, within the limits that stand beside it."""

import functools
import math
from dataclasses import dataclass, is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from hocket.system.text import shown

T = TypeVar("T")

_MOST_TEXT: Final = 4096


@dataclass(frozen=True, slots=True)
class Limits:
    """``Annotated[int, Limits(1, 9)]``: of a number the least and the most, of a text or a list the lengths."""

    least: float = 0
    most: float = math.inf


_LIMITS: Final = {int: Limits(0, 2**64 - 1), float: Limits(0, 1e18), str: Limits(0, _MOST_TEXT)}


def record(kind: type[T], found: Any, **known: Any) -> T:
    """An object of a dataclass, each of its fields from the value of that name, but for those that are known.

    Raises ValueError, with the field's name, for what is missing, of another kind or out of range."""
    if not isinstance(found, dict):
        raise ValueError("is not an object")
    return kind(
        **known,
        **{
            name: value(name, of_field, found.get(name))
            for name, of_field in _fields_of(cast(Any, kind)).items()
            if name not in known
        },
    )


@functools.cache
def _fields_of(kind: Any) -> dict[str, Any]:
    """Types of the fields, with the limits."""
    return get_type_hints(kind, include_extras=True)


def value(name: str, kind: Any, found: Any) -> Any:
    """The value called ``name`` as ``kind``. Raises as :func:`record`."""
    limits = _LIMITS.get(kind, Limits())
    if get_origin(kind) is Annotated:
        kind, limits = get_args(kind)
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):  # with None
        return (
            None
            if found is None
            else value(name, next(each for each in inner if each is not NoneType), found)
        )
    if origin is Literal and found in inner:
        return found
    if is_dataclass(kind) and isinstance(found, dict):
        return record(cast(type[Any], kind), found)
    if origin is dict and isinstance(found, dict):
        return {str(key): value(str(key), inner[1], each) for key, each in found.items()}
    if origin in (list, tuple) and isinstance(found, list | tuple):
        _check(name, len(found), limits)
        return origin(value(name, inner[0], each) for each in found)
    if kind is bool and isinstance(found, bool):
        return found
    if kind is str and isinstance(found, str) and found.isprintable():
        _check(name, len(found), limits)
        return found
    if (type(found) is int and kind in (int, float)) or (type(found) is float and kind is float):
        _check(name, found, limits)
        return kind(found)
    raise ValueError(f"{name} is {shown(repr(found))}")


def _check(name: str, number: float, limits: Limits) -> None:
    if not limits.least <= number <= limits.most:
        raise ValueError(f"{name} is {shown(repr(number))}, out of range")
