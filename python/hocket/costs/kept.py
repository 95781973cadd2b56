"""Files of kept calibrations: beside the widths of inter-switch links, one file for each wiring."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hocket.costs.calibration import Calibration, from_json
from hocket.errors import HocketError
from hocket.system.cache import cache_dir
from hocket.system.files import read_file
from hocket.system.trust import check_private

if TYPE_CHECKING:
    from hocket.network import NetworkDescription

_MOST_BYTES: Final = 16 * 2**20
_RATES_AGREE: Final = 0.01


def kept_path(description: NetworkDescription | None) -> Path:
    """Path of the calibration kept for this network or, without a network, for this host. Raises HocketError
    if there is no safe cache."""
    from hocket.network.measured import wiring_digest

    name = platform.node() if description is None else wiring_digest(description)
    return cache_dir() / f"calibration-{name}.json"


def read_file_of(path: str | os.PathLike[str]) -> Calibration:
    """The calibration in a file. Raises HocketError for one that cannot be used."""
    again = "measure again: hocket calibrate network"
    try:
        data = read_file(path)
    except OSError as error:
        raise HocketError(
            f"cannot read the calibration {path}: {error.strerror or error}",
            remedy="check its name and permissions",
        ) from None
    if len(data) > _MOST_BYTES:
        raise HocketError(f"{path} is larger than {_MOST_BYTES >> 20} MiB", remedy=again)
    try:
        return from_json(json.loads(data.decode()))
    except (ValueError, RecursionError) as problem:
        raise HocketError(f"{path} is not a calibration, or damaged: {problem}", remedy=again) from None


def read_calibration(
    path: str | None, description: NetworkDescription, host_rate: float
) -> tuple[Calibration | None, str]:
    """The calibration in a file, or the one that is kept of this network, or none; and where it comes from, or
    why the kept one was not taken. What the user names must be good: raises HocketError."""
    if path is not None:
        return read_file_of(path), path
    try:
        kept = kept_path(description)
        if not os.path.lexists(kept):
            return None, ""
        check_private(kept)
        found = read_file_of(kept)
    except HocketError as problem:
        return None, str(problem)
    if found.host_rate is None or abs(found.host_rate / host_rate - 1) > _RATES_AGREE:
        return None, f"{kept} was measured with other rates"
    return found, str(kept)
