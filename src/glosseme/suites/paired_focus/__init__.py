"""The suites of paired-focus constructions: let alone, much less, not to mention, never mind."""

from __future__ import annotations

from typing import Final

from glosseme.suites.paired_focus.affinity import AFFINITY
from glosseme.suites.paired_focus.semantics import SEMANTICS, SEMANTICS_PLL
from glosseme.suites.paired_focus.syntax import SYNTAX
from glosseme.suites.suite import Suite

__all__ = ["SUITES"]

SUITES: Final[tuple[Suite, ...]] = (SEMANTICS, SEMANTICS_PLL, SYNTAX, AFFINITY)
