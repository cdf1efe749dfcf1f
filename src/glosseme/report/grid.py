"""Cells in rows and columns: as aligned text, as a pipe table, as a LaTeX tabular."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from glosseme.report.cells import latex, latex_number, markdown, width

__all__ = ["latex_grid", "markdown_grid", "text_grid"]

Rows = Sequence[Sequence[str]]


def text_grid(head: Sequence[str], body: Rows, right: Sequence[bool]) -> Iterator[str]:
    """Yield the lines of an aligned table; `right` says which columns are numbers.

    >>> list(text_grid(["word", "n"], [["ox", "7"], ["heron", "12"]], [False, True]))
    ['  word    n', '  ox      7', '  heron  12']
    """
    rows = [head, *body]
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        padded = []
        for cell, wanted, number in zip(row, widths, right, strict=True):
            space = " " * (wanted - width(cell))
            padded.append(space + cell if number else cell + space)
        yield ("  " + "  ".join(padded)).rstrip()


def markdown_grid(head: Sequence[str], body: Rows, right: Sequence[bool]) -> str:
    """Return a pipe table."""
    escaped = [[c if r else markdown(c) for c, r in zip(row, right, strict=True)] for row in body]
    rule = "|" + "|".join("---:" if r else "---" for r in right) + "|"
    lines = ["| " + " | ".join(row) + " |" for row in [[markdown(name) for name in head], *escaped]]
    return "\n".join([lines[0], rule, *lines[1:]])


def latex_grid(head: Sequence[str], body: Rows, right: Sequence[bool]) -> str:
    """Return a tabular for the package booktabs."""
    escape = [latex_number if r else latex for r in right]
    escaped = [[e(c) for e, c in zip(escape, row, strict=True)] for row in body]
    lines = [" & ".join(row) + r" \\" for row in [[latex(name) for name in head], *escaped]]
    begin = r"\begin{tabular}{" + "".join("r" if r else "l" for r in right) + "}"
    end = [r"\bottomrule", r"\end{tabular}"]
    return "\n".join([begin, r"\toprule", lines[0], r"\midrule", *lines[1:], *end])
