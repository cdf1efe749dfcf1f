"""Files of one commit of a repository, in the user's cache."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Final

from glosseme.hub.reach import hub_answers, no_retry_lines
from glosseme.hub.refusals import Repository, no_bars, refusals

__all__ = ["fetch_snapshot"]

_COMMIT: Final = re.compile(r"[0-9a-f]{40}")


def fetch_snapshot(repository: Repository, patterns: Sequence[str], *, bars: bool = False) -> Path:
    """Return the cached folder of one commit with the files that match `patterns`, downloaded if need be.

    The folder's name is the commit. Without a connection the cache answers, for this revision only. `bars` shows
    how far a download is. Raises `GlossemeError` when neither has it.
    """
    from huggingface_hub import snapshot_download

    def get(*, local: bool) -> Path:
        folder = snapshot_download(
            repository.name,
            repo_type=repository.kind,
            revision=repository.revision,
            allow_patterns=list(patterns),
            local_files_only=local,
        )
        return Path(folder)

    with refusals(repository), no_retry_lines(), nullcontext() if bars else no_bars():
        return _whole_commit(get, repository.revision) or get(local=not hub_answers())


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
