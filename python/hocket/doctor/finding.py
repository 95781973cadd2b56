"""Findings of an examination, one thing each."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from hocket.errors import HocketError


class Level(StrEnum):
    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """``topic``: what was looked at. Problems, and some notes, have a remedy: what to do."""

    level: Level
    topic: str
    text: str
    remedy: str = ""


def ok(topic: str, text: str) -> Finding:
    return Finding(Level.OK, topic, text)


def note(topic: str, text: str, remedy: str = "") -> Finding:
    return Finding(Level.NOTE, topic, text, remedy)


def problem(topic: str, text: str, remedy: str) -> Finding:
    return Finding(Level.PROBLEM, topic, text, remedy)


def problem_of(topic: str, error: HocketError) -> Finding:
    where = f"{error.where}: " if error.where else ""
    return problem(topic, where + error.what, error.remedy)
