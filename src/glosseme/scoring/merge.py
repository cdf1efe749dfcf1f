"""Tables of reads that were lowered in different ways, as one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from glosseme.scoring.reads import NO_TOKEN, Ints, Lowered, Ragged, Reads, joined

__all__ = ["merged"]


def merged(parts: Sequence[Lowered], question_of_request: Ints) -> Lowered:
    """Return the parts one after another: the questions of each follow those of the one before.

    `question_of_request` numbers them so; the parts' own are not looked at.
    """
    if len(parts) == 1:
        (one,) = parts
        return Lowered(one.reads, question_of_request, one.n_tokens, one.n_plain, one.spanning, one.mismatch)
    reads = parts[0].reads
    for part, before in zip(parts[1:], np.cumsum([len(p) for p in parts]).tolist(), strict=False):
        reads = _together(reads, part.reads, before)
    return Lowered(
        reads,
        question_of_request,
        joined(part.n_tokens for part in parts),
        joined(part.n_plain for part in parts),
        np.concatenate([part.spanning for part in parts]),
        np.concatenate([part.mismatch for part in parts]),
    )


def _together(a: Reads, b: Reads, questions: int) -> Reads:
    n_stems, n_branches, n = len(a.stems), len(a.branches), len(a.lengths)
    other = np.where(b.other_sequence == NO_TOKEN, NO_TOKEN, b.other_sequence + n)
    hides = a.hidden is not None or b.hidden is not None
    return Reads(
        stems=_lists(a.stems, b.stems),
        branches=_lists(a.branches, b.branches),
        stem=joined([a.stem, b.stem + n_stems]),
        branch=joined([a.branch, b.branch + n_branches]),
        lengths=joined([a.lengths, b.lengths]),
        sequence=joined([a.sequence, b.sequence + n]),
        position=joined([a.position, b.position]),
        token=joined([a.token, b.token]),
        other_sequence=joined([a.other_sequence, other]),
        other_position=joined([a.other_position, b.other_position]),
        question=joined([a.question, b.question + questions]),
        hidden=_lists(_hidden(a), _hidden(b)) if hides else None,
        mask=max(a.mask, b.mask),
    )


def _lists(a: Ragged, b: Ragged) -> Ragged:
    return Ragged(np.concatenate([a.ids, b.ids]), joined([a.starts, b.starts[1:] + len(a.ids)]))


def _hidden(reads: Reads) -> Ragged:
    if reads.hidden is not None:
        return reads.hidden
    return Ragged(np.zeros(0, np.int32), np.zeros(len(reads.lengths) + 1, np.int64))
