"""Files that seeded chance has altered; ten times as many a second as strategies of hypothesis draw."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from random import Random


def mutated(content: bytes, words: Sequence[bytes], longest: int, count: int) -> Iterator[bytes]:
    """``count`` forms of it: up to four pieces of at most ``longest`` bytes are replaced by words or any bytes."""
    for seed in range(count):
        rng = Random(seed)
        data = content
        for _ in range(rng.randint(1, 4)):
            begin = rng.randint(0, len(data))
            end = begin + rng.randint(0, longest)
            piece = rng.choice(words) if rng.random() < 0.5 else rng.randbytes(rng.randint(0, 3))
            data = data[:begin] + piece + data[end:]
        yield data


def exchanged(content: bytes, words: Sequence[bytes], count: int) -> Iterator[bytes]:
    """Mistakes of a person: words exchanged, also for ``words``, doubled or left out; the syntax is mostly kept."""
    own = re.findall(rb"[\w.-]+|[^\w.-]+", content)
    for seed in range(count):
        rng = Random(seed)
        said = list(own)
        for _ in range(rng.randint(1, 5)):
            at = rng.randrange(len(said))
            pick = rng.randrange(len(said) + len(words) + 2)
            said[at] = [*said, *words, b"", said[at] * 2][pick]
        yield b"".join(said)
