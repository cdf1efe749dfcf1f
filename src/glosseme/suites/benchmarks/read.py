"""Rows of a benchmark's files, whatever their kind: JSON lines, JSON, CSV, TSV, Parquet.

Columns are found whatever their case and underscores (`pairID` of BLiMP's authors is `pair_id` on the hub). Texts have
to be strings; numbers and truth values are read as text where they are names or labels.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, Final

import polars as pl

from glosseme.errors import GlossemeError
from glosseme.suites.benchmarks.source import Files
from glosseme.words import columns_of, counted

__all__ = ["FILE", "LINE", "rows_of"]

FILE: Final = "__file"
"""The column with a row's file, as messages name it."""
LINE: Final = "__line"
"""The column with a row's line, from 1; in a Parquet file and in a JSON list its number."""

_KINDS_OF_VALUE: Final[tuple[tuple[Any, str], ...]] = (
    (list, "a list"),
    (dict, "an object"),
    (bool, "a truth value and no text"),
    ((int, float), "a number and no text"),
)

_Row = tuple[int, Sequence[Any]]


def rows_of(
    files: Files,
    texts: Sequence[str],
    labels: Sequence[str] = (),
    optional: Sequence[str] = (),
    *,
    private: bool = False,
) -> pl.DataFrame:
    """Return the rows of all files: `texts`, `labels` and `optional` columns as String, then `FILE` and `LINE`.

    A file without an optional column has null there. Messages hold no text of a file, and with `private` nothing that
    it holds. Raises `GlossemeError`, with file and line, for what can't be read, for a column that is missing, for a
    text that is no string and for any value that is a list or an object.
    """
    tables = [_table(files, path, texts, labels, optional, private=private) for path in files.paths]
    return pl.concat(tables)


def _table(
    files: Files, path: Path, texts: Sequence[str], labels: Sequence[str], optional: Sequence[str], *, private: bool
) -> pl.DataFrame:
    where = str(path)
    names, rows = _READERS[path.suffix.lower()](path)
    found = {_plain(name): place for place, name in reversed(list(enumerate(names)))}
    missing = [name for name in (*texts, *labels) if _plain(name) not in found]
    if missing:
        raise _lacking(missing, names, [*texts, *labels, *optional], where, private=private)
    if not rows:
        raise GlossemeError("the file has no rows", where=where)
    lines = [line for line, _ in rows]
    columns = {}
    for name in (*texts, *labels, *optional):
        place = found.get(_plain(name))
        values = [None] * len(rows) if place is None else [row[place] for _, row in rows]
        columns[name] = _column(name, values, lines, where, strings=name in texts)
    return pl.DataFrame(columns | {FILE: [files.name(path)] * len(lines), LINE: lines})


def _plain(name: str) -> str:
    return name.strip().replace("_", "").replace(" ", "").lower()


def _column(name: str, values: Sequence[Any], lines: Sequence[int], where: str, *, strings: bool) -> pl.Series:
    """Return values as a column of String; raise `GlossemeError` for one that is no text."""
    taken: tuple[type, ...] = (str,) if strings else (str, bool, int, float)
    for value, line in zip(values, lines, strict=True):
        if not _is_missing(value) and not isinstance(value, taken):
            kind = next((said for types, said in _KINDS_OF_VALUE if isinstance(value, types)), "no text")
            raise GlossemeError(f"{name} is {kind}", where=f"{where}:{line}", todo="write it as a string")
    return pl.Series(map(_text, values), dtype=pl.String)


def _is_missing(value: Any) -> bool:
    # What pandas writes for a missing value.
    return value is None or (isinstance(value, float) and math.isnan(value))


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    return None if _is_missing(value) else json.dumps(value)


def _lacking(
    missing: Sequence[str], names: Sequence[str], known: Sequence[str], where: str, *, private: bool
) -> GlossemeError:
    plain = {_plain(name) for name in known}
    there = columns_of(names, [name for name in names if _plain(name) in plain], only_known=private)
    columns = f"column{'s' * (len(missing) > 1)} {', '.join(map(repr, missing))}"
    return GlossemeError(f"the file has no {columns}", where=where, todo=f"its columns are: {there}")


