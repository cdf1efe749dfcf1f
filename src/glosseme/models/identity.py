"""What makes two models the same: hashes of the files that they are loaded from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Final

__all__ = ["RECORD", "Identity", "file_sha256", "identify", "identity_of_hashes", "record_files"]

RECORD: Final = "glosseme.json"
"""The file in a converted model's folder that says what it was made of and the hashes of what was saved."""

_SHA256: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Identity:
    """The hashes that a stored value is kept under."""

    weights: str
    """SHA-256 over the names and hashes of the weight files, config.json and any code that is run."""
    tokenizer: str
    """SHA-256 over the names and hashes of the tokenizer's files."""
    commit: str | None
    """The hub's commit."""
    files: dict[str, str]
    """SHA-256 of each file by name."""


def identify(
    folder: Path, commit: str | None, weights: Iterable[str], tokenizer_folder: Path, tokenizer: Iterable[str]
) -> Identity:
    """Return the identity of a model from the names of its files in `folder` and of its tokenizer's.

    `weights` are the files that fix the network (safetensors, config.json, code), `tokenizer` those of the
    tokenizer. Equal contents give equal hashes wherever the folder lies.
    """
    recorded, tokenizer_recorded = _recorded(folder), _recorded(tokenizer_folder)
    of_weights = {n: _hash(folder / n, recorded) for n in sorted(weights)}
    of_tokenizer = {n: _hash(tokenizer_folder / n, tokenizer_recorded) for n in sorted(tokenizer)}
    return identity_of_hashes(commit, of_weights, of_tokenizer)


def identity_of_hashes(commit: str | None, weights: Mapping[str, str], tokenizer: Mapping[str, str]) -> Identity:
    """Return the identity made of file hashes.

    >>> a = identity_of_hashes(None, {"a": "1"}, {"t": "2"})
    >>> a == identity_of_hashes(None, {"a": "1"}, {"t": "2"}), a.weights == a.tokenizer
    (True, False)
    """
    return Identity(_digest(weights), _digest(tokenizer), commit, {**weights, **tokenizer})


def _digest(hashes: Mapping[str, str]) -> str:
    return sha256(json.dumps(sorted(hashes.items())).encode()).hexdigest()


def _hash(path: Path, recorded: Mapping[str, Mapping[str, object]]) -> str:
    entry = recorded.get(path.name)
    if entry is not None:
        stat = path.stat()
        if entry.get("size") == stat.st_size and entry.get("mtime_ns") == stat.st_mtime_ns:
            return str(entry["sha256"])
    return file_sha256(path)


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file, which the hub's cache knows of its large files by their names."""
    if path.is_symlink():
        blob = path.readlink()
        if blob.parent.name == "blobs" and _SHA256.fullmatch(blob.name):
            return blob.name
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def record_files(folder: Path) -> dict[str, dict[str, object]]:
    """Return size, time of change and SHA-256 of every file in `folder`, as `RECORD` keeps them."""
    entries: dict[str, dict[str, object]] = {}
    for path in sorted(p for p in folder.iterdir() if p.is_file() and p.name != RECORD):
        stat = path.stat()
        entries[path.name] = {
            "sha256": file_sha256(path),
            "size": stat.st_size,
            "mtime_ns": stat.st_mtime_ns,
        }
    return entries


def _recorded(folder: Path) -> Mapping[str, Mapping[str, object]]:
    try:
        files = json.loads((folder / RECORD).read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return files if isinstance(files, dict) else {}
