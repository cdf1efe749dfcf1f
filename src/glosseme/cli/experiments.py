"""The commands of studies over many models or checkpoints: catalogue, trajectories, statistics, figures, the page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from glosseme.cli.commands import (
    AllowNonfinite,
    BatchSize,
    BatchTokens,
    Bos,
    DataOf,
    Device,
    Dtype,
    Format,
    Limit,
    Opts,
    Out,
    Quiet,
    Seed,
    Sharing,
    Suites,
    Trust,
    app,
    data_of,
    options_of,
)

__all__ = ["analyse"]

analyse = typer.Typer(help="Statistics over runs.", rich_markup_mode=None, no_args_is_help=True)
app.add_typer(analyse, name="analyse")

RunsFolder = Annotated[Path, typer.Argument(help="A folder of runs.")]
OnlySuite = Annotated[str | None, typer.Option("-s", "--suite", help="Only this suite or group.")]
OnlyModel = Annotated[str | None, typer.Option("-m", "--model", help="Only this model.")]


@app.command()
def models(
    name: Annotated[str | None, typer.Argument(help="A family (@pythia) or a part of a name.")] = None,
    kind: Annotated[str | None, typer.Option("--kind", help="Only causal or only masked models.")] = None,
    format_: Format = "text",
) -> None:
    """List the models of the papers: size, training tokens, objective, checkpoints; `run -m @FAMILY` takes a family."""
    from glosseme.report.models import list_models

    typer.echo(list_models(name, kind=kind, format_=format_))


@app.command()
def trajectory(
    model: Annotated[
        list[str], typer.Option("-m", "--model", help="A hub name, or a folder with a checkpoint in each subfolder.")
    ],
    suite: Suites,
    revisions: Annotated[
        str, typer.Option("--revisions", help="log (each about double the last), all, or names with commas.")
    ] = "log",
    out: Out = Path("runs"),
    data: DataOf = None,
    limit: Limit = None,
    seed: Seed = 0,
    option: Opts = None,
    dtype: Dtype = "float32",
    device: Device = "auto",
    bos: Bos = "auto",
    batch_size: BatchSize = None,
    batch_tokens: BatchTokens = None,
    sharing: Sharing = True,
    allow_nonfinite: AllowNonfinite = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace other runs in the same folders.")] = False,
    trust_remote_code: Trust = False,
    quiet: Quiet = False,
    format_: Format = "text",
) -> None:
    """Run a model's checkpoints on suites; the same command again goes on where it stopped."""
    from glosseme.report.trajectory import run_and_render
    from glosseme.runs.many import RunArguments

    arguments = RunArguments(
        models=model,
        suites=suite,
        out=out,
        data=data_of(data),
        limit=limit,
        seed=seed,
        options=options_of(option),
        dtype=dtype,
        device=device,
        bos=bos,
        batch_size=batch_size,
        batch_tokens=batch_tokens,
        sharing=sharing,
        allow_nonfinite=allow_nonfinite,
        overwrite=overwrite,
        trust_remote_code=trust_remote_code,
    )
    typer.echo(run_and_render(arguments, revisions, quiet=quiet, format_=format_))


@app.command()
def figures(
    runs: RunsFolder,
    out: Annotated[Path, typer.Option("-o", "--out", help="The folder for the figures.")] = Path("figures"),
    formats: Annotated[str, typer.Option("--format", help="svg, png and json (Vega-Lite), with commas.")] = "svg,png",
    suite: OnlySuite = None,
    model: OnlyModel = None,
) -> None:
    """Draw every figure that the runs allow."""
    from glosseme.report.figures import write_figures

    for path in write_figures(runs, out, formats, suite=suite, model=model):
        typer.echo(path)


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The page.")] = Path("report.html"),
    title: Annotated[str | None, typer.Option("--title", help="The page's title.")] = None,
    suite: OnlySuite = None,
    model: OnlyModel = None,
) -> None:
    """Write one page to read, which needs nothing else: tables, statistics, figures, items."""
    from glosseme.report.page import write_page

    typer.echo(write_page(runs, out, title=title, suite=suite, model=model))


@analyse.command()
def mixed(
    runs: RunsFolder,
    suite: Annotated[str, typer.Option("-s", "--suite", help="The suite.")] = "paired-focus/semantics",
    predictors: Annotated[
        str, typer.Option("--predictors", help="Of tokens, parameters and objective, with commas.")
    ] = "tokens,parameters,objective",
    by: Annotated[
        str, typer.Option("--by", help="The factor whose levels are a model's observations.")
    ] = "construction",
    facts: Annotated[
        Path | None, typer.Option("--facts", help="A CSV with model, parameters, tokens, objective of your models.")
    ] = None,
    items: Annotated[bool, typer.Option("--items", help="Logistic, one observation an item.")] = False,
    format_: Format = "text",
) -> None:
    """Fit accuracy to training tokens, parameters and objective, with a random intercept for each model."""
    from glosseme.report.analyse import mixed_of_runs

    typer.echo(
        mixed_of_runs(runs, suite=suite, predictors=predictors, by=by, facts=facts, items=items, format_=format_)
    )


@analyse.command()
def differences(
    runs: Annotated[Path | None, typer.Argument(help="A folder of runs with a trajectory.")] = None,
    published: Annotated[
        list[Path] | None, typer.Option("--published", help="A table of published accuracies instead of runs.")
    ] = None,
    convention: Annotated[
        str, typer.Option("--convention", help="exact, or scivetti2026 (the first checkpoint as a difference of 0).")
    ] = "exact",
    model: OnlyModel = None,
    format_: Format = "text",
) -> None:
    """Correlate the first differences of learning curves."""
    from glosseme.report.analyse import differences_of

    typer.echo(differences_of(runs, published or [], convention=convention, model=model, format_=format_))


@analyse.command()
def pairs(runs: RunsFolder, suite: OnlySuite = None, format_: Format = "text") -> None:
    """Compare models with each other on the same items."""
    from glosseme.report.analyse import pairs_of_runs

    typer.echo(pairs_of_runs(runs, suite=suite, format_=format_))
