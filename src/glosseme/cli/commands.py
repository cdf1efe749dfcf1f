"""The commands; each reads its arguments, calls one function, and prints."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["app", "data_of", "options_of"]

app = typer.Typer(
    name="glosseme",
    help="Measures what language models know of the form and meaning of words and constructions.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    epilog="Every command takes --help, and --debug for tracebacks.",
)

Models = Annotated[
    list[str],
    typer.Option(
        "-m",
        "--model",
        help="NAME[@REVISION]: hub name, folder, .gguf or .vec file, offline:..., static:wordllama, fake:constant ...",
    ),
]
Suites = Annotated[list[str], typer.Option("-s", "--suite", help="A suite, or a group of them (paired-focus).")]
Out = Annotated[Path, typer.Option("-o", "--out", help="The folder of the runs.")]
Data = Annotated[
    str | None, typer.Option("--data", help="One of the suite's sets (core, extended), or a file or folder of yours.")
]
DataOf = Annotated[
    list[str] | None,
    typer.Option(
        "--data",
        help="One of the suite's sets (core, extended), a file or folder of yours; with several suites SUITE=PATH.",
    ),
]
Limit = Annotated[int | None, typer.Option("--limit", help="So many items, seeded and balanced, instead of all.")]
Seed = Annotated[int, typer.Option("--seed", help="Draws the items of --limit.")]
Opts = Annotated[
    list[str] | None,
    typer.Option("--option", help="NAME=VALUE: an option of the suite, as `glosseme suites` lists them."),
]
Dtype = Annotated[str, typer.Option("--dtype", help="float32, bfloat16 or float16; only float32 is exact.")]
Device = Annotated[str, typer.Option("--device", help="auto, cpu, cuda ...")]
Bos = Annotated[str, typer.Option("--bos", help="What precedes a text for causal models: auto, always or never.")]
BatchSize = Annotated[int | None, typer.Option("--batch-size", help="At most so many sequences at once.")]
BatchTokens = Annotated[int | None, typer.Option("--batch-tokens", help="At most so many tokens at once.")]
Sharing = Annotated[bool, typer.Option("--sharing/--no-sharing", help="Compute shared prefixes once.")]
AllowNonfinite = Annotated[
    bool, typer.Option("--allow-nonfinite", help="Count values that aren't finite instead of stopping.")
]
Trust = Annotated[bool, typer.Option("--trust-remote-code", help="Let the model's repository run its own code.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No progress.")]
Format = Annotated[str, typer.Option("--format", help="text, json, csv, markdown or latex.")]
By = Annotated[
    str | None,
    typer.Option("--by", help="Factors to group by, with commas (--by construction,scale); 'none' for one row."),
]


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context, version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False
) -> None:
    if version:
        from importlib.metadata import version as version_of

        typer.echo(version_of("glosseme"))
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def quickstart(
    model: Annotated[
        str, typer.Option("-m", "--model", help="Another model than the offline one.")
    ] = "offline:gemma-3-270m",
    out: Out = Path("runs/quickstart"),
    limit: Annotated[int, typer.Option("--limit", help="Items of a suite; of wdlmpro a twentieth.")] = 480,
    quiet: Quiet = False,
) -> None:
    """Evaluate the offline model on a sample of paired-focus and wdlmpro and print the tables."""
    from glosseme.quickstart import quickstart as start

    typer.echo(start(model, out, limit, quiet=quiet))


@app.command()
def suites() -> None:
    """List the suites, their sets and options."""
    from glosseme.report.suites import list_suites

    typer.echo(list_suites())


@app.command()
def show(
    suite: Annotated[str, typer.Argument(help="A suite or a group.")],
    kind: Annotated[str, typer.Option("--kind", help="causal, masked or static: how the items are asked.")] = "causal",
    data: Data = None,
    n: Annotated[int, typer.Option("-n", help="Items.")] = 2,
    seed: Seed = 0,
    option: Opts = None,
) -> None:
    """Show a few items of a suite."""
    from glosseme.report.suites import show_items

    typer.echo(show_items(suite, kind, data, n, seed, options_of(option)))


@app.command()
def run(
    model: Models,
    suite: Suites,
    out: Out = Path("runs"),
    data: DataOf = None,
    limit: Limit = None,
    seed: Seed = 0,
    option: Opts = None,
    targets: Annotated[
        Path | None, typer.Option("--targets", help="wdlmpro: the groups of the synsets in a file.")
    ] = None,
    counts: Annotated[Path | None, typer.Option("--counts", help="wdlmpro: word counts of your own corpus.")] = None,
    dtype: Dtype = "float32",
    device: Device = "auto",
    bos: Bos = "auto",
    batch_size: BatchSize = None,
    batch_tokens: BatchTokens = None,
    sharing: Sharing = True,
    allow_nonfinite: AllowNonfinite = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace another run in the same folder.")] = False,
    trust_remote_code: Trust = False,
    quiet: Quiet = False,
) -> None:
    """Run models on suites; the same command again goes on where it stopped."""
    from glosseme.runs.many import RunArguments, run_many

    arguments = RunArguments(
        models=model,
        suites=suite,
        out=out,
        data=data_of(data),
        limit=limit,
        seed=seed,
        options=options_of(option),
        files={name: path for name, path in (("targets", targets), ("counts", counts)) if path is not None},
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
    for folder in run_many(arguments, quiet=quiet):
        typer.echo(folder)


@app.command()
def table(
    runs: Annotated[Path, typer.Argument(help="A folder of runs.")],
    by: By = None,
    suite: Annotated[str | None, typer.Option("-s", "--suite", help="Only this suite or group.")] = None,
    model: Annotated[str | None, typer.Option("-m", "--model", help="Only this model.")] = None,
    format_: Format = "text",
) -> None:
    """Print estimates with 95% intervals, n, ties and chance."""
    from glosseme.report.runs import table_of_runs

    typer.echo(table_of_runs(runs, by=by, suite=suite, model=model, format_=format_))


@app.command()
def compare(
    runs: Annotated[Path, typer.Argument(help="A folder of runs.")],
    by: Annotated[str | None, typer.Option("--by", help="Finer published figures: band (wdlmpro).")] = None,
    format_: Format = "text",
) -> None:
    """Put runs beside the published figures of the same models."""
    from glosseme.report.compare import compare_runs

    typer.echo(compare_runs(runs, by=by, format_=format_))


@app.command()
def sample(
    suite: Annotated[str, typer.Argument(help="The suite: wdlmpro.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="A new folder for the sheets and the key.")],
    groups: Annotated[int, typer.Option("--groups", help="Groups of each task.")] = 20,
    candidates: Annotated[int, typer.Option("--candidates", help="Candidates that a group has at most.")] = 10,
    seed: Annotated[int, typer.Option("--seed", help="Draws the groups and their order.")] = 0,
    data: Data = None,
) -> None:
    """Write sheets for people to rank, with the key apart."""
    from glosseme.people.sheets import write_sheets

    for path in write_sheets(suite, data, out, n_groups=groups, n_candidates=candidates, seed=seed):
        typer.echo(path)


@app.command()
def rate(
    key: Annotated[Path, typer.Argument(help="The key that `glosseme sample` wrote.")],
    sheets: Annotated[list[Path], typer.Argument(help="Filled sheets, named after their raters: W2D_anna.csv.")],
    runs: Annotated[
        Path | None, typer.Option("--runs", help="A folder of runs: their models beside the people.")
    ] = None,
    format_: Format = "text",
) -> None:
    """Score filled sheets, with models on the same groups beside them."""
    from glosseme.report.people import rate_sheets

    typer.echo(rate_sheets(key, sheets, runs, format_=format_))


@app.command()
def doctor() -> None:
    """Say which versions and devices there are, and what is missing."""
    from glosseme.report.doctor import render

    typer.echo(render())


def data_of(given: list[str] | None) -> str | dict[str, str] | None:
    """Return the data of all suites, or of each by its name, from `--data PATH` or `--data SUITE=PATH`.

    >>> data_of(["extended"]), data_of(["blimp=my/blimp", "ewok=my/ewok"])
    ('extended', {'blimp': 'my/blimp', 'ewok': 'my/ewok'})
    """
    from glosseme.errors import GlossemeError
    from glosseme.suites import all_suites, group_of

    names = {name for suite in all_suites() for name in (suite, group_of(suite))}
    by_name = {}
    for text in given or []:
        name, equals, path = text.partition("=")
        if not equals or name not in names:
            if len(given or []) > 1:
                todo = "with more than one --data write each as SUITE=PATH"
                raise GlossemeError(f"which suite are the data {text!r} for?", todo=todo)
            return text
        if name in by_name:
            raise GlossemeError(f"there are two --data for {name!r}", todo="give each suite one")
        by_name[name] = path
    return by_name or None


def options_of(pairs: list[str] | None) -> dict[str, str]:
    """Return options by name from `--option NAME=VALUE`."""
    from glosseme.errors import GlossemeError

    found = {}
    for pair in pairs or []:
        name, equals, value = pair.partition("=")
        if not equals or not name or not value:
            raise GlossemeError(f"the option {pair!r} isn't NAME=VALUE", todo="write --option reduction=sum")
        found[name] = value
    return found
