"""The sentences in which a word meets a definition (Senel and Schuetze, EACL 2021, Table 3)."""

from __future__ import annotations

from typing import Final

import polars as pl

from glosseme.measures import SLOT, Kind

__all__ = ["AVERAGE", "TEMPLATES", "asked"]

AVERAGE: Final = "average"
"""What stands for the templates taken together."""

TEMPLATES: Final[dict[tuple[Kind, str], tuple[str, ...]]] = {
    ("masked", "noun"): ("<W> is <D>", "<W> means <D>", "<W> is defined as <D>"),
    ("masked", "verb"): ("definition of <W> is to <D>", "to <D> is the definition of <W>"),
    ("causal", "noun"): ("<D> is the definition of <W>",),
    ("causal", "verb"): ("to <D> is the definition of <W>",),
    ("static", "noun"): (AVERAGE,),
    ("static", "verb"): (AVERAGE,),
}
"""For a kind of model and a part of speech: `<W>` is the word, `<D>` the definition.

Static embeddings compare the two as they are: no sentence, the one value stands where others have the average.
"""


def asked(kind: Kind, template: str, *, authors_case: bool = False, capital_template: bool = False) -> list[pl.Expr]:
    """Return the columns measure, context and text of a template, from the columns word and definition.

    A word or a definition that starts the text gets a capital first letter. With `authors_case` the rest of such a
    definition is lowered, as Python's `capitalize` does; `capital_template` gives the template's own first word a
    capital.

    >>> pair = pl.DataFrame({"word": ["ox"], "definition": ["an adult castrated bull"]})
    >>> pair.select(asked("masked", "<W> means <D>")).row(0)
    ('slot', '___ means an adult castrated bull', 'Ox')
    >>> pair.select(asked("causal", "<D> is the definition of <W>")).row(0)
    ('conditional', 'An adult castrated bull is the definition of', 'ox')
    >>> pair.select(asked("static", AVERAGE)).row(0)
    ('similarity', 'an adult castrated bull', 'ox')
    """
    if kind == "static":
        return [
            pl.lit("similarity").alias("measure"),
            pl.col("definition").alias("context"),
            pl.col("word").alias("text"),
        ]
    word = _capital(pl.col("word")) if template.startswith("<W>") else pl.col("word")
    definition = pl.col("definition")
    if template.startswith("<D>"):
        definition = _capital(definition.str.to_lowercase() if authors_case else definition)
    written = template[:1].upper() + template[1:] if capital_template else template
    if kind == "causal":
        measure, context = "conditional", written.removesuffix(" <W>")
    else:
        measure, context = "slot", written.replace("<W>", SLOT)
    return [pl.lit(measure).alias("measure"), _filled(context, definition).alias("context"), word.alias("text")]


def _filled(template: str, definition: pl.Expr) -> pl.Expr:
    before, after = template.split("<D>")
    return pl.concat_str(pl.lit(before), definition, pl.lit(after))


def _capital(text: pl.Expr) -> pl.Expr:
    return text.str.head(1).str.to_uppercase() + text.str.slice(1)
