"""The one error class that a user sees."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["WORK_FAILED", "WRONG_REQUEST", "GlossemeError", "nearest"]

_LONGEST = 600

WORK_FAILED = 1
WRONG_REQUEST = 2


class GlossemeError(Exception):
    """Something the user can mend: what is wrong, where, and what to do.

    `exit_code` is what the command line ends with: 2 when the request was wrong, 1 when the work failed.

    >>> str(GlossemeError("the text is empty", where="items.csv:3", todo="fill it or take the row out"))
    'items.csv:3: the text is empty; fill it or take the row out'
    """

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        todo: str | None = None,
        exit_code: int = WRONG_REQUEST,
    ) -> None:
        self.what = what
        self.where = where
        self.todo = todo
        self.exit_code = exit_code
        super().__init__(self._line())

    def _line(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        line = f"{head}; {self.todo}" if self.todo else head
        # What comes from a file or a name may hold escapes that a terminal would obey, and be of any length.
        plain = "".join(char if char.isprintable() else " " for char in line)
        return plain if len(plain) <= _LONGEST else f"{plain[:_LONGEST]} ..."


def nearest(name: str, known: Iterable[str]) -> str:
    """Return what to do about an unknown name: the nearest known ones, or all of them.

    >>> nearest("paired-focsu", ["paired-focus", "wdlmpro"])
    "did you mean 'paired-focus'?"
    >>> nearest("xyz", ["b", "a"])
    "there are 'a', 'b'"
    """
    names = sorted(set(known))
    close = get_close_matches(name, names, n=3, cutoff=0.6)
    if close:
        return "did you mean " + " or ".join(repr(n) for n in close) + "?"
    return "there are " + ", ".join(repr(n) for n in names) if names else "there are none"
