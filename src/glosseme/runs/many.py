"""Models times suites: everything that can be wrong with a request is found before a model is loaded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TypeVar

from glosseme.errors import GlossemeError, nearest
from glosseme.models import Model, needs_conversion, notice, open_model, parse_reference
from glosseme.models.catalogue import expand
from glosseme.progress import QuietProgress, progress_for
from glosseme.runs.evaluate import evaluate
from glosseme.runs.options import Asked, asked_of
from glosseme.runs.shared import Shared
from glosseme.scoring.encode import BOS_CHOICES
from glosseme.scoring.execute import Settings
from glosseme.scoring.plan import Limits
from glosseme.suites import Suite, find_suites, group_of, suites_for

__all__ = [
    "RunArguments",
    "all_asked",
    "check_arguments",
    "check_folders",
    "check_writable",
    "opened_model",
    "run_many",
]

T = TypeVar("T", bound=str)


@dataclass(frozen=True, slots=True)
class RunArguments:
    """What `glosseme run` is given."""

    models: Sequence[str]
    suites: Sequence[str]
    out: Path
    data: str | Mapping[str, str] | None = None
    """A set, file or folder: one for all suites, or by the names of suites and groups."""
    limit: int | None = None
    seed: int = 0
    options: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, Path] = field(default_factory=dict)
    dtype: str = "float32"
    device: str = "auto"
    bos: str = "auto"
    batch_size: int | None = None
    batch_tokens: int | None = None
    sharing: bool = True
    allow_nonfinite: bool = False
    overwrite: bool = False
    trust_remote_code: bool = False


def run_many(arguments: RunArguments, *, quiet: bool = False) -> Iterator[Path]:
    """Run every model on every suite that fits it; yield the folders as they are finished.

    Raises `GlossemeError` for any name, option or file that is wrong, before the first model is loaded.
    """
    settings = check_arguments(arguments)
    progress = progress_for(quiet=quiet)
    opened = [opened_model(name, arguments, progress) for name in expand(arguments.models)]
    references = [model.reference for model in opened]
    check_folders((f"{one.label}/{one.revision_label}", one.name) for one in references)
    work = [(model, all_asked(model, arguments)) for model in opened]
    shared = Shared()
    try:
        for model, asked in work:
            for done in evaluate(
                model, asked, arguments.out, progress, settings=settings, overwrite=arguments.overwrite, shared=shared
            ):
                yield done.folder
            model.close()
    finally:
        progress.end()


def check_arguments(arguments: RunArguments) -> Settings:
    """Return how the work is done; raise `GlossemeError` for what is wrong whatever the model."""
    settings = _settings(arguments)
    for what, names in (("model", arguments.models), ("suite", arguments.suites)):
        if not names:
            raise GlossemeError(f"no {what} was named", todo=f"name one or more {what}s")
    for name in arguments.suites:
        find_suites(name)
    check_writable(arguments.out)
    return settings


def check_folders(places: Iterable[tuple[str, str]]) -> None:
    """Raise `GlossemeError` for two models whose runs would lie in one folder; `places` are folders and names."""
    taken: dict[str, str] = {}
    for folder, name in places:
        other = taken.setdefault(folder, name)
        if other != name:
            raise GlossemeError(
                f"{other} and {name} would share the folder {folder}",
                todo="run them apart, each with a folder of its own (-o), or rename one",
            )


def opened_model(name: str, arguments: RunArguments, progress: QuietProgress) -> Model:
    """Return the model of a name, having said what its user has to know."""
    reference = parse_reference(name)
    terms = notice(reference)
    if terms:
        progress.say(terms)
    if needs_conversion(reference):
        progress.say(f"{reference.display} is converted to safetensors once, which takes about a minute")
    return open_model(
        name, dtype=arguments.dtype, device=arguments.device, trust_remote_code=arguments.trust_remote_code
    )


def all_asked(model: Model, arguments: RunArguments) -> list[Asked]:
    """Return what is asked of each suite that fits the model; raise `GlossemeError` for options and data amiss."""
    suites = suites_for(tuple(arguments.suites), model.kind)
    # With a group of suites, an option goes to those that have it; one that none has is wrong.
    for name in arguments.options:
        if not any(name in suite.options for suite in suites):
            known = sorted({option for suite in suites for option in suite.options})
            raise GlossemeError(f"none of the suites has an option {name!r}", todo=nearest(name, known))
    for name in arguments.files:
        if not any(name in suite.files for suite in suites):
            raise GlossemeError(f"none of the suites takes a file --{name}", todo=f"leave out --{name}")
    data = _data_by_suite(suites, arguments.data)
    return [
        asked_of(
            suite,
            data.get(suite.name),
            {k: v for k, v in arguments.options.items() if k in suite.options},
            limit=arguments.limit,
            seed=arguments.seed,
            bos=_one_of("bos", arguments.bos, BOS_CHOICES),
            files={k: v for k, v in arguments.files.items() if k in suite.files},
        )
        for suite in suites
    ]


def _data_by_suite(suites: Sequence[Suite], data: str | Mapping[str, str] | None) -> dict[str, str]:
    """Return the data of each suite for which some are given; those of its own name come before its group's."""
    if data is None:
        return {}
    if isinstance(data, str):
        return {suite.name: data for suite in suites}
    names = [name for suite in suites for name in (suite.name, group_of(suite.name))]
    for name in data:
        if name not in names:
            raise GlossemeError(f"there are data for {name!r}, which isn't run", todo=nearest(name, names))
    given = {suite.name: data.get(suite.name, data.get(group_of(suite.name))) for suite in suites}
    return {name: value for name, value in given.items() if value is not None}


def _settings(arguments: RunArguments) -> Settings:
    for name, number in (
        ("--limit", arguments.limit),
        ("--batch-size", arguments.batch_size),
        ("--batch-tokens", arguments.batch_tokens),
    ):
        if number is not None and number < 1:
            raise GlossemeError(f"{name} {number} leaves nothing to do", todo=f"give {name} 1 or more")
    if arguments.seed < 0:
        raise GlossemeError(f"the seed {arguments.seed} is negative", todo="give --seed 0 or more")
    _one_of("bos", arguments.bos, BOS_CHOICES)
    limits = None
    if arguments.batch_size is not None or arguments.batch_tokens is not None:
        limits = Limits(tokens=arguments.batch_tokens or Limits().tokens, sequences=arguments.batch_size)
    return Settings(
        limits=limits,
        ways=None if arguments.sharing else ("padded", "equal", "plain"),
        allow_nonfinite=arguments.allow_nonfinite,
    )


def _one_of(name: str, value: str, choices: Sequence[T]) -> T:
    for choice in choices:
        if choice == value:
            return choice
    raise GlossemeError(f"there is no {name} {value!r}", todo=nearest(value, choices))


def check_writable(out: Path) -> None:
    """Raise `GlossemeError` if runs can't be written below `out`."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        # A name of its own: another process may be looking at the same time.
        with NamedTemporaryFile(dir=out, prefix=".glosseme-"):
            pass
    except OSError as error:
        raise GlossemeError(
            f"the folder can't be written ({error.strerror})",
            where=str(out),
            todo="choose another one with -o",
        ) from None
