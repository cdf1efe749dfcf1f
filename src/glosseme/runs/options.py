"""What a run is asked to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import file_digest
from pathlib import Path

from glosseme.errors import GlossemeError, nearest
from glosseme.measures import PllVariant
from glosseme.scoring.encode import BosChoice
from glosseme.suites.suite import Suite

__all__ = ["Asked", "asked_of", "pll_variant", "sha256_of"]


@dataclass(frozen=True, slots=True)
class Asked:
    """The choices that the values of a run depend on, besides the model."""

    suite: Suite
    data: str
    """The name of a set that ships with the suite, or the path of a file."""
    data_sha256: str | None
    """The hash of a file's content, None for a set."""
    options: Mapping[str, str]
    """The suite's options, all of them."""
    limit: int | None = None
    seed: int = 0
    bos: BosChoice = "auto"
    name: str | None = None
    """What records call a set that doesn't ship with the package: a data set of the hub and its commit."""
    files: Mapping[str, Path] = field(default_factory=dict)
    """Further files of the user's, by the suite's names for them."""

    @property
    def recorded_options(self) -> dict[str, str]:
        """The options as a run records them: a file by its name and hash."""
        files = {k: f"{path.name} (sha256 {sha256_of(path)[:12]})" for k, path in self.files.items()}
        return {**self.options, **files}

    @property
    def data_name(self) -> str:
        """What tables call the items: the name of the set or of the file."""
        if self.name is not None:
            return self.name
        return Path(self.data).resolve().name if self.data_sha256 else self.data

    @property
    def folder(self) -> str:
        """The folder of the run, below that of the model and revision.

        The suite's name, followed by what isn't the default set.
        """
        if self.data == self.suite.sets[0]:
            return self.suite.name
        path = Path(self.data).resolve()
        stem = (path.name if path.is_dir() else path.stem) if self.data_sha256 else self.data
        safe = "".join(c if c.isalnum() or c in "-_." else "-" for c in stem)
        return f"{self.suite.name}+{safe}"


def asked_of(
    suite: Suite,
    data: str | None = None,
    options: Mapping[str, str] | None = None,
    *,
    limit: int | None = None,
    seed: int = 0,
    bos: BosChoice = "auto",
    files: Mapping[str, Path] | None = None,
) -> Asked:
    """Return what is asked of a suite, with its defaults filled in.

    Raises `GlossemeError` for an option or choice that the suite doesn't have, and for data that is neither one of
    its sets nor a file it can read.
    """
    chosen = suite.defaults()
    for name, value in (options or {}).items():
        if name not in suite.options:
            raise GlossemeError(f"{suite.name} has no option {name!r}", todo=nearest(name, suite.options))
        if value not in suite.options[name]:
            raise GlossemeError(f"{suite.name} has no {name} {value!r}", todo=nearest(value, suite.options[name]))
        chosen[name] = value
    if data is not None and not data.strip():
        todo = (
            f"name a set, a file or a folder for {suite.name}, or leave --data out: a variable of the shell is unset?"
        )
        raise GlossemeError("the data have an empty name", where="--data", todo=todo)
    given = dict(files or {})
    for name, path in given.items():
        if name not in suite.files:
            raise GlossemeError(f"{suite.name} takes no file --{name}", todo=nearest(name, suite.files))
        sha256_of(path)
    if data is None or data in suite.sets:
        chosen_set = suite.sets[0] if data is None else data
        label = suite.named() if suite.named is not None and chosen_set == suite.sets[0] else None
        return Asked(suite, chosen_set, None, chosen, limit, seed, bos, label, given)
    hashed = suite.data_sha256(data) if suite.data_sha256 is not None else _hash_of(suite, data)
    return Asked(suite, data, hashed, chosen, limit, seed, bos, files=given)


def _hash_of(suite: Suite, data: str) -> str:
    path = Path(data).expanduser()
    if not suite.reads_files or not path.exists():
        files = " and no such file" if suite.reads_files else ", and the suite reads no files"
        raise GlossemeError(f"{suite.name} has no set {data!r}{files}", todo=nearest(data, suite.sets))
    if not path.is_file():
        raise GlossemeError("this is no file", where=data, todo=f"{suite.name} reads a single file with --data")
    return sha256_of(path)


def sha256_of(path: Path) -> str:
    """Return the hash of a file's content; raise `GlossemeError` if it can't be read."""
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise GlossemeError(f"the file can't be read ({error.strerror})", where=str(path)) from None


def pll_variant(options: Mapping[str, str]) -> PllVariant:
    """Return the pseudo-log-likelihood variant of a suite's options."""
    return "original" if options.get("pll") == "original" else "within_word_l2r"
