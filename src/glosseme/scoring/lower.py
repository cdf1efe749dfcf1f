"""Requests to reads: where each measure reads which token of which sequence.

All that differs between causal and masked models stands here: a causal model's read of token t comes from the
position before t of the text up to t; a masked model's from the position of t, in a copy of the text with t masked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import polars as pl

from glosseme.errors import GlossemeError
from glosseme.measures import SLOT, Measure, PllVariant
from glosseme.scoring.builder import Builder, OneRead, check_length
from glosseme.scoring.copies import Copies, Text
from glosseme.scoring.encode import Encoder, Tokens
from glosseme.scoring.merge import merged
from glosseme.scoring.product import lower_product
from glosseme.scoring.reads import NO_TOKEN, Ids, Ints, Lowered, in_order

__all__ = ["lower"]

CHUNK = 4096
"""Texts tokenised at a time, so that offsets of a large suite are never all in memory."""


@dataclass(frozen=True, slots=True)
class _Question:
    reads: list[OneRead]
    length: int
    """Tokens of the longest sequence, specials included."""
    n_plain: int
    """Tokens that plain scoring forwards."""
    spanning: bool = False
    mismatch: bool = False


@dataclass(frozen=True, slots=True)
class _Lowering:
    """What a measure needs to know besides its texts."""

    encoder: Encoder
    join: str
    pll: PllVariant
    max_length: int | None
    where: str

    @contextmanager
    def named(self, item: str) -> Iterator[None]:
        """Say of which item an error is."""
        try:
            yield
        except GlossemeError as error:
            raise GlossemeError(error.what, where=f"{self.where}, item {item!r}", todo=error.todo) from None


def lower(
    requests: pl.DataFrame,
    encoder: Encoder,
    *,
    join: str = " ",
    pll: PllVariant = "within_word_l2r",
    max_length: int | None = None,
    where: str = "requests",
) -> Lowered:
    """Return the reads of `requests`, equal requests and equal sequences once.

    `join` stands between context and text. Raises `GlossemeError`, naming the item, for a text longer than
    `max_length` tokens, a continuation or filler without a token, or a masked measure without a mask token.
    """
    unique, question_of = _distinct(requests.select("item", "measure", "context", "text"))
    product = lower_product(unique, encoder, join=join, max_length=max_length, where=where)
    if product is not None:
        return product.lowered(question_of)
    lowering = _Lowering(encoder, join, pll, max_length, where)
    in_copies = (unique["measure"] == "pll").to_numpy()
    ways = ((~in_copies, _lower_each), (in_copies, _lower_copies))
    parts = [way(unique.filter(rows), lowering) for rows, way in ways if rows.any()]
    # Each part numbers its own questions, the copies after the others.
    place = np.where(in_copies, np.cumsum(in_copies) - 1 + (~in_copies).sum(), np.cumsum(~in_copies) - 1)
    return merged(parts or [_lower_each(unique, lowering)], place[question_of])


def _lower_each(unique: pl.DataFrame, lowering: _Lowering) -> Lowered:
    """Return the reads of questions that are built one by one."""
    builder = Builder()
    for question, (item, one, tokens, around) in enumerate(_encoded(unique, lowering)):
        with lowering.named(item):
            found = _READ[one.measure](lowering, one, tokens, around)
            check_length(found.length, lowering.max_length, item)
            builder.add(question, found.reads, (found.n_plain, found.spanning, found.mismatch))
    return builder.lowered(np.arange(unique.height))


def _lower_copies(unique: pl.DataFrame, lowering: _Lowering) -> Lowered:
    """Return the reads of pseudo-log-likelihoods, portion by portion."""
    with lowering.named(unique["item"][0]):
        copies = Copies(_mask_id(lowering.encoder))
    questions = _encoded(unique, lowering)
    while portion := list(islice(questions, CHUNK)):
        texts = []
        for item, one, tokens, _ in portion:
            with lowering.named(item):
                texts.append(_copied(lowering, one, tokens))
                check_length(len(texts[-1].ids), lowering.max_length, item)
        copies.add(texts)
    return copies.lowered()


def _distinct(requests: pl.DataFrame) -> tuple[pl.DataFrame, Ints]:
    """Return the different requests in the order of their first, and which of them each request is, (requests,)."""
    asked = requests.select("measure", "context", "text")
    # By hashes of rows: joining millions of rows on their texts takes a gigabyte more.
    hashes = asked.hash_rows(seed=0).to_numpy()
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    again = np.flatnonzero(first[inverse] != np.arange(len(hashes)))
    if not asked[again].equals(asked[first[inverse[again]]]):
        return _distinct_by_texts(requests, asked)
    first, question_of = in_order(first, inverse)
    return requests[first], question_of


def _distinct_by_texts(requests: pl.DataFrame, asked: pl.DataFrame) -> tuple[pl.DataFrame, Ints]:
    unique = requests.unique(asked.columns, keep="first", maintain_order=True)
    numbered = unique.select(asked.columns).with_row_index("question")
    found = asked.join(numbered, on=asked.columns, how="left", nulls_equal=True, maintain_order="left")
    return unique, found["question"].to_numpy().astype(np.int64)


def _encoded(unique: pl.DataFrame, lowering: _Lowering) -> Iterator[tuple[str, _Prepared, Tokens, _Around | None]]:
    """Yield each question's item, its text, the tokens of that, and what stands around its slot."""
    rows = unique.select("item", "measure", "context", "text").iter_rows()
    while chunk := list(islice(rows, CHUNK)):
        prepared = [_prepare(lowering, row) for row in chunk]
        tokens = lowering.encoder.encode([p.text for p in prepared])
        around = _around(lowering.encoder, prepared)
        for (item, *_), one, encoded in zip(chunk, prepared, tokens, strict=True):
            with lowering.named(item):
                _check_no_mask(lowering.encoder, encoded)
            yield item, one, encoded, around.get(one.unfilled or "")


