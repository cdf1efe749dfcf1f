"""The training step that a checkpoint's name tells."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["log_spaced", "step_of"]

_AFTER_STEP: Final = re.compile(r"(?:^|[^a-z])(?:global)?_?(?:steps?|checkpoint|ckpt|iter|ba|batch)[-_=]?(\d+)", re.I)
_NUMBER: Final = re.compile(r"(?:^|[-_/])(\d+)$")


def step_of(name: str) -> int | None:
    """Return the step in the name of a revision or a checkpoint's folder, None where it tells none.

    >>> [step_of(name) for name in ("step1000", "checkpoint-500", "step_1000", "global_step16", "main")]
    [1000, 500, 1000, 16, None]
    >>> step_of("stage1-step1000-tokens5B"), step_of("stage2-ingredient1-step3000-tokens7B"), step_of("ckpt_20")
    (1000, 3000, 20)
    """
    found = _AFTER_STEP.search(name) or _NUMBER.search(name)
    return int(found.group(1)) if found else None


def log_spaced(steps: list[int]) -> list[int]:
    """Return the steps that come nearest to doubling from one to the next, from the first after 0 to the last.

    >>> pythia = [0, *(2**k for k in range(10)), *range(1000, 144000, 1000)]
    >>> log_spaced(pythia) == [*(2**k for k in range(10)), *(1000 * 2**k for k in range(8)), 143000]
    True
    """
    left = sorted({step for step in steps if step > 0})
    if not left:
        return sorted(set(steps))
    chosen = [left[0]]
    while left[-1] > chosen[-1]:
        wanted = 2 * chosen[-1]
        # Nothing nearer to the last one than to its double counts as a step further.
        after = [step for step in left if step * step > 2 * chosen[-1] ** 2]
        chosen.append(min(after, key=lambda step: max(step / wanted, wanted / step)) if after else left[-1])
    return chosen
