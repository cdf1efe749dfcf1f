"""The model hub: repositories of models and of data sets, their files, and its refusals in words."""

from __future__ import annotations

from glosseme.hub.refusals import Repository, no_bars, refusals
from glosseme.hub.snapshot import fetch_snapshot

__all__ = ["Repository", "fetch_snapshot", "no_bars", "refusals"]
