"""How messages count things, and what they show of a user's files: names, never texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

__all__ = ["columns_of", "counted", "is_name", "quoted"]

_LONGEST: Final = 40
_MOST_WORDS: Final = 3
_NAME: Final = re.compile(r"[-+]?\w+(?:[-+_./:@' ]+\w+)*%?")
"""Words, numbers and their joints: no mark that ends or parts a sentence, no bracket, no quotation mark."""
_AFTER: Final = frozenset(
    [*("of", "with", "without", "whose", "that", "which", "in", "on", "at", "for", "from", "to", "by", "and", "than")]
)
"""What a noun is followed by where it isn't the last word of its phrase."""


def counted(n: int, phrase: str, verbs: tuple[str, str] | None = None) -> str:
    """Return a number with its noun, and with the verb that agrees with it: 1 item, 1,200 items.

    The noun is the last word of the phrase, or the last before a preposition.

    >>> counted(1, "run"), counted(1200, "item without a value"), counted(2, "other family")
    ('1 run', '1,200 items without a value', '2 other families')
    >>> counted(1, "request", ("has", "have")), counted(2, "request", ("has", "have"))
    ('1 request has', '2 requests have')
    """
    words = phrase.split(" ")
    head = next((place for place, word in enumerate(words) if word in _AFTER and place), len(words)) - 1
    if n != 1:
        words[head] = _plural(words[head])
    return " ".join([f"{n:,}", *words, *([verbs[n != 1]] if verbs else [])])


def _plural(noun: str) -> str:
    if re.search(r"[^aeiou]y$", noun):
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")


def is_name(value: str) -> bool:
    """Return whether a value looks like a name, a number or a label, which a text doesn't.

    It has at most 40 characters and three words, and no punctuation of sentences.

    >>> [is_name(value) for value in ("Plain Verb", "dog.n.01", "A cat sleeps.", "one two three four", '{"a": 1}')]
    [True, True, False, False, False]
    """
    return len(value) <= _LONGEST and len(value.split()) <= _MOST_WORDS and bool(not value or _NAME.fullmatch(value))


def quoted(value: str) -> str:
    """Return a value of a file as a message may show it: a name in quotation marks, of a text its length.

    >>> quoted("dog.n.1"), quoted("The cat sleeps on the mat.")
    ("'dog.n.1'", '(a text of 26 characters)')
    """
    return repr(value) if is_name(value) else f"(a text of {len(value):,} characters)"


def columns_of(names: Sequence[str], known: Sequence[str] = (), *, only_known: bool = False) -> str:
    """Return which columns a file has, for a message.

    Where one of them is a text, the head is probably a row of the file's own: then, and with `only_known`, those are
    shown that are `known`, and the others are counted.

    >>> columns_of(["good", "bad"])
    'good, bad'
    >>> columns_of(["A cat sleeps.", "cat", "UID"], ["UID"])
    'UID and 2 that are not shown (the first row looks like texts and no names)'
    """
    texts = not all(map(is_name, names))
    shown = [name for name in names if name in known] if texts or only_known else list(names)
    others = len(names) - len(shown)
    more = f"{others:,} that {'is' if others == 1 else 'are'} not shown" if others else ""
    there = " and ".join(filter(None, [", ".join(shown), more])) or "none"
    return f"{there} (the first row looks like texts and no names)" if texts else there
