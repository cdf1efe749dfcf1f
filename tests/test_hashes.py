"""Keys of questions: equal exactly where the reads are."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from glosseme.scoring.hashes import keys_of
from glosseme.scoring.reads import NO_TOKEN, Lowered, Reads, ragged, reads_of

IDS = st.lists(st.integers(0, 3), min_size=1, max_size=4)
READ = st.tuples(IDS, st.integers(0, 3), st.integers(0, 2), st.one_of(st.none(), st.tuples(IDS, st.integers(0, 2))))
QUESTIONS = st.lists(st.lists(READ, max_size=3), min_size=1, max_size=12)


def lowered_of(reads: Reads, n_tokens: list[int]) -> Lowered:
    sizes, no = np.asarray(n_tokens), np.zeros(len(n_tokens), bool)
    return Lowered(reads, np.arange(len(sizes)), sizes, sizes, no, no)


def lowered(questions) -> Lowered:
    """Questions of (sequence, position, token, (sequence, position) compared with)."""
    rows = [(q, *read) for q, question in enumerate(questions) for read in question]
    sequences = [ids for _, ids, _, _, _ in rows] + [other[0] for *_, other in rows if other is not None]
    n, others = len(rows), iter(range(len(rows), len(sequences)))
    there = [NO_TOKEN if other is None else next(others) for *_, other in rows]
    reads = reads_of(
        sequences,
        sequence=np.arange(n),
        position=[position for _, _, position, _, _ in rows],
        token=[token if other is None else NO_TOKEN for *_, token, other in rows],
        question=[q for q, *_ in rows],
        other=(there, [NO_TOKEN if other is None else other[1] for *_, other in rows]),
    )
    return lowered_of(reads, [len(question) for question in questions])


@given(QUESTIONS)
def test_keys_are_equal_exactly_where_the_reads_are(questions) -> None:
    keys = keys_of(lowered(questions)).tolist()
    spelt = [
        [(tuple(ids), p, None if other else token, other and (tuple(other[0]), other[1])) for ids, p, token, other in q]
        for q in questions
    ]
    for i, mine in enumerate(spelt):
        for j, yours in enumerate(spelt):
            assert (keys[i] == keys[j]) == (mine == yours)


@given(IDS, IDS, st.integers(0, 3))
def test_a_key_says_nothing_of_how_a_sequence_is_kept(stem, branch, token) -> None:
    """A stem and a branch are the sequence that they make; a hidden token is a mask token."""
    whole = keys_of(lowered([[(stem + branch, len(stem), token, None)]]))
    masked = [*stem, 7]
    written = keys_of(lowered([[(masked, len(stem), token, None)]]))
    none = np.asarray([NO_TOKEN])
    common = {"stem": np.asarray([0]), "branch": np.asarray([0]), "sequence": np.asarray([0])}
    common |= {"position": np.asarray([len(stem)]), "token": np.asarray([token]), "question": np.asarray([0])}
    common |= {"other_sequence": none, "other_position": none}
    n = len(stem)
    apart = Reads(ragged([stem]), ragged([branch]), lengths=np.asarray([n + len(branch)]), **common)
    hidden = Reads(
        ragged([[*stem, 2]]), ragged([[]]), lengths=np.asarray([n + 1]), hidden=ragged([[n]]), mask=7, **common
    )
    assert keys_of(lowered_of(apart, [1])).tolist() == whole.tolist()
    assert keys_of(lowered_of(hidden, [1])).tolist() == written.tolist()


def test_a_key_never_changes() -> None:
    """Or nothing would be found any more in stores that are there."""
    assert (
        keys_of(lowered([[([5, 6, 7], 2, 8, None), ([5, 6], 1, 9, None)]]))[0].tobytes().hex()
        == "01522cb110d59dcf7496f8ea91966f66"
    )
