"""Lowering of suites that cross contexts with texts: each context and each text is tokenised once, not each pair.

WDLMPro asks for some 60,000 definitions with 50 words each. Where a tokenizer lets the words at an edge of a text not
touch each other (it splits at spaces first), the tokens of a pair are those of its context and those of its text. This
is checked and never assumed: every context with one text, every text with one context for each word that it comes to
stand next to, and a sample of the pairs are tokenised jointly. If one of them comes out otherwise, the caller tokenises
every pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import polars as pl

from glosseme.measures import SLOT
from glosseme.scoring.builder import check_length
from glosseme.scoring.encode import Encoder, Tokens
from glosseme.scoring.reads import NO_TOKEN, Ids, Ints, Lowered, Reads, ragged

__all__ = ["Product", "lower_product"]

CHUNK = 4096
SAMPLE = 1000
"""Pairs that are tokenised jointly."""
WORTH_IT = 5000
"""Pairs from which on it is worth the trouble."""


@dataclass(frozen=True, slots=True)
class _Cut:
    """The tokens of a joint text: those of what precedes, of the space, of what is asked for, of what follows."""

    left: Ids
    lead: Ids
    inside: Ids
    right: Ids

    def fits(self, left: Ids, text: _Cut, right: Ids) -> bool:
        """Whether the tokens are those of a context and of a text."""
        pairs = ((self.left, left), (self.lead, text.lead), (self.inside, text.inside), (self.right, right))
        return all(np.array_equal(a, b) for a, b in pairs)


class _NoProductError(Exception):
    """The tokens of a pair are not those of its context and its text."""


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Questions as pairs of a context and a text; an edge is the words that touch the text."""

    left: list[str]
    right: list[str]
    """What stands before and after the text, shape (contexts,)."""
    context: Ints
    """Shape (questions,)."""
    text: list[str]
    """The texts, once for each edge they stand at, shape (texts,)."""
    text_of: Ints
    """Shape (questions,)."""
    edge_of_context: Ints
    edge_of_text: Ints


def lower_product(
    unique: pl.DataFrame, encoder: Encoder, *, join: str, max_length: int | None, where: str
) -> Product | None:
    """Return the reads of different requests, or None where they are not a product of contexts and texts.

    `unique` has the columns item, measure, context and text. Raises `GlossemeError` for a pair that is too long.
    """
    measures = unique["measure"].unique().to_list()
    if unique.height < WORTH_IT or measures not in (["conditional"], ["slot"]):
        return None
    pairs = _pairs(unique, join)
    if unique.height < 2 * (len(pairs.left) + len(pairs.text)):
        return None
    slot = measures == ["slot"]
    try:
        product = Product(encoder, pairs, *_cut_all(encoder, pairs, slot=slot), slot=slot)
    except _NoProductError:
        return None
    longest = int(np.argmax(product.n_plain))
    check_length(int(product.n_plain[longest]), max_length, f"{where}, item {unique['item'][longest]!r}")
    return product


def _pairs(unique: pl.DataFrame, join: str) -> _Pairs:
    context = pl.col("context")
    if unique["measure"][0] == "slot":
        parts = context.str.split_exact(SLOT, 1)
        left, right = parts.struct.field("field_0"), parts.struct.field("field_1").fill_null("")
    else:
        left, right = context + join, pl.lit("")
    # Words, because a tokenizer that doesn't split at spaces may join the last one with the first of a text.
    last, first = left.str.extract(r"(\S*\s*)$"), right.str.extract(r"^(\s*\S*)")
    edge = pl.concat_str(last, pl.lit("\0"), first)
    contexts = unique.select("context").unique(maintain_order=True).with_row_index("c").with_columns(edge=edge)
    edges = contexts.select("edge").unique(maintain_order=True).with_row_index("e")
    contexts = contexts.join(edges, on="edge", how="left", maintain_order="left").with_columns(left=left, right=right)
    asked = unique.select("context", "text").join(
        contexts.select("context", "c", "e"), on="context", how="left", maintain_order="left"
    )
    texts = asked.select("e", "text").unique(maintain_order=True).with_row_index("t")
    asked = asked.join(texts, on=["e", "text"], how="left", maintain_order="left")

    def ints(column: pl.Series) -> Ints:
        return column.to_numpy().astype(np.int64)

    return _Pairs(
        left=contexts["left"].to_list(),
        right=contexts["right"].to_list(),
        context=ints(asked["c"]),
        text=texts["text"].to_list(),
        text_of=ints(asked["t"]),
        edge_of_context=ints(contexts["e"]),
        edge_of_text=ints(texts["e"]),
    )


