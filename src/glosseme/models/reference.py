"""What the name of a model stands for, decided without loading anything."""

from __future__ import annotations

import os
import re
import unicodedata
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal

from glosseme.errors import GlossemeError, nearest

__all__ = ["FAKES", "MAIN", "OFFLINE", "STATIC", "Reference", "Source", "parse_reference", "safe_label"]

Source = Literal["hub", "folder", "gguf", "offline", "fake", "static"]

MAIN: Final = "main"
FAKES: Final = ("fake:constant", "fake:random", "fake:constant-masked", "fake:random-masked")
OFFLINE: Final = ("offline:gemma-3-270m",)
STATIC: Final = ("static:wordllama",)

_STATIC_PREFIX: Final = "static:"
_VECTOR_FILES: Final = tuple(f"{ending}{packed}" for ending in (".vec", ".txt", ".bin") for packed in ("", ".gz"))

_HUB_NAME: Final = re.compile(r"[A-Za-z0-9_][\w.-]*(/[A-Za-z0-9_][\w.-]*)?", re.ASCII)
_HUB_REVISION: Final = re.compile(r"(?!.*\.\.)[\w][\w./+-]*", re.ASCII)
_RESERVED: Final = frozenset({"con", "prn", "aux", "nul"} | {f"{p}{i}" for p in ("com", "lpt") for i in range(10)})
_LONGEST_LABEL: Final = 120


@dataclass(frozen=True, slots=True)
class Reference:
    """A model by name: where it comes from, and at which revision."""

    name: str
    """A hub name, the absolute path of a folder, GGUF file or file of vectors, or `offline:...`, `fake:...`,
    `static:...`."""
    revision: str
    """A branch, tag or commit of the hub; a checkpoint's folder inside a folder; the seed of a random fake; `main` for
    everything else."""
    source: Source

    @property
    def folder(self) -> Path:
        """Where the files of a local model lie.

        >>> str(Reference("/models/mine", "checkpoint-500", "folder").folder)
        '/models/mine/checkpoint-500'
        """
        inside = self.source == "folder" and self.revision != MAIN
        return Path(self.name) / self.revision if inside else Path(self.name)

    @property
    def label(self) -> str:
        """The model as the name of a folder on any platform.

        >>> Reference("EleutherAI/pythia-160m", "step1000", "hub").label
        'EleutherAI--pythia-160m'
        """
        return safe_label(self._short())

    @property
    def revision_label(self) -> str:
        """The revision as the name of a folder on any platform.

        >>> Reference("gpt2", "refs/pr/3", "hub").revision_label
        'refs--pr--3'
        """
        return safe_label(self.revision)

    @property
    def display(self) -> str:
        """What tables and messages show.

        >>> Reference("EleutherAI/pythia-160m", "step1000", "hub").display
        'EleutherAI/pythia-160m@step1000'
        """
        return self._short() if self.revision == MAIN else f"{self._short()}@{self.revision}"

    @property
    def public_name(self) -> str:
        """The name without the folders of this machine.

        >>> Reference("/data/wiki.en.vec", "main", "static").public_name, Reference("a/b", "main", "hub").public_name
        ('wiki.en.vec', 'a/b')
        """
        return self.label if Path(self.name).is_absolute() else self.name

    def _short(self) -> str:
        if self.source == "folder" or (self.source == "static" and self.name not in STATIC):
            return Path(self.name).name or "model"
        return Path(self.name).stem if self.source == "gguf" else self.name


def safe_label(text: str) -> str:
    """Return `text` as one folder name: no separators, nothing hidden, reserved or too long.

    >>> safe_label("fake:random"), safe_label("a/b c"), safe_label(".."), safe_label("NUL.x")
    ('fake-random', 'a--b-c', 'model', '_NUL.x')
    """
    flat = unicodedata.normalize("NFC", text).replace("/", "--")
    label = re.sub(r"[^\w.+-]", "-", flat).strip(".")
    if len(label.encode()) > _LONGEST_LABEL:
        kept = label.encode()[: _LONGEST_LABEL - 9].decode(errors="ignore")
        label = f"{kept}-{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
    if label.partition(".")[0].lower() in _RESERVED:
        label = f"_{label}"
    return label or "model"


def parse_reference(text: str) -> Reference:
    """Return what `NAME[@REVISION]` stands for; a folder or file that exists comes before a hub name.

    `FOLDER@CHECKPOINT` is the model in a folder's subfolder, a checkpoint of the same model. Raises `GlossemeError`
    for a path that is not there, a folder that holds no model, and an unknown `fake:`, `offline:` or `static:` name.
    Whether the hub has a model is not asked here.

    >>> parse_reference("EleutherAI/pythia-160m@step1000")
    Reference(name='EleutherAI/pythia-160m', revision='step1000', source='hub')
    >>> parse_reference("fake:random@7")
    Reference(name='fake:random', revision='7', source='fake')
    """
    text = text.strip()
    if not text:
        raise GlossemeError("the name of the model is empty", todo="give a hub name, a folder or a .gguf file")
    if text.startswith("fake:"):
        return _fake(text)
    if text.startswith("offline:"):
        return _offline(text)
    if text.startswith(_STATIC_PREFIX):
        return _static(text)
    return _local(text) or _hub(text)


def _split(text: str) -> tuple[str, str | None]:
    name, at, revision = text.partition("@")
    if at and not revision:
        raise GlossemeError("the revision after '@' is empty", where=text, todo=f"write {name!r} for {MAIN!r}")
    return name, revision if at else None


