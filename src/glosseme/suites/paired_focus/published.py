"""The reader of the published files of paired-focus sentences (github.com/WesScivetti/Meaning_Alone).

A file is a table with tabs and a head; eight rows are a frame, in the order of `PATTERN`. Nothing is mended:
what is read is checked by writing every sentence anew from its parts; flaws of the whole are told in notes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Final

import polars as pl

from glosseme.errors import GlossemeError, nearest
from glosseme.measures import SLOT
from glosseme.suites.paired_focus.frames import (
    CONSTRUCTIONS,
    FRAME_COLUMNS,
    MODALS,
    first_sentence,
    follow_up,
    template_id,
)
from glosseme.suites.paired_focus.lexicon import adjectives
from glosseme.words import columns_of, counted, is_name, quoted

__all__ = ["COLUMNS", "MASK", "PATTERN", "read_published"]

MASK: Final = "<MASK>"
"""What stands for the word in the published sentences."""

COLUMNS: Final = (
    *("Swapped_Condition", "Swapped_Stimulus", "Let-Alone"),
    *("Sentence", "Plain Verb", "Noun", "Pronoun", "Modal"),
)

PATTERN: Final = ("001", "011", "101", "111", "000", "010", "100", "110")
"""Swapped_Condition, Swapped_Stimulus and Let-Alone of the eight rows of a frame."""

_SENTENCE: Final = (
    r"^.+? an? (?<one>\S+) [^,]+, (?<connective>[^,]+?) an? (?<two>\S+) one\. "
    r"(?<gerund>\S.*?) an? \S+ .+ is <MASK> than .+\.$"
)


def read_published(path: Path) -> tuple[pl.DataFrame, str, tuple[str, ...]]:
    """Return the frames of a published file, its construction, and notes on its flaws.

    Frames have the columns of `frames.FRAME_COLUMNS`, one row for eight rows of the file, and are named
    `frame-0001` and so on; `scale` is null where the lexicon does not have both adjectives on one scale.
    Raises `GlossemeError` with file and line.
    """
    rows = _parsed(_table(path), path)
    construction = _construction(rows, path)
    read = _frames(rows)
    _check_sentences(rows, read, construction, path)
    return read.select(FRAME_COLUMNS), construction, _notes(read)


def _fail(path: Path, line: int | None, what: str, todo: str | None = None) -> GlossemeError:
    return GlossemeError(what, where=f"{path}:{line}" if line else str(path), todo=todo)


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _fail(path, None, f"cannot be read ({error.strerror})", "name a readable file") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _fail(path, line, "is not UTF-8", "save the file as UTF-8") from error


def _table(path: Path) -> pl.DataFrame:
    """Read the file by lines, so that each row knows its line, as strings."""
    lines = [line.removesuffix("\r") for line in _text(path).split("\n")]
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise _fail(path, None, "the file is empty", "name a file with a head and eight rows a frame")
    head = lines[0].split("\t")
    missing = [name for name in COLUMNS if name not in head]
    if missing:
        listed = ", ".join(repr(name) for name in missing)
        what = f"no column {listed}; its columns are: {columns_of(head, COLUMNS)}"
        raise _fail(path, 1, what, "separate columns by tabs")
    if len(lines) == 1:
        raise _fail(path, None, "the file has a head and no rows")
    table = pl.DataFrame({"line": range(2, len(lines) + 1), "raw": lines[1:]})
    table = table.with_columns(fields=pl.col("raw").str.split("\t"))
    _refuse(
        table, pl.col("fields").list.len() != len(head), path, f"the row does not have {counted(len(head), 'column')}"
    )
    return table.select("line", *(pl.col("fields").list.get(head.index(name)).alias(name) for name in COLUMNS))


def _refuse(rows: pl.DataFrame, bad: pl.Expr, path: Path, what: str, todo: str | None = None) -> None:
    wrong = rows.filter(bad.fill_null(True))
    if wrong.height:
        raise _fail(path, wrong["line"][0], what, todo)


def _parsed(table: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Take the sentences apart and check the order of the rows."""
    _refuse(table, ~pl.col("Sentence").str.contains(MASK, literal=True), path, f"the sentence has no {MASK}")
    parts = pl.col("Sentence").str.extract_groups(_SENTENCE)
    rows = table.with_columns(parts.alias("parts")).unnest("parts")
    todo = '"P M V a x N, C a y one. G a x N is <MASK> than G a y N." is wanted'
    _refuse(rows, pl.col("one").is_null(), path, "the sentence is none of a paired-focus frame", todo)
    unknown = rows.filter(~pl.col("Modal").is_in(list(MODALS)))
    if unknown.height:
        modal = unknown["Modal"][0]
        raise _fail(path, unknown["line"][0], f"unknown modal {quoted(modal)}", nearest(modal, MODALS))
    place = pl.int_range(pl.len()) % len(PATTERN)
    wanted = place.replace_strict(list(range(len(PATTERN))), list(PATTERN), return_dtype=pl.String)
    found = pl.concat_str("Swapped_Condition", "Swapped_Stimulus", "Let-Alone")
    rows = rows.with_columns(number=pl.int_range(pl.len()) // len(PATTERN), wanted=wanted, found=found)
    wrong = rows.filter(pl.col("wanted") != pl.col("found"))
    if wrong.height:
        row = wrong.row(0, named=True)
        what = f"the conditions are {quoted(row['found'])} where a frame's order wants {row['wanted']}"
        raise _fail(path, row["line"], what, "give each frame eight rows in the order " + ", ".join(PATTERN))
    if rows.height % len(PATTERN):
        what = f"{counted(rows.height, 'row', ('is', 'are'))} no whole number of frames"
        raise _fail(path, rows["line"][-1], what, "give each frame eight rows")
    return rows


def _construction(rows: pl.DataFrame, path: Path) -> str:
    treated = rows.filter(pl.col("Let-Alone") == "1")
    name = str(treated["connective"][0])
    if name not in CONSTRUCTIONS:
        what = f"{quoted(name)} is no paired-focus construction"
        raise _fail(path, treated["line"][0], what, nearest(name, CONSTRUCTIONS))
    _refuse(treated, pl.col("connective") != name, path, f"the file's construction is {name!r}, this row's not")
    return name


def _frames(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the frames, from the first row of each eight."""
    ends = adjectives().select("adjective", "scale")
    pairs = ends.join(ends, on="scale", suffix="_y").select("scale", x="adjective", y="adjective_y")
    gerund = pl.col("gerund").str.slice(0, 1).str.to_lowercase() + pl.col("gerund").str.slice(1)
    first = rows.gather_every(len(PATTERN)).select(
        pl.format("frame-{}", (pl.col("number") + 1).cast(pl.String).str.zfill(4)).alias("frame"),
        gerund,
        verb="Plain Verb",
        noun="Noun",
        pronoun="Pronoun",
        modal="Modal",
        x="one",
        y="two",
    )
    scaled = first.join(pairs, on=["x", "y"], how="left", maintain_order="left")
    return scaled.with_columns(template=template_id())


def _check_sentences(rows: pl.DataFrame, read: pl.DataFrame, construction: str, path: Path) -> None:
    """Raise at the first row whose sentence or columns are not what its frame makes of them."""
    order = pl.when(pl.col("Swapped_Condition") == "0").then(pl.lit("xy")).otherwise(pl.lit("yx"))
    mention = pl.when(pl.col("Swapped_Stimulus") == "0").then(pl.lit("xy")).otherwise(pl.lit("yx"))
    connective = pl.when(pl.col("Let-Alone") == "1").then(pl.lit(construction)).otherwise(pl.lit("or"))
    made = pl.format("{} {}", first_sentence(order, connective), follow_up(mention, pl.lit(SLOT)))
    published = rows.select(
        *("line", "number", "Swapped_Condition", "Swapped_Stimulus", "Let-Alone", "Sentence"),
        *("Plain Verb", "Noun", "Pronoun", "Modal"),
    )
    numbered = read.with_columns(number=pl.int_range(pl.len()))
    both = published.join(numbered, on="number", maintain_order="left").with_columns(
        made=made.str.replace(SLOT, MASK, literal=True)
    )
    same = {"verb": "Plain Verb", "noun": "Noun", "pronoun": "Pronoun", "modal": "Modal"}
    for ours, theirs in same.items():
        _refuse(both, pl.col(ours) != pl.col(theirs), path, f"{theirs!r} changes inside a frame")
    wrong = both.filter(pl.col("made") != pl.col("Sentence"))
    if wrong.height:
        row: Mapping[str, str] = wrong.row(0, named=True)
        raise _fail(path, int(row["line"]), *_apart(row["Sentence"].split(" "), row["made"].split(" ")))


def _apart(there: Sequence[str], made: Sequence[str]) -> tuple[str, str]:
    """Return where the words of a sentence differ from what its frame makes, and what it makes."""
    pairs = enumerate(zip_longest(there, made, fillvalue=""), start=1)
    place, one, other = next((place, one, other) for place, (one, other) in pairs if one != other)
    found, wanted = (quoted(word.rstrip(",.")) if word else "nothing" for word in (one, other))
    if found == wanted:
        return f"the sentence isn't its frame's from word {place} on", "write it as the frame makes it"
    return f"word {place} of the sentence is {found}", f"its frame makes {wanted} there"


def _notes(read: pl.DataFrame) -> tuple[str, ...]:
    repeated = read.height - read.select("pronoun", "modal", "template").n_unique()
    repeat = "repeats" if repeated == 1 else "repeat"
    frames_read = f"{counted(read.height, 'frame')} read, {repeated:,} of them"
    notes = [f"{frames_read} {repeat} an earlier frame (kept as they are)"]
    known = set(adjectives()["adjective"])
    used = pl.concat([read["x"], read["y"]]).unique().sort().to_list()
    unknown = [word for word in used if word not in known]
    if unknown:
        shown = [repr(word) for word in unknown if is_name(word)]
        others = len(unknown) - len(shown)
        listed = ", ".join([*shown, *([f"{counted(others, 'other')} that are no words"] if others else [])])
        notes.append(f"adjectives that the lexicon does not have, perhaps misspelt: {listed} (kept as they are)")
    return tuple(notes)
