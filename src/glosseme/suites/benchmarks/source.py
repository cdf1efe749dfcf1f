"""Where the files of a benchmark are: in a folder of the user's, in one file, or on the hub."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from glosseme.errors import GlossemeError
from glosseme.hub import Repository, fetch_snapshot

__all__ = ["ENDINGS", "HUB", "Benchmark", "Files", "files_of", "name_on_hub", "sha256_of_files"]

HUB: Final = "hub"
"""The name of the set that is read from the hub."""

ENDINGS: Final = (".jsonl", ".json", ".csv", ".tsv", ".parquet")
"""The kinds of file that are read."""

_ABOUT: Final = frozenset({"dataset_infos.json", "dataset_info.json", "state.json"})
"""Files of the library `datasets` that describe others."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark that isn't the package's own, by its place on the hub."""

    title: str
    """As its authors write it: `BLiMP`."""
    repository: Repository
    patterns: tuple[str, ...]
    """The names of its files there."""
    private: bool = False
    """Whether messages may hold nothing that a file holds."""


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a benchmark, in the order of their names."""

    root: Path
    paths: tuple[Path, ...]

    def name(self, path: Path) -> str:
        """Return what messages call a file: its path below the folder that was given."""
        return path.relative_to(self.root).as_posix()


def files_of(benchmark: Benchmark, data: str) -> Files:
    """Return the files that `data` means: `hub`, a folder with files of any depth, or a file.

    Raises `GlossemeError` where the hub refuses, where there is no such path, and where it has no file to read.
    """
    if data == HUB:
        return _of_hub(benchmark)
    if not data.strip():
        # An empty path would be the current folder.
        raise GlossemeError("the data have an empty name", where="--data", todo=f"name your copy of {benchmark.title}")
    path = Path(data).expanduser()
    if path.is_file():
        if path.suffix.lower() not in ENDINGS:
            todo = f"{benchmark.title} is read from {', '.join(ENDINGS)} files"
            raise GlossemeError(f"a file that ends in {path.suffix!r} isn't read", where=data, todo=todo)
        return Files(path.parent, (path,))
    if not path.is_dir():
        todo = f"give the folder or file of your copy of {benchmark.title}, or leave --data out to read it from the hub"
        raise GlossemeError("there is no such folder or file", where=data, todo=todo)
    return _of_folder(benchmark, path, data)


def sha256_of_files(benchmark: Benchmark, data: str) -> str:
    """Return a hash of the names and contents of all files, the same wherever the folder lies.

    Raises like `files_of`, and for a file that can't be read.
    """
    files = files_of(benchmark, data)
    digest = sha256()
    for path in files.paths:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise GlossemeError(f"the file can't be read ({error.strerror})", where=str(path)) from None
        # Of fixed length, so that no name can run into a content.
        digest.update(sha256(files.name(path).encode()).digest() + sha256(content).digest())
    return digest.hexdigest()


def name_on_hub(benchmark: Benchmark) -> str:
    """Return what a run records of a data set on the hub: its name and commit."""
    return f"{benchmark.repository.name}@{_of_hub(benchmark).root.name}"


@cache
def _of_hub(benchmark: Benchmark) -> Files:
    # Asked once: a commit must not change between two suites of a run.
    folder = fetch_snapshot(benchmark.repository, benchmark.patterns, bars=True)
    return _of_folder(benchmark, folder, f"{benchmark.repository.where}@{folder.name}")


def _of_folder(benchmark: Benchmark, folder: Path, where: str) -> Files:
    there = [path.relative_to(folder) for path in folder.rglob("*") if path.suffix.lower() in ENDINGS]
    names = sorted(
        path.as_posix()
        for path in there
        if path.name not in _ABOUT and not any(part.startswith(".") for part in path.parts)
    )
    if not names:
        kinds = ", ".join(ENDINGS)
        raise GlossemeError(f"the folder has no file of {benchmark.title} ({kinds})", where=where)
    return Files(folder, tuple(folder / name for name in names))