def _known(name: str, known: tuple[str, ...]) -> None:
    if name not in known:
        raise GlossemeError(f"no model is called {name!r}", todo=nearest(name, known))


def _fake(text: str) -> Reference:
    name, revision = _split(text)
    _known(name, FAKES)
    if not name.startswith("fake:random"):
        _no_revision(text, revision, "a constant fake")
        return Reference(name, MAIN, "fake")
    seed = "0" if revision is None else revision
    if not (seed.isascii() and seed.isdecimal() and int(seed) < 2**64):
        raise GlossemeError(f"the seed {seed!r} is not a whole number from 0", where=text, todo=f"write {name}@7")
    return Reference(name, str(int(seed)), "fake")


def _offline(text: str) -> Reference:
    name, revision = _split(text)
    _known(name, OFFLINE)
    _no_revision(text, revision, "an offline model")
    return Reference(name, MAIN, "offline")


def _static(text: str) -> Reference:
    path = Path(text.removeprefix(_STATIC_PREFIX)).expanduser()
    if path.is_file():
        return Reference(str(path.resolve()), MAIN, "static")
    if path.name.lower().endswith(_VECTOR_FILES) or len(path.parts) > 1:
        raise GlossemeError("there is no such file of vectors", where=str(path))
    name, revision = _split(text)
    _known(name, STATIC)
    _no_revision(text, revision, "this model")
    return Reference(name, MAIN, "static")


def _no_revision(text: str, revision: str | None, what: str) -> None:
    if revision is not None:
        raise GlossemeError(f"{what} has no revisions", where=text, todo=f"leave out '@{revision}'")


def _local(text: str) -> Reference | None:
    path = Path(text).expanduser()
    if text.lower().endswith(".gguf"):
        if not path.is_file():
            raise GlossemeError("there is no such GGUF file", where=text)
        return Reference(str(path.resolve()), MAIN, "gguf")
    if path.is_dir():
        return _folder(path, text)
    checkpoint = _checkpoint(text)
    if checkpoint is not None:
        return checkpoint
    if text.lower().endswith(_VECTOR_FILES):
        return _static(f"{_STATIC_PREFIX}{text}")
    if path.is_file():
        todo = f"give the model's folder, a .gguf file, or vectors as {_STATIC_PREFIX}{text}"
        raise GlossemeError("this is a file", where=text, todo=todo)
    if _is_path(text):
        _refuse_path(text)
    return None


def _folder(path: Path, text: str) -> Reference:
    if not (path / "config.json").is_file():
        todo = "give the folder that holds config.json and the weights"
        if _HUB_NAME.fullmatch(text):
            todo += f", or write '{text}@{MAIN}' for the hub's model of that name"
        raise GlossemeError("the folder holds no model: config.json is missing", where=text, todo=todo)
    return Reference(str(path.resolve()), MAIN, "folder")


def _checkpoint(text: str) -> Reference | None:
    """Return the reference of FOLDER@CHECKPOINT, None where this is no folder of this machine."""
    head, at, revision = text.rpartition("@")
    folder = Path(head).expanduser()
    if not at or not head or not revision or not folder.is_dir():
        return None
    inside = Path(revision).name == revision and revision != ".." and (folder / revision).is_dir()
    if not inside and not _is_path(head):
        return None  # a folder that happens to be called like a model of the hub
    if revision == MAIN and not inside:
        return _folder(folder, head)
    if not inside:
        there = [path.name for path in sorted(folder.iterdir()) if (path / "config.json").is_file()]
        todo = nearest(revision, there) if there else "a local model has no revisions but its checkpoints' folders"
        raise GlossemeError(f"the folder has no checkpoint {revision!r}", where=head, todo=todo)
    if not (folder / revision / "config.json").is_file():
        raise GlossemeError("the checkpoint holds no model: config.json is missing", where=text)
    return Reference(str(folder.resolve()), revision, "folder")


def _is_path(text: str) -> bool:
    """Whether a text that does not exist can only have meant a path."""
    name, at, _ = text.partition("@")
    parts = name.replace(os.sep, "/").split("/")
    written_as_path = parts[0] in {"", ".", "..", "~"} or name.startswith("~") or "\\" in name
    # `out/final` with a folder `out` is a slip of the pen: the hub may hold a stranger's model of that name.
    inside_folder = not at and len(parts) > 1 and Path(parts[0]).is_dir()
    return written_as_path or len(parts) > 2 or parts[-1] == "" or inside_folder


def _refuse_path(text: str) -> None:
    if text.startswith(("http:", "https:")):
        raise GlossemeError("a model is not given by its address", where=text, todo="write org/name as on the hub")
    head, at, revision = text.rpartition("@")
    if at and Path(head).expanduser().exists():
        _no_revision(text, revision, "a local model")
    todo = f"write '{text}@{MAIN}' for the hub's model of that name" if _HUB_NAME.fullmatch(text) else None
    raise GlossemeError("there is no such folder", where=text, todo=todo)


def _hub(text: str) -> Reference:
    name, revision = _split(text)
    bad = not _HUB_NAME.fullmatch(name) or "--" in name or ".." in name or name.endswith((".", "-", ".git"))
    if bad or len(name) > 96:
        raise GlossemeError(f"{name!r} is neither a folder nor a hub name", todo="write org/name as on the hub")
    if revision is not None and not _HUB_REVISION.fullmatch(revision):
        raise GlossemeError(f"{revision!r} is not a revision", where=text, todo="give a branch, a tag or a commit")
    return Reference(name, MAIN if revision is None else revision, "hub")
