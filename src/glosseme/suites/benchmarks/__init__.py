"""The benchmarks that constructions are compared with: BLiMP, COMPS, EWoK, read from the user's copy or the hub."""

from __future__ import annotations

from typing import Final

from glosseme.suites.benchmarks.blimp import BLIMP
from glosseme.suites.benchmarks.comps import COMPS
from glosseme.suites.benchmarks.ewok import EWOK
from glosseme.suites.suite import Suite

__all__ = ["BLIMP_SUITES", "COMPS_SUITES", "EWOK_SUITES"]

BLIMP_SUITES: Final[tuple[Suite, ...]] = (BLIMP,)
COMPS_SUITES: Final[tuple[Suite, ...]] = (COMPS,)
EWOK_SUITES: Final[tuple[Suite, ...]] = (EWOK,)
