"""What several tests of one table have in common."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["holm"]


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return p values adjusted by Holm's step-down method (Holm 1979) for the number of tests that there are.

    Null is no test: it is not counted and stays null.

    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    order = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    least = 0.0
    for rank, (p, place) in enumerate(order):
        least = min(1.0, max(least, p * (len(order) - rank)))
        adjusted[place] = least
    return adjusted
