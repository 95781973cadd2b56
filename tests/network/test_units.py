from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hocket.errors import UsageError
from hocket.units import (
    format_bytes,
    format_rate,
    format_time,
    format_total,
    parse_bytes,
    parse_link_rate,
    parse_rate,
    parse_time,
)


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("1Gbit", 125e6),
        ("100Mbit/s", 12.5e6),
        ("10Gbps", 1.25e9),
        ("125MB/s", 125e6),
        ("1GiB/s", 2**30),
        ("125MBps", 125e6),
        (" 1.5 Gbit ", 187.5e6),
        ("8 bit/s", 1),
        ("1kB/s", 1000),
        ("1e3Mbit", 125e6),
    ],
)
def test_rates(text: str, rate: float) -> None:
    assert parse_rate(text) == rate


@pytest.mark.parametrize(
    ("text", "seconds"), [("5us", 5e-6), ("0.1ms", 1e-4), ("2s", 2), ("0", 0), ("50 µs", 5e-5), ("3ns", 3e-9)]
)
def test_times(text: str, seconds: float) -> None:
    assert parse_time(text) == pytest.approx(seconds, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4096", 4096),
        (4096, 4096),
        ("64KiB", 65536),
        ("256KB", 256_000),
        ("1MB", 10**6),
        ("1.5KiB", 1536),
        ("0", 0),
    ],
)
def test_sizes(text: str | int, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize(
    "text", ["", "fast", "1", "10G", "-1Gbit", "nan", "inf", "1e999Gbit", "1Gbit 2", "9" * 5000]
)
def test_no_rate(text: str) -> None:
    with pytest.raises(UsageError, match="write it like 1Gbit"):
        parse_rate(text)


@pytest.mark.parametrize("text", ["", "5", "5 fortnights", "-5us", "1e400s"])
def test_no_time(text: str) -> None:
    with pytest.raises(UsageError, match="write it like 5us"):
        parse_time(text)


@pytest.mark.parametrize("text", ["", "0.3", "1.0001KB", "-1", -1, "1e400", "64 kisses", "1" * 100])
def test_no_size(text: str | int) -> None:
    with pytest.raises(UsageError, match="write it like 4096"):
        parse_bytes(text)


@pytest.mark.parametrize("text", ["0Mbit", "7999 bit", "80.1Tbit", "1e300Gbit"])
def test_the_rate_of_no_link(text: str) -> None:
    with pytest.raises(UsageError, match=f"{text} is not a possible link rate; give 8kbit/s to 80Tbit/s"):
        parse_link_rate(text)


def test_times_and_sizes_beyond_any_use() -> None:
    assert parse_time("1e6s") == 1e6 and parse_bytes(str(2**63 - 1)) == 2**63 - 1
    for text in ("1000001s", "1e300s"):
        with pytest.raises(UsageError, match=f"{text} is too long; give at most 1000000s"):
            parse_time(text)
    for size in (2**63, str(2**63), "1e19", f"{2**33}GiB"):
        with pytest.raises(UsageError, match="is more than 2\\^63 - 1 bytes"):
            parse_bytes(size)


def test_formats() -> None:
    assert format_rate(125e6) == "1 Gbit/s"
    assert format_rate(124999999.9) == "1 Gbit/s"
    assert format_time(5e-6) == "5 us"
    assert format_time(0) == "0 s"
    assert format_bytes(65536) == "64 KiB"
    assert format_bytes(256_000) == "250 KiB"
    assert format_bytes(0) == "0 B"


@given(st.integers(0, 2**62))
def test_sizes_survive_formatting(size: int) -> None:
    assert parse_bytes(format_bytes(size)) == size


@given(st.floats(1e3, 1e13))
def test_rates_survive_formatting(rate: float) -> None:
    assert parse_rate(format_rate(rate)) == pytest.approx(rate, rel=1e-5)


@given(st.floats(1e-12, 10))
def test_times_survive_formatting(seconds: float) -> None:
    assert parse_time(format_time(seconds)) == pytest.approx(seconds, rel=1e-5)


def test_totals_are_short() -> None:
    shown = {
        0: "0 B",
        9999: "9999 B",
        65536: "64 KiB",
        10_001: "10 KB",
        16375237940: "16.38 GB",
        999_999: "1 MB",
    }
    assert {size: format_total(size) for size in shown} == shown
