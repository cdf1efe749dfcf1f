"""Sheets for people to fill, the key to them, and filled sheets read back.

A sheet is a CSV with a row an option: `group` (such as W2D-01), the word or the definition that is asked about,
`option` (a letter), the definition or the word that is offered, and an empty `rank`. The key says which synset each
option is; it lies apart from the sheets, so that the sheets can be passed on. So does a list of the targets, on which
models can be run (`--targets`).
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from string import ascii_lowercase
from typing import Any, Final

import polars as pl

from glosseme.errors import GlossemeError
from glosseme.people.draw import TASKS, draw_groups
from glosseme.suites.wdlmpro.tasks import WDLMPRO
from glosseme.words import quoted

__all__ = ["FORMAT", "KEY", "read_key", "read_sheet", "write_sheets"]

FORMAT: Final = 1
KEY: Final = "key.json"
_TARGETS: Final = "targets.txt"
_SHEETS: Final = "sheets"
_NAMES: Final = {"W2D": ("word", "definition"), "D2W": ("definition", "word")}
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""What a cell begins with that a spreadsheet would compute."""
_TODO_KEY: Final = "name the key.json that `glosseme sample` wrote"


def write_sheets(
    suite: str, data: str | None, out: Path, *, n_groups: int = 20, n_candidates: int = 10, seed: int = 0
) -> list[Path]:
    """Write a sheet for each task into `out`/sheets, the key and a list of the targets beside it; return the paths.

    Raises `GlossemeError` for a suite that isn't for people, where there are too few groups, and rather than write
    over sheets that may be filled.
    """
    if suite != WDLMPRO.name:
        raise GlossemeError(f"there are no sheets of {suite!r}", todo=f"people are asked {WDLMPRO.name}")
    if data is not None and not data.strip():
        raise GlossemeError("the data have an empty name", where="--data", todo="name a wordnet, or leave --data out")
    source = data or WDLMPRO.sets[0]
    rows = draw_groups(source, n_groups, n_candidates, seed)
    sheets = {task: out / _SHEETS / f"{task}.csv" for task in TASKS}
    key, targets = out / KEY, out / _TARGETS
    for path in (*sheets.values(), key, targets):
        if path.exists():
            raise GlossemeError("this is there already", where=str(path), todo="choose another folder with -o")
    try:
        (out / _SHEETS).mkdir(parents=True, exist_ok=True)
        for task, path in sheets.items():
            # Excel takes UTF-8 for what it is when the file begins with a byte order mark.
            path.write_text(_sheet(task, rows.filter(pl.col("task") == task)), encoding="utf-8-sig", newline="")
        record = {"format": FORMAT, "suite": suite, "data": source, "seed": seed, "groups": _groups(rows)}
        key.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        targets.write_text("\n".join(sorted(rows["target"].unique())) + "\n", encoding="utf-8")
    except OSError as error:
        what = f"the sheets can't be written ({error.strerror})"
        raise GlossemeError(what, where=str(out), todo="choose another folder with -o") from None
    return [*sheets.values(), key, targets]


def _by_group(rows: pl.DataFrame) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for part in rows.partition_by("task", "number", maintain_order=True):
        yield f"{part['task'][0]}-{part['number'][0]:02d}", part.to_dicts()


def _letter(place: int) -> str:
    """Return the name of an option: a, b ... z, aa, ab ...

    >>> _letter(0), _letter(25), _letter(26)
    ('a', 'z', 'aa')
    """
    above, below = divmod(place, len(ascii_lowercase))
    return (_letter(above - 1) if above else "") + ascii_lowercase[below]


def _sheet(task: str, rows: pl.DataFrame) -> str:
    asked, offered = _NAMES[task]
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(["group", asked, "option", offered, "rank"])
    for name, members in _by_group(rows):
        for place, row in enumerate(members):
            writer.writerow([name, _harmless(row["question"]), _letter(place), _harmless(row["answer"]), ""])
    return buffer.getvalue()


def _harmless(text: str) -> str:
    """Return text that no spreadsheet takes for a formula.

    >>> _harmless("=1+1"), _harmless("a fish")
    ("'=1+1", 'a fish')
    """
    return f"'{text}" if text.startswith(_FORMULA) else text


def _groups(rows: pl.DataFrame) -> list[dict[str, Any]]:
    return [
        {
            "group": name,
            "task": members[0]["task"],
            "target": members[0]["target"],
            "options": {_letter(place): row["candidate"] for place, row in enumerate(members)},
        }
        for name, members in _by_group(rows)
    ]


