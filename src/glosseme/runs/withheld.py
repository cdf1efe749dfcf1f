"""Errors about texts that may be shown nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from glosseme.errors import GlossemeError

__all__ = ["withheld"]

_QUOTED: Final = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")


@contextmanager
def withheld() -> Iterator[None]:
    """Take what is quoted out of the message of a `GlossemeError`; where it happened stays.

    >>> with withheld():
    ...     raise GlossemeError("there is no token to score in 'a text'", where="ewok, item 'x/1'")
    Traceback (most recent call last):
    glosseme.errors.GlossemeError: ewok, item 'x/1': there is no token to score in (a text that isn't shown)
    """
    try:
        yield
    except GlossemeError as error:
        what = _QUOTED.sub("(a text that isn't shown)", error.what)
        raise GlossemeError(what, where=error.where, todo=error.todo, exit_code=error.exit_code) from None