def _cut_all(encoder: Encoder, pairs: _Pairs, *, slot: bool) -> tuple[list[Ids], list[Ids], list[_Cut]]:
    """Return the ids left and right of each context's place, and the cut of each text."""
    _, first = np.unique(pairs.edge_of_context[pairs.context], return_index=True)
    anchor_context, anchor_text = pairs.context[first], pairs.text_of[first]
    contexts = np.arange(len(pairs.left))
    by_context = list(_cuts(encoder, pairs, contexts, anchor_text[pairs.edge_of_context]))
    texts = np.arange(len(pairs.text))
    by_text = list(_cuts(encoder, pairs, anchor_context[pairs.edge_of_text], texts))
    left, right = [cut.left for cut in by_context], [cut.right for cut in by_context]

    def check(cut: _Cut, c: int, t: int) -> None:
        if not cut.fits(left[c], by_text[t], right[c]):
            raise _NoProductError

    for c, cut in enumerate(by_context):
        check(cut, c, int(anchor_text[pairs.edge_of_context[c]]))
    for t, cut in enumerate(by_text):
        check(cut, int(anchor_context[pairs.edge_of_text[t]]), t)
    drawn = np.random.default_rng(0).choice(len(pairs.context), min(SAMPLE, len(pairs.context)), replace=False)
    cs, ts = pairs.context[drawn], pairs.text_of[drawn]
    for cut, c, t in zip(_cuts(encoder, pairs, cs, ts), cs.tolist(), ts.tolist(), strict=True):
        check(cut, c, t)
    if not slot and any(len(part) for part in right):
        raise _NoProductError
    return left, right, by_text


def _cuts(encoder: Encoder, pairs: _Pairs, contexts: Ints, texts: Ints) -> Iterator[_Cut]:
    """Yield the cut of each joint text."""
    unscored = np.fromiter({*encoder.unscored, encoder.mask_id or NO_TOKEN}, np.int64)
    both = zip(contexts.tolist(), texts.tolist(), strict=True)
    while chunk := list(islice(both, CHUNK)):
        joint = [pairs.left[c] + pairs.text[t] + pairs.right[c] for c, t in chunk]
        for (c, t), tokens in zip(chunk, encoder.encode(joint), strict=True):
            if np.isin(tokens.ids, unscored).any():
                raise _NoProductError
            yield _cut(tokens, pairs.text[t], pairs.left[c])


def _cut(tokens: Tokens, text: str, before: str) -> _Cut:
    start = len(before)
    first, last = start + len(text) - len(text.lstrip()), start + len(text.rstrip())
    a = int(np.searchsorted(tokens.ends, first, side="right"))
    b = int(np.searchsorted(tokens.starts, last, side="left"))
    # Tokens of nothing but the space before the text come and go with the text: they are no part of the context.
    space = int(np.searchsorted(tokens.ends[:a], len(before.rstrip()), side="right"))
    spans = a >= b or before[tokens.starts[a] : start].strip() or tokens.ends[b - 1] > start + len(text)
    if spans or (np.diff(tokens.ends) < 0).any() or (np.diff(tokens.starts) < 0).any():
        raise _NoProductError
    return _Cut(tokens.ids[:space], tokens.ids[space:a], tokens.ids[a:b], tokens.ids[b:])


