"""Hashes of token sequences, and of what is read of them, for all of them at once.

The hash of a sequence is a polynomial over its tokens, each of them mixed: that of a stem followed by a branch comes
from those of its parts, and hiding a token changes one term, so that no sequence has to be written out. Two of 64 bits
each, in different bases, make one of 128. (Modulo 2**64 texts of a thousand tokens of two kinds in the order of Thue
and Morse can have one hash; no text that means anything has that order.)
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from glosseme.scoring.reads import NO_TOKEN, Ints, Lowered, Ragged, Reads

__all__ = ["Keys", "Words", "keys_of", "mixed", "sequence_hashes"]

Words = npt.NDArray[np.uint64]
Keys = npt.NDArray[np.void]
"""Strings of 16 bytes."""

_SEEDS: Final = (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03)
_BASES: Final = (0xF1357AEA2E62A9C5, 0xA0761D6478BD642F)
"""Odd, so that no token is lost however long the sequence."""


def keys_of(lowered: Lowered) -> Keys:
    """Return what identifies the reads of each question, whatever the model, shape (questions,).

    It depends on the tokens of the sequences, on where they are read and for which tokens, and on the order of the
    reads, and on nothing else.
    """
    reads = lowered.reads
    sequences = sequence_hashes(reads.stems, reads.stem, reads.branches, reads.branch, reads.hidden, reads.mask)
    words = [_question_words(reads, lowered.n_tokens, *of) for of in zip(sequences, _SEEDS, _BASES, strict=True)]
    return np.stack(words, axis=1).astype("<u8").view("V16").reshape(-1)


def _question_words(reads: Reads, n_tokens: Ints, sequences: Words, seed: int, base: int) -> Words:
    words = mixed(sequences[reads.sequence] + _odd(reads.position, seed) + _odd(reads.token, ~seed) * np.uint64(base))
    pairs = np.flatnonzero(reads.other_sequence != NO_TOKEN)
    if pairs.size:
        there = sequences[reads.other_sequence[pairs]] + _odd(reads.other_position[pairs], seed ^ 2)
        words[pairs] = mixed(words[pairs] * np.uint64(base) + mixed(there))
    starts = np.concatenate([[0], np.cumsum(n_tokens)]).astype(np.int64)
    return mixed(_polynomials(words, starts, base) + _odd(n_tokens, seed ^ 3))


def sequence_hashes(
    stems: Ragged, stem: Ints, branches: Ragged, branch: Ints, hidden: Ragged | None, mask: int
) -> tuple[Words, ...]:
    """Return two hashes of each sequence, given as `Reads` has them, each of shape (sequences,)."""
    given = (stems, stem, branches, branch, hidden, mask)
    return tuple(_sequence_words(*given, *pair) for pair in zip(_SEEDS, _BASES, strict=True))


def _sequence_words(
    stems: Ragged, stem: Ints, branches: Ragged, branch: Ints, hidden: Ragged | None, mask: int, seed: int, base: int
) -> Words:
    powers = _powers(int(stems.lengths.max(initial=0)) + int(branches.lengths.max(initial=0)) + 1, base)
    of_stems, of_branches = (_polynomials(_odd(lists.ids, seed), lists.starts, base) for lists in (stems, branches))
    words = of_stems[stem] + powers[stems.lengths[stem]] * of_branches[branch]
    if hidden is not None and len(hidden.ids):
        # What is hidden is as if the mask token stood there.
        at = stems.ids[np.repeat(stems.starts[:-1][stem], hidden.lengths) + hidden.ids]
        change = _odd(np.asarray([mask]), seed) - _odd(at, seed)
        words = words + _sums(powers[hidden.ids] * change, hidden.starts)
    return mixed(words + _odd(stems.lengths[stem] + branches.lengths[branch], seed ^ 1))


def _polynomials(words: Words, starts: Ints, base: int) -> Words:
    """Return the polynomial of the words of each list, shape (lists,)."""
    lengths = np.diff(starts)
    place = np.arange(len(words)) - np.repeat(starts[:-1], lengths)
    return _sums(words * _powers(int(lengths.max(initial=0)), base)[place], starts)


def _powers(n: int, base: int) -> Words:
    return np.cumprod(np.concatenate([[np.uint64(1)], np.full(n, base, np.uint64)]), dtype=np.uint64)


def _sums(terms: Words, starts: Ints) -> Words:
    """Return sums modulo 2**64 of the terms of each list, 0 for an empty one, shape (lists,)."""
    total = np.concatenate([[np.uint64(0)], np.cumsum(terms, dtype=np.uint64)])
    sums: Words = total[starts[1:]] - total[starts[:-1]]
    return sums


def _odd(numbers: npt.NDArray[np.integer], seed: int) -> Words:
    """Return numbers as random-looking odd words."""
    return mixed(numbers.astype(np.uint64) + np.uint64(seed % 2**64)) | np.uint64(1)


def mixed(word: Words) -> Words:
    """Return words mixed beyond recognition, one to one (SplitMix64: Steele, Lea and Flood 2014)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    result: Words = word ^ (word >> np.uint64(31))
    return result
