"""The spelling of regular English gerunds, by which the lexicon is checked."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["regular_gerund"]

_FINAL_STRESS: Final = ("begin", "forget", "admit", "refer", "repel", "outrun", "unpin", "unplug", "unzip")
"""Verbs of several syllables with the stress on the last, which double their consonant as short ones do."""


def regular_gerund(verb: str) -> str:
    """Return the gerund of a base form; of a phrasal verb, that of its first word.

    >>> [regular_gerund(v) for v in ("write", "put out", "tie", "see", "carry", "draw", "cover", "outrun")]
    ['writing', 'putting out', 'tying', 'seeing', 'carrying', 'drawing', 'covering', 'outrunning']
    """
    head, space, rest = verb.partition(" ")
    return _stem(head) + "ing" + space + rest


def _stem(verb: str) -> str:
    if verb.endswith("ie"):
        return verb[:-2] + "y"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        return verb[:-1]
    doubles = re.fullmatch(r"(?:[^aeiou]|qu)*[aeiouy][^aeiouwxy]", verb) or verb in _FINAL_STRESS
    return verb + verb[-1] if doubles else verb
