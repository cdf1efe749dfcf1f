"""The questions put to a model, as rows of a table.

A **request** is one question: a measure, an optional context, and a text. Requests stand in a Polars frame with the
columns of `REQUEST_COLUMNS`, followed by the suite's factors.

| measure | context | text | value |
|---|---|---|---|
| `conditional` | what precedes | the continuation | log p(text given context), causal models |
| `sentence` | null | the text | log p(text), causal models |
| `pll` | null or what precedes | the text | pseudo-log-likelihood of the text, masked models |
| `slot` | a text with one `SLOT` | the filler | log p(filler in the slot), masked models |
| `divergence` | a text with two `SLOT`s | the two fillers | Jensen-Shannon divergence in nats, masked models |
| `similarity` | a text | the text | cosine of the two mean vectors, static embeddings |

The fillers of a divergence are joined by `SLOT`, in order, and the one in whose place it is read is marked with
a leading `*` (`*let___alone`): it is between the distributions there with that one masked and with both masked.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

import polars as pl

from glosseme.errors import GlossemeError

__all__ = [
    "KINDS",
    "MEASURES",
    "MEASURES_OF",
    "REQUEST_COLUMNS",
    "SLOT",
    "Kind",
    "Measure",
    "PllVariant",
    "Reduction",
    "check_requests",
]

Kind = Literal["causal", "masked", "static"]
Measure = Literal["conditional", "sentence", "pll", "slot", "divergence", "similarity"]
Reduction = Literal["sum", "mean", "probability"]
PllVariant = Literal["within_word_l2r", "original"]

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
MEASURES: Final[tuple[Measure, ...]] = get_args(Measure)

SLOT: Final = "___"
"""What stands in a text where a filler goes."""

MEASURES_OF: Final[dict[Kind, frozenset[Measure]]] = {
    "causal": frozenset({"conditional", "sentence"}),
    "masked": frozenset({"pll", "slot", "divergence"}),
    "static": frozenset({"similarity"}),
}
"""Which questions a model of a kind can answer."""

REQUEST_COLUMNS: Final[dict[str, pl.DataType]] = {
    "item": pl.String(),
    "role": pl.String(),
    "measure": pl.String(),
    "context": pl.String(),
    "text": pl.String(),
}


def check_requests(requests: pl.DataFrame, kind: Kind, suite: str) -> None:
    """Raise `GlossemeError` for a request that no model of this kind can answer, naming the item.

    `requests` has the columns of `REQUEST_COLUMNS`. Found here, before a model is loaded: empty texts, slots that
    are missing or doubled, a measure of another kind of model.
    """
    _refuse(requests, ~pl.col("measure").is_in(list(MEASURES)), suite, "an unknown measure")
    wrong = requests.filter(~pl.col("measure").is_in(list(MEASURES_OF[kind])))
    if wrong.height:
        measure, item = wrong.row(0, named=True)["measure"], wrong["item"][0]
        other = next(k for k, measures in MEASURES_OF.items() if measure in measures)
        raise GlossemeError(
            f"measure {measure!r} needs a {other} model and this one is {kind}",
            where=f"{suite}, item {item!r}",
            todo=f"choose a {other} model or another suite",
        )
    text, context, measure_is = pl.col("text"), pl.col("context"), pl.col("measure")
    empty = text.is_null() | (text.str.strip_chars() == "")
    _refuse(requests, empty, suite, "the text is empty")
    for name in ("conditional", "similarity"):
        _refuse(requests, (measure_is == name) & context.is_null(), suite, f"a {name} needs a context")
    _refuse(requests, context.is_not_null() & (context.str.strip_chars() == ""), suite, "the context is empty")
    slots = context.str.count_matches(SLOT, literal=True).fill_null(0)
    for name, wanted in (("slot", 1), ("divergence", 2)):
        bad = (measure_is == name) & (slots != wanted)
        _refuse(
            requests,
            bad,
            suite,
            f"measure {name!r} needs {wanted} {SLOT!r} in its context, no more, no fewer",
        )


def _refuse(requests: pl.DataFrame, bad: pl.Expr, suite: str, what: str) -> None:
    rows = requests.filter(bad)
    if rows.height:
        more = f" (and {rows.height - 1} more)" if rows.height > 1 else ""
        raise GlossemeError(what, where=f"{suite}, item {rows['item'][0]!r}{more}")
