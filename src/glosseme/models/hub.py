"""Files from the model hub, all of one commit, and its refusals in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Final

from glosseme.errors import WORK_FAILED, GlossemeError, nearest
from glosseme.models.reach import hub_answers, no_retry_lines
from glosseme.models.reference import MAIN, Reference

__all__ = ["WELL_KNOWN", "fetch_file", "fetch_snapshot"]

WELL_KNOWN: Final = (
    "gpt2",
    "gpt2-medium",
    "gpt2-large",
    "gpt2-xl",
    "openai-community/gpt2",
    *(
        f"EleutherAI/pythia-{size}"
        for size in ("14m", "31m", "70m", "160m", "410m", "1b", "1.4b", "2.8b", "6.9b", "12b")
    ),
    *(f"facebook/opt-{size}" for size in ("125m", "350m", "1.3b", "2.7b", "6.7b")),
    *(f"allenai/OLMo-2-{size}" for size in ("0425-1B", "1124-7B", "1124-13B")),
    *(
        f"jhu-clsp/ettin-{half}-{size}"
        for half in ("decoder", "encoder")
        for size in ("17m", "32m", "68m", "150m", "400m", "1b")
    ),
    *(f"google/gemma-3-{size}-pt" for size in ("1b", "4b")),
    "google/gemma-3-270m",
    "bert-base-uncased",
    "bert-large-uncased",
    "google-bert/bert-base-uncased",
    "FacebookAI/roberta-base",
    "FacebookAI/roberta-large",
    "FacebookAI/xlm-roberta-base",
    "distilbert/distilbert-base-uncased",
    "microsoft/deberta-v3-base",
    "answerdotai/ModernBERT-base",
    "answerdotai/ModernBERT-large",
)
"""Names offered when a name is not found: models that the literature scores."""
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")


def fetch_snapshot(reference: Reference, revision: str, patterns: Sequence[str], *, bars: bool = False) -> Path:
    """Return the cached folder of one commit with the files that match `patterns`, downloaded if need be.

    The folder's name is the commit. Without a connection the cache answers, for this revision only. `bars` shows
    how far a download is. Raises `GlossemeError` when neither has it.
    """
    from huggingface_hub import snapshot_download

    def get(*, local: bool) -> Path:
        folder = snapshot_download(
            reference.name, revision=revision, allow_patterns=list(patterns), local_files_only=local
        )
        return Path(folder)

    with _refusals(reference), no_retry_lines(), nullcontext() if bars else _no_bars():
        return _whole_commit(get, revision) or get(local=not hub_answers())


def _whole_commit(get: Callable[..., Path], revision: str) -> Path | None:
    """Return the cached folder of a commit that is known to be whole: it never changes, so the hub isn't asked."""
    from huggingface_hub.errors import LocalEntryNotFoundError

    if not _COMMIT.fullmatch(revision):
        return None
    try:
        folder = get(local=True)
    except LocalEntryNotFoundError:
        return None
    # Without the hub's list of the commit's files a folder of some of them looks whole.
    return folder if (folder.parent.parent / "trees" / f"{revision}.json").is_file() else None


def fetch_file(reference: Reference, commit: str, name: str) -> Path | None:
    """Return one file of a commit, None where the commit has no such file; raises like `fetch_snapshot`."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError

    def get(*, local: bool) -> Path:
        return Path(hf_hub_download(reference.name, name, revision=commit, local_files_only=local))

    with _refusals(reference), no_retry_lines():
        with suppress(LocalEntryNotFoundError):
            return get(local=True)
        try:
            return get(local=not hub_answers())
        except LocalEntryNotFoundError:
            raise
        except EntryNotFoundError:
            return None


@contextmanager
def _no_bars() -> Iterator[None]:
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


@contextmanager
def _refusals(reference: Reference) -> Iterator[None]:
    try:
        yield
    except GlossemeError:
        raise
    except Exception as error:
        told = _told(error, reference)
        if told is None:
            raise
        raise told from error


def _told(error: Exception, reference: Reference) -> GlossemeError | None:
    """Return what a refusal of the hub means, None for an error that is not the hub's."""
    from huggingface_hub import errors as hub

    name, revision, where = reference.name, reference.revision, reference.display
    if isinstance(error, hub.GatedRepoError):
        todo = f"accept its terms at https://huggingface.co/{name}, then run: hf auth login"
        return GlossemeError("this model is given only to those who accept its terms", where=where, todo=todo)
    if isinstance(error, hub.RevisionNotFoundError):
        return GlossemeError(
            f"the model has no revision {revision!r}",
            where=where,
            todo=f"choose a branch, tag or commit listed at https://huggingface.co/{name}/branches",
        )
    if isinstance(error, hub.RepositoryNotFoundError):
        todo = f"{nearest(name, WELL_KNOWN)} (for a private model run: hf auth login)"
        return GlossemeError("the hub has no such model", where=where, todo=todo if len(todo) < 200 else _SPELLING)
    if isinstance(error, hub.LocalEntryNotFoundError | hub.OfflineModeIsEnabled) or _is_network(error):
        what = "the model" if revision == MAIN else f"revision {revision!r} of the model"
        return GlossemeError(
            f"{what} is not (or not wholly) in the cache, and the hub can't be reached",
            where=where,
            todo=_unreached(name),
        )
    if isinstance(error, hub.HfHubHTTPError):
        return GlossemeError(f"the hub refused: {_first_line(error)}", where=where, exit_code=WORK_FAILED)
    return None


def _unreached(name: str) -> str:
    """Return what to do about a model that can't be looked up: it may be misspelt as well as out of reach."""
    check = "check the name and the connection, or give a local folder"
    close = "" if name in WELL_KNOWN else nearest(name, WELL_KNOWN)
    return f"{close} {check[0].upper()}{check[1:]}" if close.startswith("did you mean") else check


_SPELLING: Final = "check the spelling (for a private model run: hf auth login)"


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
