"""The reader of lexicons of the `wn` library: Open English WordNet, the Open Multilingual Wordnet and others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import polars as pl

from glosseme.errors import GlossemeError
from glosseme.suites.wdlmpro.tables import Wordnet, tables

__all__ = ["PREFIX", "read_lexicon"]

PREFIX: Final = "wn:"
"""What precedes the specifier of a lexicon (`wn:oewn:2024`)."""

_LINKS: Final = {"hypernym": False, "instance_hypernym": True}
_SYNSET: Final = {"key": pl.String, "synset": pl.String, "word": pl.String, "definition": pl.String}
_LINK: Final = {"child": pl.String, "parent": pl.String, "instance": pl.Boolean}


def read_lexicon(specifier: str) -> Wordnet:
    """Return the nouns and verbs of one lexicon that `wn` has, by its specifier (`oewn:2024`).

    Synsets are named as in WordNet, by the first word in lower case and the number of its sense; words keep the
    spelling that the lexicon gives them. Raises `GlossemeError` where `wn` or the lexicon is missing.
    """
    lexicon = _open(specifier)
    named = dict(_named(lexicon))
    rows, links = [], []
    for synset in (synset for pos in "nv" for synset in lexicon.synsets(pos=pos)):
        senses = synset.senses()
        if senses:
            rows.append((synset.id, *named[senses[0].id], synset.definition()))
        for relation, above in synset.relations(*_LINKS).items():
            links += [(synset.id, parent.id, _LINKS[relation]) for parent in above]
    found = pl.DataFrame(rows, schema=_SYNSET, orient="row")
    edges = pl.DataFrame(links, schema=_LINK, orient="row")
    return tables(PREFIX + specifier, found, edges, language=lexicon.lexicons()[0].language)


def _named(lexicon: Any) -> Iterator[tuple[str, tuple[str, str]]]:
    """Return the name and the word of each sense, by its id; words that differ in case are numbered together."""
    numbers: Counter[tuple[str, str]] = Counter()
    for word in lexicon.words():
        lemma = word.lemma()
        lowered = lemma.lower().replace(" ", "_")
        for sense in word.senses():
            pos = sense.synset().pos
            numbers[lowered, pos] += 1
            yield sense.id, (f"{lowered}.{pos}.{numbers[lowered, pos]:02d}", lemma)


def _open(specifier: str) -> Any:
    where = PREFIX + specifier
    try:
        import wn
    except ImportError as error:
        todo = "pip install 'glosseme[wn]'"
        raise GlossemeError("this wordnet needs the package wn", where=where, todo=todo) from error
    try:
        lexicon = wn.Wordnet(specifier)
    except wn.Error as error:
        have = ", ".join(sorted(found.specifier() for found in wn.lexicons())) or "none"
        todo = f"python -m wn download {specifier} (there now: {have})"
        raise GlossemeError("wn has no such lexicon", where=where, todo=todo) from error
    several = [found.specifier() for found in lexicon.lexicons()]
    if len(several) != 1:
        what = f"this names {len(several)} lexicons: {', '.join(several)}"
        raise GlossemeError(what, where=where, todo="name one, with its version")
    return lexicon
