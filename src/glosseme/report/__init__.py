"""Tables as text, JSON, CSV, Markdown and LaTeX."""

from __future__ import annotations

__all__: list[str] = []
