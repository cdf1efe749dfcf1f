"""People on the tasks of a suite: sheets to fill, and what filled sheets say."""

from __future__ import annotations

__all__: list[str] = []
