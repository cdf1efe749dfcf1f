"""Whether models match words and dictionary definitions (Senel and Schuetze, EACL 2021)."""

from __future__ import annotations

__all__: list[str] = []