def _prepare(lowering: _Lowering, row: tuple[str, Measure, str | None, str]) -> _Prepared:
    item, measure, context, text = row
    with lowering.named(item):
        return replace(_PREPARE[measure](lowering, context, text), measure=measure)


def _check_no_mask(encoder: Encoder, tokens: Tokens) -> None:
    if encoder.mask_id is not None and (tokens.ids == encoder.mask_id).any():
        raise GlossemeError(
            f"the mask token {encoder.tokenizer.mask_token!r} is written in the text",
            todo=f"write {SLOT!r} where a filler goes, and nothing in other texts",
        )


@dataclass(frozen=True, slots=True)
class _Prepared:
    """The text that is tokenised, and the characters of it that are asked for."""

    text: str
    spans: tuple[tuple[int, int], ...]
    unfilled: str | None = None
    """The text with the tokenizer's own mask token written into the slot."""
    read_span: int = 0
    """Which span is read, where there are two."""
    measure: Measure = "sentence"


def _whole(lowering: _Lowering, context: str | None, text: str) -> _Prepared:
    if context is None:
        return _Prepared(text, ((0, len(text)),))
    joined = context + lowering.join + text
    return _Prepared(joined, ((len(context) + len(lowering.join), len(joined)),))


def _filled(lowering: _Lowering, context: str | None, text: str) -> _Prepared:
    _mask_id(lowering.encoder)
    parts = (context or "").split(SLOT)
    if len(parts) != 2:
        raise GlossemeError(f"a slot needs one {SLOT!r} in its context, no more, no fewer")
    left, right = parts
    unfilled = left + lowering.encoder.tokenizer.mask_token + right
    return _Prepared(left + text + right, ((len(left), len(left) + len(text)),), unfilled)


