"""What `glosseme doctor` prints."""

from __future__ import annotations

from glosseme.doctor import report

__all__ = ["render"]

_MARKS = {"ok": "ok", "note": "note", "missing": "MISSING"}


def render() -> str:
    """Return what is installed, what the machine has and what is missing, a line each."""
    rows = report()
    name, mark = (max(map(len, column)) for column in ([r.name for r in rows], _MARKS.values()))
    lines = []
    for row in rows:
        what = ": ".join(part for part in (row.value, row.hint) if part)
        lines.append(f"{row.name:<{name}}  {_MARKS[row.status]:<{mark}}  {what}".rstrip())
    return "\n".join(lines)
