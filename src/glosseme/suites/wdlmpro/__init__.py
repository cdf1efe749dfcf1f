"""Whether models match words and dictionary definitions (Senel and Schuetze, EACL 2021)."""

from __future__ import annotations

from typing import Final

from glosseme.suites.suite import Suite
from glosseme.suites.wdlmpro.tasks import WDLMPRO

__all__ = ["SUITES"]

SUITES: Final[tuple[Suite, ...]] = (WDLMPRO,)