def read_key(path: Path) -> pl.DataFrame:
    """Return what a key says, one row an option: group, task, target, option, candidate.

    Raises `GlossemeError` for a file that is no key.
    """
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["format"] != FORMAT:
            what = f"the key has format {quoted(str(record['format']))}, and this version reads {FORMAT}"
            raise GlossemeError(what, where=str(path), todo=_TODO_KEY)
        rows = [
            (g["group"], g["task"], g["target"], option, candidate)
            for g in record["groups"]
            for option, candidate in g["options"].items()
        ]
    except OSError as error:
        raise GlossemeError(f"the key can't be read ({error.strerror})", where=str(path), todo=_TODO_KEY) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise GlossemeError("this is no key", where=str(path), todo=_TODO_KEY) from None
    return pl.DataFrame(
        rows, schema=dict.fromkeys(["group", "task", "target", "option", "candidate"], pl.String), orient="row"
    )


def read_sheet(path: Path, key: pl.DataFrame) -> pl.DataFrame:
    """Return the ranks of a filled sheet with what the key says of them: the key's columns, then rank (Int64).

    Raises `GlossemeError` with file and line for an unknown group or option, one that stands twice, a rank that is
    missing, doubled, or not between 1 and the number of options, and with the file for a group that isn't whole.
    """
    sizes = dict(key.group_by("group").len().iter_rows())
    known = {(group, option) for group, option in key.select("group", "option").iter_rows()}
    lines: dict[tuple[str, str], int] = {}
    ranks: dict[tuple[str, int], int] = {}
    rows = []
    for line, group, option, written in _rows(path):
        where = f"{path}:{line}"
        _check_option(group, option, known, sizes, where)
        if (group, option) in lines:
            what = f"option {option} of {group} stands in line {lines[group, option]} too"
            raise GlossemeError(what, where=where, todo="keep one of the rows")
        lines[group, option] = line
        rank = _rank(written, sizes[group], group, where)
        if (group, rank) in ranks:
            what = f"rank {rank} of {group} stands in line {ranks[group, rank]} too"
            raise GlossemeError(what, where=where, todo=f"give each rank from 1 to {sizes[group]} once")
        ranks[group, rank] = line
        rows.append((group, option, rank))
    filled = pl.DataFrame(rows, schema={"group": pl.String, "option": pl.String, "rank": pl.Int64}, orient="row")
    return _whole(key.join(filled, on=["group", "option"], how="left", maintain_order="left"), path)


def _check_option(group: str, option: str, known: set[tuple[str, str]], sizes: dict[str, int], where: str) -> None:
    if group not in sizes:
        raise GlossemeError(
            f"the key has no group {quoted(group)}", where=where, todo="rate each sheet with its own key"
        )
    if (group, option) not in known:
        raise GlossemeError(
            f"group {group} has no option {quoted(option)}", where=where, todo="leave the options as they were"
        )


def _rank(written: str, size: int, group: str, where: str) -> int:
    todo = f"give each option a whole number from 1 (best) to {size}"
    if not written:
        raise GlossemeError(f"a rank of {group} is missing", where=where, todo=todo)
    try:
        # Spreadsheets write 3 as 3.0 or 3,0 when they are in the mood.
        number = float(written.replace(",", "."))
    except ValueError:
        raise GlossemeError(f"{quoted(written)} is no rank", where=where, todo=todo) from None
    if not number.is_integer() or not 1 <= number <= size:
        raise GlossemeError(f"rank {written} is out of range in {group}", where=where, todo=todo)
    return int(number)


def _whole(rows: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Return the rows of the tasks that a sheet is of; refuse a task with rows that are gone."""
    tasks = rows.filter(pl.col("rank").is_not_null())["task"].unique()
    asked = rows.filter(pl.col("task").is_in(tasks.implode()))
    gone = asked.filter(pl.col("rank").is_null())
    if not asked.height:
        raise GlossemeError("the sheet has no rows", where=str(path), todo="fill a sheet of `glosseme sample`")
    if gone.height:
        group, option = gone.select("group", "option").row(0)
        more = f" (and {gone.height - 1} more)" if gone.height > 1 else ""
        raise GlossemeError(f"option {option} of {group} is gone{more}", where=str(path), todo="put its row back")
    return asked


def _rows(path: Path) -> Iterator[tuple[int, str, str, str]]:
    """Yield line, group, option and rank as written."""
    todo = "give a sheet of `glosseme sample`, saved as CSV"
    try:
        # Only letters and digits of ASCII are read, so that a spreadsheet's own encoding does no harm.
        text = path.read_bytes().decode("utf-8-sig", errors="replace")
    except OSError as error:
        raise GlossemeError(f"the sheet can't be read ({error.strerror})", where=str(path), todo=todo) from None
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    lacking = [name for name in ("group", "option", "rank") if name not in (reader.fieldnames or ())]
    if lacking:
        raise GlossemeError(f"there is no column {lacking[0]!r}", where=f"{path}:1", todo=todo)
    try:
        for row in reader:
            group, option, rank = ((row[name] or "").strip() for name in ("group", "option", "rank"))
            if group or option or rank:
                yield reader.line_num, group, option, rank
    except csv.Error as error:
        raise GlossemeError(f"this is no CSV ({error})", where=f"{path}:{reader.line_num}", todo=todo) from None
