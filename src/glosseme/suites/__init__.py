"""The suites there are, found by entry points, so that another package can bring its own."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points

from glosseme.errors import GlossemeError, nearest
from glosseme.measures import Kind
from glosseme.suites.suite import Items, Options, Suite

__all__ = ["Items", "Options", "Suite", "all_suites", "find_suites", "group_of", "suites_for"]


@cache
def all_suites() -> dict[str, Suite]:
    """Return every suite by name, in the order of their groups.

    >>> [name for name in all_suites() if name.startswith("paired-focus/")]
    ['paired-focus/semantics', 'paired-focus/semantics-pll', 'paired-focus/syntax', 'paired-focus/affinity']
    """
    found: dict[str, Suite] = {}
    for entry in sorted(entry_points(group="glosseme.suites"), key=lambda e: e.name):
        for suite in entry.load():
            found[suite.name] = suite
    return found


def group_of(name: str) -> str:
    """Return the group a suite belongs to.

    >>> group_of("paired-focus/semantics")
    'paired-focus'
    """
    return name.partition("/")[0]


def find_suites(name: str) -> tuple[Suite, ...]:
    """Return the suite of this name, or the parts of a group.

    Raises `GlossemeError` with the nearest names when there is none.
    """
    suites = all_suites()
    if name in suites:
        return (suites[name],)
    parts = tuple(s for s in suites.values() if group_of(s.name) == name and s.in_group)
    if not parts:
        names = {*suites, *(group_of(s) for s in suites)}
        raise GlossemeError(f"there is no suite {name!r}", todo=nearest(name, names))
    return parts


def suites_for(names: tuple[str, ...], kind: Kind) -> tuple[Suite, ...]:
    """Return the suites of these names that a model of this kind can answer, each once.

    A group gives the parts that fit. Raises `GlossemeError` for a suite asked for by its own name that doesn't fit.
    """
    chosen: dict[str, Suite] = {}
    for name in names:
        parts = find_suites(name)
        fitting = [s for s in parts if kind in s.kinds]
        if not fitting:
            kinds = " or ".join(sorted({k for s in parts for k in s.kinds}))
            raise GlossemeError(
                f"suite {name!r} is for {kinds} models and this one is {kind}",
                todo=f"choose a {kinds} model or another suite (`glosseme suites` lists them)",
            )
        chosen.update({s.name: s for s in fitting})
    return tuple(chosen.values())
