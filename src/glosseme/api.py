"""The command line's `run` and `table` as functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from glosseme.report.runs import summary_of_runs
from glosseme.runs.folder import Run, read_run
from glosseme.runs.many import RunArguments, run_many

__all__ = ["run", "table"]


def run(
    model: str | Sequence[str],
    suite: str | Sequence[str],
    out: str | Path = "runs",
    *,
    options: Mapping[str, str] | None = None,
    quiet: bool = True,
    **arguments: Any,
) -> list[Run]:
    """Run models on suites and return the finished runs; what is finished already isn't done again.

    `arguments` are those of `runs.many.RunArguments`: data, limit, seed, dtype, device, bos, batch_size, batch_tokens,
    sharing, allow_nonfinite, overwrite, trust_remote_code. Raises `GlossemeError` for anything wrong with them.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [done] = run("fake:constant", "paired-focus/semantics", folder, limit=16)
    ...     done.outcomes()["correct"].mean()
    0.5
    """
    asked = RunArguments(
        models=[model] if isinstance(model, str) else list(model),
        suites=[suite] if isinstance(suite, str) else list(suite),
        out=Path(out),
        options=options or {},
        **arguments,
    )
    runs = [read_run(folder) for folder in run_many(asked, quiet=quiet)]
    return [one for one in runs if one is not None]


def table(
    runs: str | Path, by: str | Sequence[str] | None = None, *, suite: str | None = None, model: str | None = None
) -> pl.DataFrame:
    """Return estimates with 95% intervals, one row for each group and metric of each run under a folder.

    `by` names factors; without it each suite's own default is taken. Columns: model, revision, suite, data, the
    factors, metric, estimate, low, high, n, dropped, ties, chance, n_clusters. Raises `GlossemeError` when there is
    no finished run, or no such factor.
    """
    factors = by.split(",") if isinstance(by, str) else by
    return summary_of_runs(Path(runs), by=factors, suite=suite, model=model)
