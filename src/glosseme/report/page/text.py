"""Text from runs as a page may hold it: every character to be seen, names as anchors."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

__all__ = ["Anchors", "slug", "visible"]

_JOINERS: Final = "\u200c\u200d"
"""Format characters that ordinary text needs: the joiners of Persian, of Indic scripts and of emoji."""
_PICTURES: Final = {
    "\n": "\u23ce",
    "\r": "\u240d",
    "\t": "\u21e5",
    "\x7f": "\u2421",
    "\u2028": "\u23ce",
    "\u2029": "\u23ce",
}
_HIDDEN: Final = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def visible(text: object) -> str:
    r"""Return text whose control and format characters are shown: what could reorder or break a line is named.

    >>> visible("a\u202eb"), visible("two\nlines") == "two\u23celines"
    ('a[U+202E]b', True)
    """
    said = str(text)
    if said.isascii() and said.isprintable():
        return said
    return "".join(map(_shown, said))


def _shown(char: str) -> str:
    if char in _PICTURES:
        return _PICTURES[char]
    if unicodedata.category(char) not in _HIDDEN or char in _JOINERS:
        return char
    return chr(0x2400 + ord(char)) if ord(char) < 0x20 else f"[U+{ord(char):04X}]"


def slug(text: object) -> str:
    """Return a name as an anchor's: lower-case letters, digits and hyphens.

    >>> slug("paired-focus/semantics"), slug("\u610f")
    ('paired-focus-semantics', 'x')
    """
    plain = unicodedata.normalize("NFKD", str(text)).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-") or "x"


class Anchors:
    """Gives each part of a page an id of its own, the same one for the same runs."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def __call__(self, *names: object) -> str:
        """Return the id of a part named so; a second of the name gets a number."""
        wanted = "-".join(slug(name) for name in names)
        found, n = wanted, 1
        while found in self._taken:
            n += 1
            found = f"{wanted}-{n}"
        self._taken.add(found)
        return found
