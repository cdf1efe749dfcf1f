"""The commands as functions: tables are Polars frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from glosseme.report.runs import summary_of_runs
from glosseme.runs.folder import Run, read_run
from glosseme.runs.many import RunArguments, run_many
from glosseme.runs.trajectory import run_trajectory

if TYPE_CHECKING:
    from glosseme.report.figure import Figure

__all__ = ["curves", "differences", "figures", "run", "table", "trajectory", "write_report"]


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

    `arguments` are those of `runs.many.RunArguments`: data (a name or path, or one for each suite by name), limit,
    seed, dtype, device, bos, batch_size, batch_tokens, sharing, allow_nonfinite, overwrite, trust_remote_code. Raises
    `GlossemeError` for anything wrong with them.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [done] = run("fake:constant", "paired-focus/semantics", folder, limit=16)
    ...     done.outcomes()["correct"].mean()
    0.5
    """
    asked = _arguments(model, suite, out, options, arguments)
    runs = [read_run(folder) for folder in run_many(asked, quiet=quiet)]
    return [one for one in runs if one is not None]


def trajectory(
    model: str | Sequence[str],
    suite: str | Sequence[str],
    out: str | Path = "runs",
    revisions: str = "log",
    *,
    options: Mapping[str, str] | None = None,
    quiet: bool = True,
    **arguments: Any,
) -> pl.DataFrame:
    """Run models' checkpoints on suites and return one row for each checkpoint and metric, over all items.

    `revisions` is `log`, `all` or names with commas; the other arguments are those of `run`. Columns: model, revision,
    step, status, reason, same_as, suite, data, metric, estimate, low, high, n and further counts; a checkpoint that
    isn't there has a row of nulls and the reason. Raises `GlossemeError` for anything wrong with the request.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = trajectory("fake:random", "paired-focus/semantics", folder, "1,2,4", limit=16)
    >>> found.filter(metric="accuracy")["step"].to_list()
    [1, 2, 4]
    """
    from glosseme.report.trajectory import table_of_trajectory

    asked = _arguments(model, suite, out, options, arguments)
    tables = [table_of_trajectory(path.parent) for path in run_trajectory(asked, revisions, quiet=quiet)]
    return pl.concat(tables, how="diagonal")


def _arguments(
    model: str | Sequence[str],
    suite: str | Sequence[str],
    out: str | Path,
    options: Mapping[str, str] | None,
    more: Mapping[str, Any],
) -> RunArguments:
    return RunArguments(
        models=[model] if isinstance(model, str) else list(model),
        suites=[suite] if isinstance(suite, str) else list(suite),
        out=Path(out),
        options=options or {},
        **more,
    )


def curves(runs: str | Path | None = None, *, published: Sequence[str | Path] = ()) -> pl.DataFrame:
    """Return the learning curves of the trajectories under a folder, or of published tables of accuracies.

    Columns: curve (`semantics plausible`, `ewok physical-relations`, `blimp` ...), suite, model, revision, step,
    estimate, low, high, n, chance; accuracies are shares. A checkpoint with the weights of an earlier one is left out.
    Raises `GlossemeError` for both or neither, and where no model has four checkpoints.
    """
    from glosseme.report.analyse import curves_from

    return curves_from(None if runs is None else Path(runs), [Path(path) for path in published])[0]


def differences(
    runs: str | Path | None = None, *, published: Sequence[str | Path] = (), convention: str = "exact"
) -> pl.DataFrame:
    """Return Spearman correlations of the first differences of `curves`, one row a pair of a model's curves.

    Columns: model, a, b, rho, low, high, p, n, p_holm, rho_ties, left_out, reason (see `analysis.differences`).
    Raises `GlossemeError` like `curves`, and for an unknown convention.
    """
    from glosseme.analysis.differences import differences as correlated

    return correlated(curves(runs, published=published), convention)


def figures(runs: str | Path, *, suite: str | None = None, model: str | None = None) -> list[Figure]:
    """Return every figure that the runs under a folder allow; `figure.chart` is an Altair chart.

    Raises `GlossemeError` when there is no finished run.
    """
    from glosseme.report.figures import figures_of_runs
    from glosseme.report.runs import choose_runs

    return figures_of_runs(choose_runs(Path(runs), suite, model).finished)


def write_report(
    runs: str | Path | Sequence[str | Path], out: str | Path = "report.html", *, title: str | None = None
) -> Path:
    """Write one self-contained page of the runs under folders and return its path.

    Raises `GlossemeError` when there is no finished run, or the page can't be written.
    """
    from glosseme.report.page import write_page

    roots = [runs] if isinstance(runs, str | Path) else runs
    return write_page([Path(root) for root in roots], Path(out), title=title)


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
