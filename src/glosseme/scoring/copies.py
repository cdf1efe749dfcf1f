"""Pseudo-log-likelihoods, lowered as arrays: a text is kept once, and each of its masked copies as what it hides.

A text of n tokens has n copies, each forwarded. Two texts that differ in one token share the copy that hides it; equal
copies are found by a hash that changes with each token that is hidden, so that no copy has to be written out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glosseme.scoring.hashes import Words, sequence_hashes
from glosseme.scoring.reads import NO_TOKEN, Bools, Ids, Ints, Lowered, Ragged, Reads, in_order, joined, ragged

__all__ = ["Copies", "Text"]


@dataclass(frozen=True, slots=True)
class Text:
    """One text and its copies."""

    ids: Ids
    """With special tokens around it, shape (n,)."""
    targets: Ids
    """The positions whose tokens are asked for, one a copy, shape (copies,)."""
    hidden: list[Ids]
    """The positions that each copy hides, its target first, in any order after it."""
    spanning: bool = False


class Copies:
    """Collects texts in portions, so that only arrays are kept."""

    def __init__(self, mask: int) -> None:
        self._mask = mask
        self._portions: list[tuple[Ragged, Ragged, Ragged]] = []
        self._hashes: list[tuple[Words, Words]] = []
        self._spanning: list[bool] = []

    def add(self, texts: list[Text]) -> None:
        """Take in a portion of texts, each a question."""
        ids, targets = ragged([text.ids for text in texts]), ragged([text.targets for text in texts])
        hidden = ragged([at for text in texts for at in text.hidden])
        self._portions.append((ids, targets, hidden))
        self._hashes.append(_hashes(ids, targets, hidden, self._mask))
        self._spanning += [text.spanning for text in texts]

    def lowered(self) -> Lowered:
        """Return everything collected; question i is text i."""
        stems, targets, hidden = (_together([p[part] for p in self._portions]) for part in range(3))
        copies = targets.lengths
        question = np.repeat(np.arange(len(stems)), copies)
        token = stems.ids[stems.starts[:-1][question] + targets.ids].astype(np.int64)
        first, sequence = _distinct(*(np.concatenate([h[i] for h in self._hashes]) for i in range(2)))
        none = np.full(len(question), NO_TOKEN, np.int64)
        reads = Reads(
            stems=stems,
            branches=ragged([[]]),
            stem=question[first],
            branch=np.zeros(len(first), np.int64),
            lengths=stems.lengths[question[first]],
            sequence=sequence,
            position=targets.ids.astype(np.int64),
            token=token,
            other_sequence=none,
            other_position=none,
            question=question,
            hidden=hidden.take(first),
            mask=self._mask,
        )
        no = np.zeros(len(stems), bool)
        spanning: Bools = np.asarray(self._spanning, bool)
        return Lowered(reads, np.arange(len(stems)), copies, stems.lengths * copies, spanning, no)


def _together(parts: list[Ragged]) -> Ragged:
    lengths = np.concatenate([part.lengths for part in parts])
    return Ragged(np.concatenate([part.ids for part in parts]), joined([[0], np.cumsum(lengths)]))


def _hashes(ids: Ragged, targets: Ragged, hidden: Ragged, mask: int) -> tuple[Words, Words]:
    """Return two hashes of the tokens of each copy, shape (copies,)."""
    text = np.repeat(np.arange(len(ids)), targets.lengths)
    one, other = sequence_hashes(ids, text, ragged([[]]), np.zeros(len(text), np.int64), hidden, mask)
    return one, other


def _distinct(one: Words, other: Words) -> tuple[Ints, Ints]:
    """Return the index of the first of each of the distinct copies, in their order, and which of them each copy is."""
    _, first, inverse = np.unique(one, return_index=True, return_inverse=True)
    if not np.array_equal(other[first][inverse], other):
        # Two copies with one hash and not the other: both are kept apart by all of their bits.
        both = np.stack([one, other], axis=1)
        _, first, inverse = np.unique(both, axis=0, return_index=True, return_inverse=True)
    return in_order(first, inverse)
