"""Pseudo-log-likelihoods, lowered as arrays: a text is kept once, and each of its masked copies as what it hides.

A text of n tokens has n copies, each forwarded. Two texts that differ in one token share the copy that hides it; equal
copies are found by a hash that changes with each token that is hidden, so that no copy has to be written out.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

import numpy as np
import numpy.typing as npt

from glosseme.scoring.reads import NO_TOKEN, Bools, Ids, Ints, Lowered, Ragged, Reads, joined, ragged

__all__ = ["Copies", "Text"]

Words = npt.NDArray[np.uint64]

_SEEDS: Final = (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03)


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
        self._keys: list[bytes] = []
        self._spanning: list[bool] = []

    def add(self, texts: list[Text]) -> None:
        """Take in a portion of texts, each a question."""
        ids, targets = ragged([text.ids for text in texts]), ragged([text.targets for text in texts])
        hidden = ragged([at for text in texts for at in text.hidden])
        self._portions.append((ids, targets, hidden))
        self._hashes.append(_hashes(ids, targets, hidden, self._mask))
        self._keys += [_key(text, self._mask) for text in texts]
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
        return Lowered(reads, np.arange(len(stems)), self._keys, copies, stems.lengths * copies, spanning, no)


def _together(parts: list[Ragged]) -> Ragged:
    lengths = np.concatenate([part.lengths for part in parts])
    return Ragged(np.concatenate([part.ids for part in parts]), joined([[0], np.cumsum(lengths)]))


def _key(text: Text, mask: int) -> bytes:
    """Return what identifies a text's reads, whatever the model."""
    parts = [text.ids, text.targets, *text.hidden]
    sizes = np.asarray([mask, *(len(part) for part in parts)], "<i4")
    return blake2b(b"".join(part.astype("<i4").tobytes() for part in (*parts, sizes)), digest_size=16).digest()


def _hashes(ids: Ragged, targets: Ragged, hidden: Ragged, mask: int) -> tuple[Words, Words]:
    """Return two hashes of the tokens of each copy, each of 64 bits, shape (copies,).

    A hash is a sum over positions of a random number of the position times one of the token (and one of the length),
    so that hiding a token changes it by what stands at one position.
    """
    text = np.repeat(np.arange(len(ids)), targets.lengths)
    place = np.arange(len(ids.ids)) - np.repeat(ids.starts[:-1], ids.lengths)
    at = ids.ids[np.repeat(ids.starts[:-1][text], hidden.lengths) + hidden.ids]
    return tuple(  # type: ignore[return-value]
        _sums(_mixed(place, seed) * _mixed(ids.ids, ~seed), ids.starts)[text]
        + _mixed(ids.lengths, seed ^ 1)[text]
        + _sums(_mixed(hidden.ids, seed) * (_mixed(np.asarray([mask]), ~seed) - _mixed(at, ~seed)), hidden.starts)
        for seed in _SEEDS
    )


def _sums(terms: Words, starts: Ints) -> Words:
    """Return sums modulo 2**64 of the terms of each list, none of them empty, shape (lists,)."""
    return np.add.reduceat(terms, starts[:-1]) if len(starts) > 1 else np.zeros(0, np.uint64)


def _mixed(numbers: npt.NDArray[np.integer], seed: int) -> Words:
    """Return numbers as random-looking odd words (the mixing of SplitMix64: Steele, Lea and Flood 2014)."""
    word = numbers.astype(np.uint64) + np.uint64(seed % 2**64)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (word ^ (word >> np.uint64(31))) | np.uint64(1)


def _distinct(one: Words, other: Words) -> tuple[Ints, Ints]:
    """Return the index of the first of each of the distinct copies, in their order, and which of them each copy is."""
    _, first, inverse = np.unique(one, return_index=True, return_inverse=True)
    if not np.array_equal(other[first][inverse], other):
        # Two copies with one hash and not the other: both are kept apart by all of their bits.
        both = np.stack([one, other], axis=1)
        _, first, inverse = np.unique(both, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return first[order].astype(np.int64), place[inverse.reshape(-1)]
