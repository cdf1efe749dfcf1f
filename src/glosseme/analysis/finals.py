"""One run for each model: the finished model, on the same items as the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from glosseme.analysis.curves import conditions
from glosseme.analysis.published import is_final
from glosseme.models.steps import step_of
from glosseme.runs.folder import Run

__all__ = ["final_runs", "of_same_items"]


def of_same_items(runs: Sequence[Run]) -> tuple[list[Run], list[str]]:
    """Return the runs of one suite that were asked the same items in the same way, and notes on the others.

    Where runs differ in data, options or sample, those are kept that most of them share, the first of equals.
    """
    if not runs:
        return [], []
    keys = [_asked(run) for run in runs]
    most = Counter(keys).most_common(1)[0][0]
    other = [_name(run) for run, key in zip(runs, keys, strict=True) if key != most]
    notes = [f"left out, with other data, options or sample than the rest: {', '.join(other)}"] if other else []
    return [run for run, key in zip(runs, keys, strict=True) if key == most], notes


def final_runs(runs: Sequence[Run]) -> tuple[list[Run], list[str]]:
    """Return one run for each model, of its finished revision or else its last step, with notes where it had more."""
    by_model: dict[str, list[Run]] = {}
    for run in runs:
        by_model.setdefault(str(run.record["identity"]["model"]), []).append(run)
    kept = [max(group, key=_order) for group in by_model.values()]
    notes = [
        f"{_name(run)} stands for {len(group)} revisions of the model"
        for run, group in zip(kept, by_model.values(), strict=True)
        if len(group) > 1
    ]
    return kept, notes


def _asked(run: Run) -> tuple[str, ...]:
    # Neither the precision nor BOS, which follow from the model, change what is asked.
    suite, version, data, sha256, options, _, _, limit, seed = conditions(run)
    return suite, version, data, sha256, options, limit, seed


def _order(run: Run) -> tuple[bool, int]:
    revision = str(run.record["identity"]["revision"])
    step = step_of(revision)
    return is_final(revision), -1 if step is None else step


def _name(run: Run) -> str:
    return f"{run.record['identity']['model']}@{run.record['identity']['revision']}"