class Product:
    """Reads of pairs, made of arrays."""

    def __init__(
        self,
        encoder: Encoder,
        pairs: _Pairs,
        left: Sequence[Ids],
        right: Sequence[Ids],
        texts: list[_Cut],
        *,
        slot: bool,
    ) -> None:
        self._pairs = pairs
        written = _written(encoder, pairs) if slot else []
        texts = _swallowed(texts, left, written, encoder.mask_id) if slot else texts
        self._inside = ragged([cut.inside for cut in texts])
        self._leads = _Numbered()
        lead_of = np.asarray([self._leads(cut.lead) for cut in texts], np.int64)
        self._lead = lead_of[pairs.text_of]
        self._sizes = self._inside.lengths[pairs.text_of]
        self._lead_sizes = np.asarray([len(ids) for ids in self._leads.lists], np.int64)[self._lead]
        if slot:
            self._slots(encoder, left, right, written)
        else:
            self._continuations(encoder, left, texts)

    def _continuations(self, encoder: Encoder, left: Sequence[Ids], texts: list[_Cut]) -> None:
        """Sequences of a context and all but the last token of a text, read from before the text's first token on."""
        self._stems = ragged([encoder.framed(ids)[0] for ids in left])
        heads = _Numbered()
        head_of = np.asarray([heads(np.concatenate([cut.lead, cut.inside[:-1]])) for cut in texts], np.int64)
        self._branches = ragged(heads.lists)
        n = len(heads.lists)
        kinds, self._sequence = np.unique(self._pairs.context * n + head_of[self._pairs.text_of], return_inverse=True)
        self._stem, self._branch = kinds // n, kinds % n
        self._first = self._stems.lengths[self._pairs.context] + self._lead_sizes - 1
        if int(self._first.min()) < 0:
            raise _NoProductError  # nothing precedes the first token
        self.n_plain = self._first + 1 + self._sizes
        self._mismatch = np.zeros(len(self._sizes), bool)

    def _slots(self, encoder: Encoder, left: Sequence[Ids], right: Sequence[Ids], written: list[Ids]) -> None:
        """Sequences of a context with as many masks as a text has tokens, read at the masks."""
        if encoder.mask_id is None:
            raise _NoProductError
        leads, most = self._leads.lists, int(self._sizes.max()) + 1
        places, place_of = np.unique(self._pairs.context * len(leads) + self._lead, return_inverse=True)
        before = [np.concatenate([left[p // len(leads)], leads[p % len(leads)]]) for p in places.tolist()]
        after = [right[p // len(leads)] for p in places.tolist()]
        kinds, self._sequence = np.unique(place_of * most + self._sizes, return_inverse=True)
        masks = np.full(most, encoder.mask_id, np.int32)
        filled = [np.concatenate([before[k // most], masks[: k % most], after[k // most]]) for k in kinds.tolist()]
        self._stems, self._branches = ragged([encoder.framed(ids)[0] for ids in filled]), ragged([[]])
        self._stem, self._branch = np.arange(len(kinds)), np.zeros(len(kinds), np.int64)
        self._first = np.asarray([len(ids) for ids in before], np.int64)[place_of] + len(encoder.prefix)
        self.n_plain = self._stems.lengths[self._sequence]
        contexts = (places // len(leads)).tolist()
        equal = [
            np.array_equal(written[c], np.concatenate([before[i], masks[:1], after[i]])) for i, c in enumerate(contexts)
        ]
        self._mismatch = ~np.asarray(equal, bool)[place_of]

    def lowered(self, question_of_request: Ints) -> Lowered:
        """Return the reads of all pairs."""
        sizes, n = self._sizes, len(self._sizes)
        question = np.repeat(np.arange(n), sizes)
        place = np.arange(len(question)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        none = np.full(len(question), NO_TOKEN, np.int64)
        reads = Reads(
            stems=self._stems,
            branches=self._branches,
            stem=self._stem,
            branch=self._branch,
            lengths=self._stems.lengths[self._stem] + self._branches.lengths[self._branch],
            sequence=self._sequence[question],
            position=self._first[question] + place,
            token=self._inside.ids[self._inside.starts[self._pairs.text_of][question] + place].astype(np.int64),
            other_sequence=none,
            other_position=none,
            question=question,
        )
        spanning = np.zeros(n, bool)
        return Lowered(reads, question_of_request, sizes, self.n_plain, spanning, self._mismatch)


class _Numbered:
    """Gives equal lists of ids equal numbers."""

    def __init__(self) -> None:
        self.lists: list[Ids] = []
        self._index: dict[bytes, int] = {}

    def __call__(self, ids: Ids) -> int:
        key = ids.astype(np.int32).tobytes()
        if key not in self._index:
            self._index[key] = len(self.lists)
            self.lists.append(ids)
        return self._index[key]


def _swallowed(texts: list[_Cut], left: Sequence[Ids], written: list[Ids], mask: int | None) -> list[_Cut]:
    """Return the texts with the spaces that the mask token swallows as their own (`lower` says why)."""
    if not any(len(cut.lead) for cut in texts):
        return texts
    swallows = {len(before) == int(np.argmax(ids == mask)) for before, ids in zip(left, written, strict=True)}
    if swallows == {False}:
        return texts
    if swallows != {True} or any(len(cut.lead) > 1 for cut in texts):
        raise _NoProductError
    return [_Cut(cut.left, cut.lead[:0], np.concatenate([cut.lead, cut.inside]), cut.right) for cut in texts]


def _written(encoder: Encoder, pairs: _Pairs) -> list[Ids]:
    """Return the ids of each context with the tokenizer's own mask token written into its slot."""
    mask = encoder.tokenizer.mask_token
    texts = [a + mask + b for a, b in zip(pairs.left, pairs.right, strict=True)]
    chunks = (encoder.encode(texts[i : i + CHUNK]) for i in range(0, len(texts), CHUNK))
    return [tokens.ids for chunk in chunks for tokens in chunk]
