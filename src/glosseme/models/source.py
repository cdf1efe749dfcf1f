"""From a reference to files on this machine: first what planning needs, later the weights."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from glosseme.errors import GlossemeError
from glosseme.models.hub import fetch_file, fetch_snapshot
from glosseme.models.kind import check_config
from glosseme.models.reference import Reference

__all__ = [
    "TOKENIZER_FILES",
    "ModelFiles",
    "has_weights",
    "read_config",
    "resolve_light",
    "resolve_weights",
    "tokenizer_files",
    "weight_files",
]

TOKENIZER_FILES: Final = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "vocab.txt",
    "merges.txt",
    "bpe.codes",
    "tokenizer.model",
    "spiece.model",
    "spm.model",
    "sentencepiece.bpe.model",
    "sentencepiece.model",
    "tekken.json",
    "tiktoken.model",
)
_VOCABULARIES: Final = frozenset(TOKENIZER_FILES) - {
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
}
_WEIGHTS: Final = "model.safetensors"
_INDEX: Final = "model.safetensors.index.json"
_PICKLED: Final = (".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack")


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A folder with the files of one model at one state."""

    folder: Path
    commit: str | None
    """The commit of the hub that all files are of."""
    tokenizer: Path
    """The folder with the tokenizer: trainers often save one for all checkpoints, in the folder above them."""


def resolve_light(reference: Reference, *, trust_remote_code: bool = False) -> ModelFiles:
    """Return the folder with the configuration and the tokenizer, without the weights of a hub model.

    A GGUF file is converted when it is met for the first time, which takes a minute. Raises `GlossemeError`
    when the hub has no such model or revision or can't be reached, and for an adapter.
    """
    if reference.source == "hub":
        patterns = ["config.json", _INDEX, *TOKENIZER_FILES, *(["*.py"] if trust_remote_code else [])]
        folder = fetch_snapshot(reference, reference.revision, patterns)
        files = ModelFiles(folder, folder.name, folder)
        if not (folder / "config.json").is_file() and fetch_file(reference, folder.name, "config.json") is None:
            raise GlossemeError("the model has no config.json", where=reference.display, todo="choose another one")
        return files
    if reference.source in {"gguf", "offline"}:
        from glosseme.models.offline import converted_folder

        converted = converted_folder(reference)
        return ModelFiles(converted, None, converted)
    folder = _without_adapter(reference.folder)
    has_own = folder == Path(reference.name) or _vocabularies(folder) or not _vocabularies(folder.parent)
    return ModelFiles(folder, None, folder if has_own else folder.parent)


def resolve_weights(reference: Reference, files: ModelFiles) -> tuple[str, ...]:
    """Return the names of the weight files in `files.folder`, downloaded at the same commit if need be.

    Raises `GlossemeError` where there are no safetensors: pickled weights can run code and are never loaded.
    """
    if reference.source == "hub" and files.commit is not None:
        _download_weights(reference, files, files.commit)
    return weight_files(files.folder, where=reference.display)


def _download_weights(reference: Reference, files: ModelFiles, commit: str) -> None:
    where, index = reference.display, files.folder / _INDEX
    if not index.is_file():
        if fetch_file(reference, commit, _WEIGHTS) is None:
            _refuse_pickles(where, [])
        return
    if (files.folder / _WEIGHTS).is_file():
        return
    shards = _shards(index, where)
    if all((files.folder / s).is_file() for s in shards):
        return
    folder = fetch_snapshot(reference, commit, shards, bars=True)
    for shard in shards:  # a snapshot that is answered from the cache may lack some
        if not (folder / shard).is_file() and fetch_file(reference, commit, shard) is None:
            raise GlossemeError(f"the weight file {shard!r} is missing", where=where)


def has_weights(folder: Path) -> bool:
    """Return whether all weight files of a folder's model are there, as safetensors."""
    try:
        weight_files(folder, where=str(folder))
    except GlossemeError:
        return False
    return True


def weight_files(folder: Path, *, where: str) -> tuple[str, ...]:
    """Return the names of the safetensors files of a folder's model; raises where there are none."""
    if (folder / _WEIGHTS).is_file():
        return (_WEIGHTS,)
    if not (folder / _INDEX).is_file():
        pickled = sorted(p.name for p in folder.iterdir() if p.suffix in _PICKLED)
        _refuse_pickles(where, pickled, from_hub=folder.parent.name == "snapshots")
    shards = _shards(folder / _INDEX, where)
    missing = [s for s in shards if not (folder / s).is_file()]
    if missing:
        raise GlossemeError(f"the weight file {missing[0]!r} is missing ({len(missing)} in all)", where=where)
    return tuple(shards)


def _shards(index: Path, where: str) -> list[str]:
    shard_of = _read_json(index, where).get("weight_map")
    if not isinstance(shard_of, dict) or not all(isinstance(n, str) for n in shard_of.values()):
        raise GlossemeError(f"{_INDEX} has no weight_map from weights to files", where=where)
    names = sorted(set(shard_of.values()))
    if not names or any("/" in n or "\\" in n or n.startswith(".") for n in names):
        raise GlossemeError(f"{_INDEX} names no weight files of this folder", where=where)
    return names


def _refuse_pickles(where: str, pickled: list[str], *, from_hub: bool = True) -> None:
    has = f"only pickled weights ({pickled[0]}), which can run code and are not loaded" if pickled else "none"
    what = f"safetensors weights are needed and there are {has}"
    todo = "convert them with transformers' save_pretrained on a machine you trust" if pickled or from_hub else None
    if from_hub:
        todo = f"{todo}, or try the hub's converted copy: @refs/pr/N of its conversion pull request"
    raise GlossemeError(what, where=where, todo=todo)


def _without_adapter(folder: Path) -> Path:
    # transformers would answer with another base model, fetched by the name that the adapter gives.
    if (folder / "adapter_config.json").is_file():
        raise GlossemeError(
            "the folder holds an adapter",
            where=str(folder),
            todo="merge it into its model (merge_and_unload) and save",
        )
    return folder


def read_config(folder: Path, *, where: str) -> Mapping[str, Any]:
    """Return the contents of config.json; raises `GlossemeError` for no JSON object and values of a wrong type."""
    config = _read_json(folder / "config.json", where)
    check_config(config, where=where)
    return config


def _read_json(path: Path, where: str) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except RecursionError as error:
        raise GlossemeError(f"{path.name} can't be read (nested too deeply)", where=where) from error
    except (OSError, ValueError) as error:
        raise GlossemeError(f"{path.name} can't be read ({error})", where=where) from error
    if not isinstance(value, dict):
        raise GlossemeError(f"{path.name} holds no JSON object", where=where)
    return value


def _vocabularies(folder: Path) -> list[str]:
    return [name for name in _VOCABULARIES if (folder / name).is_file()]


def tokenizer_files(folder: Path, *, where: str) -> tuple[str, ...]:
    """Return the names of the tokenizer's files in a folder; raises if it has no vocabulary."""
    names = tuple(n for n in TOKENIZER_FILES if (folder / n).is_file())
    if not _vocabularies(folder):
        raise GlossemeError(
            "there is no tokenizer beside the model",
            where=where,
            todo="save its tokenizer into the same folder",
        )
    return names