def _filled_twice(lowering: _Lowering, context: str | None, text: str) -> _Prepared:
    _mask_id(lowering.encoder)
    parts = (context or "").split(SLOT)
    fillers = text.split(SLOT)
    marked = [i for i, filler in enumerate(fillers) if filler.startswith("*")]
    if len(parts) != 3 or len(fillers) != 2 or len(marked) != 1:
        raise GlossemeError(
            f"a divergence needs two slots and two fillers joined by {SLOT!r}, one of them marked with '*'"
        )
    first, second = (filler.removeprefix("*") for filler in fillers)
    a = len(parts[0])
    b = a + len(first) + len(parts[1])
    filled = parts[0] + first + parts[1] + second + parts[2]
    return _Prepared(filled, ((a, a + len(first)), (b, b + len(second))), read_span=marked[0])


_Around = tuple[Ids, Ids]


def _around(encoder: Encoder, prepared: Sequence[_Prepared]) -> dict[str, _Around]:
    """Return, for each unfilled text, the ids left and right of the mask token that the tokenizer found in it."""
    texts = sorted({p.unfilled for p in prepared if p.unfilled is not None})
    found = {}
    for text, tokens in zip(texts, encoder.encode(texts), strict=True):
        at = np.flatnonzero(tokens.ids == encoder.mask_id)
        if len(at) == 1:
            found[text] = (tokens.ids[: at[0]], tokens.ids[at[0] + 1 :])
    return found


def _covering(tokens: Tokens, text: str, start: int, end: int) -> tuple[int, int, bool]:
    """Return the tokens [a, b) that cover a non-space character of text[start:end], and whether one spans its edge."""
    inside = text[start:end]
    first = start + len(inside) - len(inside.lstrip())
    last = start + len(inside.rstrip())
    a = int(np.argmax(tokens.ends > first)) if (tokens.ends > first).any() else len(tokens.ends)
    covers = np.flatnonzero(tokens.starts < last)
    b = int(covers[-1]) + 1 if covers.size else 0
    if a >= b:
        raise GlossemeError(f"{inside!r} has no token of its own in {text!r}")
    before = text[tokens.starts[a] : start].strip() if tokens.starts[a] < start else ""
    after = text[end : tokens.ends[b - 1]].strip() if tokens.ends[b - 1] > end else ""
    return a, b, bool(before or after)


def _read_continuation(lowering: _Lowering, asked: _Prepared, tokens: Tokens, around: _Around | None) -> _Question:
    ids, targets, _, spanning = _targets(lowering, asked, tokens)
    if asked.spans[0][0] > 0 and targets[0] == 0:
        raise GlossemeError(
            "the continuation begins within the first token, which has no probability",
            todo="part context and text by a space, or put a BOS in front with --bos always",
        )
    targets = targets[targets > 0]
    end = int(targets[-1]) if targets.size else 0
    read = OneRead(ids[:end], targets - 1, ids[targets])
    return _Question([read] if targets.size else [], len(ids), len(ids), spanning)


def _copied(lowering: _Lowering, asked: _Prepared, tokens: Tokens) -> Text:
    ids, targets, offset, spanning = _targets(lowering, asked, tokens)
    hidden = [targets[i : i + 1] for i in range(len(targets))]
    if lowering.pll == "within_word_l2r":
        later = [_later_of_word(tokens.words, target - offset) + np.int32(offset) for target in targets.tolist()]
        hidden = [np.concatenate([own, more]) if more.size else own for own, more in zip(hidden, later, strict=True)]
    return Text(ids, targets, hidden, spanning)


def _targets(lowering: _Lowering, asked: _Prepared, tokens: Tokens) -> tuple[Ids, Ids, int, bool]:
    """Return a text's ids in its frame, the positions asked for, where the text begins, and `spanning`."""
    ids, offset = lowering.encoder.framed(tokens.ids)
    first, spanning = 0, False
    if asked.spans[0][0] > 0:
        first, _, spanning = _covering(tokens, asked.text, *asked.spans[0])
    targets = _scored(lowering.encoder, ids, offset + first, offset + len(tokens.ids))
    if not targets.size:
        raise GlossemeError(f"there is no token to score in {asked.text!r}")
    return ids, targets, offset, spanning


