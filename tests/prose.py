"""Rules of prose for pages, help and messages: short sentences, no double negation, no private words."""

from __future__ import annotations

import re
from collections.abc import Iterator

LONGEST = 30  # words
# What the words of the field replace: candidate, inter-switch link, two-level, component, kept timings.
PRIVATE = re.compile(r"\b(arms?|guards?|trunks?|bundl\w+|islands?|startups?|sisters)\b", re.IGNORECASE)
OURS = re.compile(r"(?<!batch )(?<!job )\bschedulers?\b", re.IGNORECASE)
NEGATION = r"(?:not|no|never|nothing|nobody|none|cannot|without|nor)"
DOUBLE = re.compile(
    rf"\b{NEGATION}\b(?: \w+){{0,2}} (?:un(?:like|common|usual|likely|able)|not|never|nothing|nobody|none|without)\b",
    re.IGNORECASE,
)


def sentences(text: str) -> Iterator[str]:
    """Sentences of paragraphs, list items and cells of tables, without code, links and emphasis."""
    text = re.sub(r"^```.*?^```|^::: .*?(?=^\S|\Z)|^ {4}.*?$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`]*`", "CODE", text)
    text = re.sub(r"^\|(.*)\|$", lambda row: "\n\n".join(row[1].split("|")) + "\n", text, flags=re.MULTILINE)
    text = re.sub(r"^(?:#+|[-*]|\d+\.) (.*)$", r"\n\1", text, flags=re.MULTILINE)
    for paragraph in re.split(r"\n\s*\n", text):
        plain = " ".join(paragraph.replace("*", "").split())
        yield from re.split(r"(?<=[.!?]) (?=\S)", plain)


def faults(text: str) -> list[str]:
    found = []
    for sentence in sentences(text):
        if len(sentence.split()) > LONGEST:
            found.append(f"{len(sentence.split())} words: {sentence}")
        for rule, name in ((PRIVATE, "private word"), (OURS, "private word"), (DOUBLE, "double negation")):
            if match := rule.search(sentence):
                found.append(f"{name} '{match[0]}': {sentence}")
    return found