def _json_lines(path: Path) -> tuple[list[str], list[_Row]]:
    # Only line feeds end a line: JSON may hold the other characters that Python takes for an end.
    lines = ((n, line) for n, line in enumerate(_decoded(path).split("\n"), start=1) if line.strip())
    return _of_objects((n, _parsed(path, line, n)) for n, line in lines)


def _json(path: Path) -> tuple[list[str], list[_Row]]:
    found = _parsed(path, _decoded(path), None)
    if not isinstance(found, list):
        raise GlossemeError("the file is no list of objects", where=str(path), todo="write one row as one object")
    for n, value in enumerate(found, start=1):
        _check_object(value, f"{path}, row {n}")
    return _of_objects(enumerate(found, start=1))


def _parsed(path: Path, text: str, line: int | None) -> Any:
    where = str(path) if line is None else f"{path}:{line}"
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        at = f"{path}:{error.lineno if line is None else line}"
        raise GlossemeError(f"this is no JSON ({error.msg}, character {error.colno})", where=at) from None
    except RecursionError:
        raise GlossemeError("this is no JSON that can be read (too deeply nested)", where=where) from None
    if line is not None:
        _check_object(value, where)
    return value


def _check_object(value: Any, where: str) -> None:
    if not isinstance(value, dict):
        raise GlossemeError("this is no JSON object", where=where, todo='write a row as {"column": "value", ...}')


def _of_objects(objects: Iterable[tuple[int, dict[str, Any]]]) -> tuple[list[str], list[_Row]]:
    """Return all keys, and the values of each object in their order, null for a key that it lacks."""
    found = list(objects)
    names = list(dict.fromkeys(name for _, row in found for name in row))
    return names, [(n, [row.get(name) for name in names]) for n, row in found]


def _separated(path: Path, separator: str) -> tuple[list[str], list[_Row]]:
    reader = csv.reader(StringIO(_decoded(path), newline=""), delimiter=separator, strict=True)
    header: list[str] | None = None
    rows: list[_Row] = []
    for line, row in _csv_lines(path, reader):
        if header is None:
            # Authors write licences and canaries above the header.
            header = None if not row or row[0].startswith("#") else row
        elif row:
            if len(row) != len(header):
                what = f"the row has {counted(len(row), 'field')} and the header has {len(header):,}"
                raise GlossemeError(what, where=f"{path}:{line}", todo="put fields with separators in quotes")
            rows.append((line, [value or None for value in row]))
    return header or [], rows


def _csv_lines(path: Path, reader: Any) -> Iterator[tuple[int, list[str]]]:
    """Yield rows with the line each begins at."""
    begin = 1
    try:
        for row in reader:
            yield begin, row
            begin = reader.line_num + 1
    except csv.Error as error:
        raise GlossemeError(f"the row can't be read ({error})", where=f"{path}:{begin}") from None


def _parquet(path: Path) -> tuple[list[str], list[_Row]]:
    try:
        table = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError):
        raise GlossemeError("the file is no Parquet that can be read", where=str(path)) from None
    return table.columns, [(n, row) for n, row in enumerate(table.iter_rows(), start=1)]


def _decoded(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"the file isn't in UTF-8 (byte {error.start})"
        raise GlossemeError(what, where=str(path), todo="save it as UTF-8") from None
    except OSError as error:
        raise GlossemeError(f"the file can't be read ({error.strerror})", where=str(path)) from None


_READERS: Final[dict[str, Callable[[Path], tuple[list[str], list[_Row]]]]] = {
    ".jsonl": _json_lines,
    ".json": _json,
    ".csv": lambda path: _separated(path, ","),
    ".tsv": lambda path: _separated(path, "\t"),
    ".parquet": _parquet,
}
