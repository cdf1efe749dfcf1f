"""One page to read, which needs nothing else: what was run, tables, statistics, figures, items."""

from __future__ import annotations

from glosseme.report.page.write import write_page

__all__ = ["write_page"]
