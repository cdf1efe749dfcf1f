"""From the value of `--data` to frames: the name of a set, or a published file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from glosseme.errors import GlossemeError, nearest
from glosseme.suites.paired_focus.frames import CONSTRUCTIONS, frames
from glosseme.suites.paired_focus.lexicon import SETS
from glosseme.suites.paired_focus.published import read_published
from glosseme.suites.suite import Options

__all__ = ["Source", "choice", "source"]


@dataclass(frozen=True, slots=True)
class Source:
    """Frames, the constructions to put into them, and what a reader should know of them."""

    frames: pl.DataFrame
    """One row a frame, the columns of `frames.FRAME_COLUMNS`."""
    constructions: tuple[str, ...] = CONSTRUCTIONS
    notes: tuple[str, ...] = ()


def source(data: str) -> Source:
    """Return the frames of a set of the lexicon, or of a published file, which has one construction.

    Raises `GlossemeError` for a name that is neither, and for a file that does not hold what it should.

    >>> source("core").constructions
    ('let alone', 'much less', 'not to mention', 'never mind')
    """
    if data in SETS:
        return Source(frames(data))
    path = Path(data).expanduser()
    if not path.exists():
        todo = f"name a published file or a set ({nearest(data, SETS)})"
        raise GlossemeError(f"there is no set and no file {data!r}", where="--data", todo=todo)
    read, construction, notes = read_published(path)
    return Source(read, (construction,), notes)


def choice(options: Options, name: str, choices: tuple[str, ...]) -> str:
    """Return the option's value, the first choice where it is not given.

    Raises `GlossemeError` for a value that is no choice.

    >>> choice({}, "control", ("and", "or"))
    'and'
    """
    value = options.get(name, choices[0])
    if value not in choices:
        raise GlossemeError(f"unknown value {value!r} of option {name!r}", todo=nearest(value, choices))
    return value