def _later_of_word(words: Ids, at: int) -> Ids:
    if words[at] < 0:
        return np.zeros(0, np.int32)
    return (np.flatnonzero(words[at + 1 :] == words[at]) + at + 1).astype(np.int32)


def _read_slot(lowering: _Lowering, asked: _Prepared, tokens: Tokens, around: _Around | None) -> _Question:
    mask = _mask_id(lowering.encoder)
    ids, offset = lowering.encoder.framed(tokens.ids)
    a, b, spanning = _covering(tokens, asked.text, *asked.spans[0])
    a, mismatch = _round_trip(tokens, asked.text, a, b, around)
    masked = ids.copy()
    masked[offset + a : offset + b] = mask
    positions = np.arange(offset + a, offset + b, dtype=np.int32)
    return _Question([OneRead(masked, positions, ids[positions])], len(ids), len(ids), spanning, mismatch)


def _round_trip(tokens: Tokens, text: str, a: int, b: int, around: _Around | None) -> tuple[int, bool]:
    """Return where a filler's tokens begin, and whether the tokens around it differ from those around a mask token.

    A space that the mask token swallows is the filler's, even where it is a token of its own (before an emoji).
    """
    if around is None or not np.array_equal(around[1], tokens.ids[b:]):
        return a, True
    if np.array_equal(around[0], tokens.ids[:a]):
        return a, False
    space = a > 0 and not text[tokens.starts[a - 1] : tokens.ends[a - 1]].strip()
    return (a - 1, False) if space and np.array_equal(around[0], tokens.ids[: a - 1]) else (a, True)


def _read_divergence(lowering: _Lowering, asked: _Prepared, tokens: Tokens, around: _Around | None) -> _Question:
    mask = _mask_id(lowering.encoder)
    ids, offset = lowering.encoder.framed(tokens.ids)
    spans = [_covering(tokens, asked.text, *span) for span in asked.spans]
    a, b, _ = spans[asked.read_span]
    alone = ids.copy()
    alone[offset + a : offset + b] = mask
    both = alone.copy()
    for start, end, _ in spans:
        both[offset + start : offset + end] = mask
    positions = np.arange(offset + a, offset + b, dtype=np.int32)
    read = OneRead(alone, positions, np.full(b - a, NO_TOKEN, np.int32), both)
    return _Question([read], len(ids), 2 * len(ids), any(spanning for _, _, spanning in spans))


def _scored(encoder: Encoder, ids: Ids, start: int, end: int) -> Ids:
    """Return the positions in [start, end) that hold no special token."""
    positions = np.arange(start, end, dtype=np.int32)
    special = np.isin(ids[start:end], np.fromiter(encoder.unscored, np.int32, len(encoder.unscored)))
    return positions[~special]


def _mask_id(encoder: Encoder) -> int:
    if encoder.mask_id is None:
        raise GlossemeError(
            "the tokenizer has no mask token, and a masked measure was asked for",
            todo="choose a masked model or a suite for causal ones",
        )
    return encoder.mask_id


_Prepare = Callable[[_Lowering, str | None, str], _Prepared]
_ReadOff = Callable[[_Lowering, _Prepared, Tokens, _Around | None], _Question]
_PREPARE: dict[Measure, _Prepare] = {
    "conditional": _whole,
    "sentence": _whole,
    "pll": _whole,
    "slot": _filled,
    "divergence": _filled_twice,
}
_READ: dict[str, _ReadOff] = {
    "conditional": _read_continuation,
    "sentence": _read_continuation,
    "slot": _read_slot,
    "divergence": _read_divergence,
}
