"""What a refusal of the hub means, in one line: what, where, and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Literal

from glosseme.errors import WORK_FAILED, GlossemeError, nearest

__all__ = ["Repository", "no_bars", "refusals"]

_MAIN: Final = "main"
_NOUNS: Final = {"model": "model", "dataset": "data set"}


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository of the hub at a revision."""

    name: str
    """`organisation/name`."""
    revision: str = _MAIN
    """A branch, tag or commit."""
    kind: Literal["model", "dataset"] = "model"
    display: str = ""
    """What messages call it; the name by default."""
    instead: str = "give a local folder"
    """What else a user may do when the hub doesn't give it."""
    gated: bool = False
    """Whether it is given only to those who accept its terms."""
    known: tuple[str, ...] = ()
    """Names offered when the hub has none of this name."""

    @property
    def where(self) -> str:
        """What messages call it."""
        return self.display or self.name

    @property
    def address(self) -> str:
        """The page of the repository.

        >>> Repository("nyu-mll/blimp", kind="dataset").address
        'https://huggingface.co/datasets/nyu-mll/blimp'
        """
        return f"https://huggingface.co/{'datasets/' if self.kind == 'dataset' else ''}{self.name}"

    @property
    def noun(self) -> str:
        """What it is: a model or a data set."""
        return _NOUNS[self.kind]


@contextmanager
def refusals(repository: Repository) -> Iterator[None]:
    """Raise what the hub refuses as `GlossemeError`; let other errors through."""
    try:
        yield
    except GlossemeError:
        raise
    except Exception as error:
        told = _told(error, repository)
        if told is None:
            raise
        raise told from error


@contextmanager
def no_bars() -> Iterator[None]:
    """Keep the hub's bars of progress off the screen for a while."""
    from huggingface_hub.utils import (  # type: ignore[attr-defined]
        are_progress_bars_disabled,
        disable_progress_bars,
        enable_progress_bars,
    )

    if are_progress_bars_disabled():
        yield
        return
    disable_progress_bars()
    try:
        yield
    finally:
        enable_progress_bars()


def _told(error: Exception, repository: Repository) -> GlossemeError | None:
    """Return what a refusal of the hub means, None for an error that is not the hub's."""
    from huggingface_hub import errors as hub

    noun, revision, where = repository.noun, repository.revision, repository.where
    other = f", or {repository.instead}" if repository.kind == "dataset" else ""
    if isinstance(error, hub.GatedRepoError):
        todo = f"accept its terms at {repository.address}, then run: hf auth login{other}"
        return GlossemeError(f"this {noun} is given only to those who accept its terms", where=where, todo=todo)
    if isinstance(error, hub.RevisionNotFoundError):
        todo = f"choose a branch, tag or commit listed at {repository.address}/branches"
        return GlossemeError(f"the {noun} has no revision {revision!r}", where=where, todo=todo + other)
    if isinstance(error, hub.RepositoryNotFoundError):
        return GlossemeError(f"the hub has no such {noun}", where=where, todo=_not_found(repository) + other)
    if isinstance(error, hub.LocalEntryNotFoundError | hub.OfflineModeIsEnabled) or _is_network(error):
        what = f"the {noun}" if revision == _MAIN else f"revision {revision!r} of the {noun}"
        return GlossemeError(
            f"{what} is not (or not wholly) in the cache, and the hub can't be reached",
            where=where,
            todo=_unreached(repository),
        )
    if isinstance(error, hub.HfHubHTTPError):
        what = f"the hub refused: {_first_line(error)}"
        return GlossemeError(what, where=where, todo=repository.instead if other else None, exit_code=WORK_FAILED)
    return None


def _not_found(repository: Repository) -> str:
    private = f"(for a private {repository.noun} run: hf auth login)"
    todo = f"{nearest(repository.name, repository.known)} {private}"
    return todo if repository.known and len(todo) < 200 else f"check the spelling {private}"


def _unreached(repository: Repository) -> str:
    """Return what to do about a repository that can't be looked up: it may be misspelt as well as out of reach."""
    if repository.kind == "dataset":
        gate = f" (its terms are accepted at {repository.address}, then run: hf auth login)" if repository.gated else ""
        return f"check the connection{gate}, or {repository.instead}"
    check = f"check the name and the connection, or {repository.instead}"
    close = "" if repository.name in repository.known else nearest(repository.name, repository.known)
    return f"{close} {check[0].upper()}{check[1:]}" if close.startswith("did you mean") else check


def _is_network(error: Exception) -> bool:
    # The hub's client has changed its HTTP library before; its connection errors are known by their origin.
    library = type(error).__module__.partition(".")[0]
    return isinstance(error, ConnectionError | TimeoutError) or library in {
        "httpx",
        "httpx2",
        "httpcore",
        "requests",
    }


def _first_line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
