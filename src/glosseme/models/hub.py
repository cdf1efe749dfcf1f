"""Files from the model hub, all of one commit, and its refusals in words."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from glosseme import hub
from glosseme.hub.reach import hub_answers, no_retry_lines
from glosseme.models.catalogue import catalogue
from glosseme.models.reference import Reference

__all__ = ["WELL_KNOWN", "fetch_file", "fetch_snapshot", "list_revisions", "weights_sha256"]

_MORE: Final = (
    "gpt2",
    "gpt2-medium",
    "gpt2-large",
    "gpt2-xl",
    "bert-base-uncased",
    "bert-large-uncased",
    *(f"google/gemma-3-{size}" for size in ("270m", "1b-pt", "4b-pt")),
    "FacebookAI/xlm-roberta-base",
    "distilbert/distilbert-base-uncased",
    "microsoft/deberta-v3-base",
)
WELL_KNOWN: Final = (*dict.fromkeys([*_MORE, *catalogue()["name"]]),)
"""Names offered when a name is not found: models that the literature scores."""


def fetch_snapshot(reference: Reference, revision: str, patterns: Sequence[str], *, bars: bool = False) -> Path:
    """Return the cached folder of one commit with the files that match `patterns`, downloaded if need be.

    The folder's name is the commit. Without a connection the cache answers, for this revision only. `bars` shows
    how far a download is. Raises `GlossemeError` when neither has it.
    """
    return hub.fetch_snapshot(replace(_repository(reference), revision=revision), patterns, bars=bars)


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


def list_revisions(reference: Reference) -> list[str]:
    """Return the branches and tags of a model; without a connection, those in the cache.

    Raises like `fetch_snapshot`.
    """
    from huggingface_hub import HfApi

    with _refusals(reference), no_retry_lines():
        if not hub_answers():
            return _cached_revisions(reference)
        refs = HfApi().list_repo_refs(reference.name)
    return [ref.name for ref in (*refs.branches, *refs.tags)]


def _cached_revisions(reference: Reference) -> list[str]:
    from huggingface_hub import constants
    from huggingface_hub.errors import LocalEntryNotFoundError

    refs = Path(constants.HF_HUB_CACHE) / f"models--{reference.name.replace('/', '--')}" / "refs"
    names = sorted(path.relative_to(refs).as_posix() for path in refs.rglob("*") if path.is_file())
    if not names:
        raise LocalEntryNotFoundError(f"no revision of {reference.name} is in the cache")
    return names


def weights_sha256(reference: Reference, commit: str) -> dict[str, str]:
    """Return the SHA-256 of the safetensors files of a commit, as the hub knows them; none without a connection.

    Nothing is downloaded. Raises like `fetch_snapshot`.
    """
    from huggingface_hub import HfApi

    with _refusals(reference), no_retry_lines():
        if not hub_answers():
            return {}
        files = HfApi().model_info(reference.name, revision=commit, files_metadata=True).siblings or []
    return {f.rfilename: f.lfs.sha256 for f in files if f.lfs is not None and f.rfilename.endswith(".safetensors")}


def _repository(reference: Reference) -> hub.Repository:
    return hub.Repository(reference.name, reference.revision, display=reference.display, known=WELL_KNOWN)


def _refusals(reference: Reference) -> AbstractContextManager[None]:
    return hub.refusals(_repository(reference))
