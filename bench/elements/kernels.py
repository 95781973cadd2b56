"""Measures the cost per element of the kernels of sorting and permuting, beside numpy on the same data.

    python bench/elements/kernels.py [--elements 100000000] [--runs 5]

Writes bench/results/elements-kernels.{csv,md}. The two sides of a pair run by turns in one process, the
ratio is the median over the turns.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocket import _core

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import Row, begin, median_ratio, provenance, table, values

Array = NDArray[Any]
Run = Callable[[], float]  # seconds

TYPES = ("uint32", "uint64", "float32", "float64", "uint16")
WIDTHS = (4, 8, 16)
BITS = (8, 11)


def bytes_of(array: Array) -> NDArray[np.uint8]:
    return array.view(np.uint8).reshape(-1)


def key_type(dtype: np.dtype[Any]) -> _core.KeyType:
    return getattr(_core.KeyType, f"{dtype.kind}{8 * dtype.itemsize}")


def clocked(action: Callable[[], Any]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def sorts(values: Array) -> tuple[Run, Run]:
    work, scratch = values.copy(), np.zeros_like(values)

    def own() -> float:
        work[:] = values
        return float(
            _core.sort_records(key_type(values.dtype), work.itemsize, bytes_of(work), bytes_of(scratch))
        )

    def numpy() -> float:
        work[:] = values
        return clocked(work.sort)

    return own, numpy


def digits(values: Array, bits: int) -> dict[str, tuple[Run, Run]]:
    """Counting and dividing by the lowest bits; beside it, a copy by numpy."""
    key, width, out = key_type(values.dtype), values.itemsize, np.zeros_like(values)
    counts = np.zeros(2**bits, np.uint64)
    _core.count_digits(key, width, bytes_of(values), [(0, bits)], [counts])
    begins = (np.cumsum(counts) - counts) * np.uint64(width)
    sums = np.zeros_like(counts)

    def count() -> float:
        return float(_core.count_digits(key, width, bytes_of(values), [(0, bits)], [sums])[0])

    def divide() -> float:
        return float(_core.partition(key, width, bytes_of(values), (0, bits), bytes_of(out), begins)[0])

    def copy() -> float:
        return clocked(lambda: np.copyto(out, values))

    return {"count": (count, copy), "partition": (divide, copy)}


def moves(n: int, width: int, rng: np.random.Generator) -> dict[str, tuple[Run, Run]]:
    dtype = np.dtype(f"u{width}") if width <= 8 else np.dtype("c16")
    values, out, order = np.arange(n).astype(dtype), np.zeros(n, dtype), rng.permutation(n)
    side = int(n**0.5)
    matrix, turned = values[: side * side].reshape(side, side), out[: side * side].reshape(side, side)

    def assign() -> None:
        out[order] = values

    def transpose() -> float:
        source, target = bytes_of(matrix), bytes_of(turned)
        return float(_core.transpose(width, source, side, side, side, target, side)[0])

    return {
        "gather": (
            lambda: float(_core.gather(width, bytes_of(values), order, bytes_of(out))[0]),
            lambda: clocked(lambda: np.take(values, order, out=out, mode="clip")),
        ),
        "scatter": (
            lambda: float(_core.scatter(width, bytes_of(values), order, bytes_of(out))[0]),
            lambda: clocked(assign),
        ),
        "transpose": (transpose, lambda: clocked(lambda: np.copyto(turned, matrix.T))),
    }


def compare(what: str, pair: tuple[Run, Run], runs: int) -> Row:
    own, other = pair
    taken = [(own(), other()) for _ in range(runs)]
    row = dict(zip(("kernel", "seconds", "numpy_seconds"), (what, *zip(*taken, strict=True)), strict=True))
    print(*row.values(), flush=True)
    return row


def summary(heading: Row, rows: list[Row]) -> list[str]:
    def told(row: Row) -> str:
        own, other = values(row["seconds"]), values(row["numpy_seconds"])
        nanoseconds = (f"{1e9 * median(of) / heading['elements']:.2f}" for of in (own, other))
        return " | ".join((row["kernel"], *nanoseconds, f"{median_ratio(other, own):.2f}"))

    return [
        "# Kernels of sorting and permuting",
        "",
        f"{provenance(heading)}, one core."
        f" {heading['elements']:,} elements; medians of {heading['runs']} turns. Nanoseconds per element;"
        " numpy's counterpart is `sort`, `take`, `out[order] = values`, a copy of the transposed view,"
        " and for counting and partitioning a plain copy.",
        "",
        *table("kernel | ns | numpy | numpy's time over the kernel's", told, rows),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--elements", type=int, default=100_000_000)
    parser.add_argument("--runs", type=int, default=5)
    options, results = begin(parser, "elements-kernels", summary)
    results.heading |= {"elements": options.elements, "runs": options.runs}
    n, rng = options.elements, np.random.default_rng(1)
    for name in TYPES:
        dtype = np.dtype(name)
        if dtype.kind == "f":
            keys = rng.standard_normal(n).astype(dtype)
        else:
            keys = rng.integers(0, np.iinfo(dtype).max, n, dtype, endpoint=True)
        results.add(compare(f"sort {name}", sorts(keys), options.runs))
        for bits in BITS:
            for what, pair in digits(keys, bits).items():
                results.add(compare(f"{what} {name}, {bits} bits", pair, options.runs))
    for width in WIDTHS:
        for what, pair in moves(n, width, rng).items():
            results.add(compare(f"{what}, {width} bytes", pair, options.runs))


if __name__ == "__main__":
    main()
