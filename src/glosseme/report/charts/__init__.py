"""Charts of Altair, one small module a kind of figure; nothing but figures and the page imports them."""

from __future__ import annotations

__all__: list[str] = []
