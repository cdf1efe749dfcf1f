"""The reader of word counts of a corpus: a CSV or TSV with a word and a count on each line."""

from __future__ import annotations

import csv
import math
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from glosseme.errors import GlossemeError
from glosseme.words import quoted

__all__ = ["read_counts"]

_HEADER: Final = ["word", "count"]
_TODO: Final = "give each line a word and a count, with a comma or a tab between them"


def read_counts(path: Path, words: Collection[str]) -> dict[str, float]:
    """Return the counts of those of the words that a file has, by word.

    A first line `word, count` is a header. Case is ignored: the counts of `Polish` and `polish` add up. Raises
    `GlossemeError` with file and line for a line that isn't a word and a count, and for a word that stands twice.
    """
    wanted: dict[str, list[str]] = {}
    for word in words:
        wanted.setdefault(word.lower(), []).append(word)
    seen: dict[str, int] = {}
    counts: dict[str, float] = {}
    for number, word, count in _rows(path):
        for name in wanted.get(word.lower(), ()):
            counts[name] = counts.get(name, 0.0) + count
        if word.lower() in wanted and seen.setdefault(word, number) != number:
            what = f"{quoted(word)} stands in line {seen[word]} too"
            raise GlossemeError(what, where=f"{path}:{number}", todo="keep one line a word")
    return counts


def _rows(path: Path) -> Iterator[tuple[int, str, float]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            tabs = "\t" in file.readline()
            file.seek(0)
            # Quotation marks are words in tables with tabs, and wrap words with commas in others.
            reader = csv.reader(
                file, delimiter="\t" if tabs else ",", quoting=csv.QUOTE_NONE if tabs else csv.QUOTE_MINIMAL
            )
            for row in reader:
                if row and not (reader.line_num == 1 and [cell.strip().lower() for cell in row] == _HEADER):
                    yield reader.line_num, *_row(row, f"{path}:{reader.line_num}")
    except OSError as error:
        what = f"the counts can't be read ({error.strerror})"
        raise GlossemeError(what, where=str(path), todo="name a CSV or TSV file") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise GlossemeError("this is no CSV or TSV file in UTF-8", where=str(path), todo=_TODO) from error


def _row(row: list[str], where: str) -> tuple[str, float]:
    if len(row) != 2:
        raise GlossemeError(f"a line has two columns and this one {len(row)}", where=where, todo=_TODO)
    word, text = (cell.strip() for cell in row)
    if not word:
        raise GlossemeError("there is no word", where=where, todo=_TODO)
    try:
        count = float(text)
    except ValueError:
        count = math.nan
    if not (math.isfinite(count) and count >= 0):
        raise GlossemeError(f"{quoted(text)} is no count", where=where, todo=_TODO)
    return word, count
