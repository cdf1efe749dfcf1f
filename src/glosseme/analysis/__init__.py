"""From outcomes to tables: intervals and summaries."""

from __future__ import annotations

__all__: list[str] = []
