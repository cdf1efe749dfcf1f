"""The ladder of ways, chosen by test: a way that doesn't answer as plain scoring does is dropped.

Two probes, both of random tokens: sequences of mixed lengths that share prefixes, and a star, one root whose branches
fill exactly one packed row, so that its last branch is as far from its prefix as a row allows (GPT-Neo's windows
count columns, and only such a row shows it).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from glosseme.scoring.batch import ReadsOf, build
from glosseme.scoring.plan import Limits, plan
from glosseme.scoring.reads import NO_TOKEN, Reads, joined, reads_of
from glosseme.scoring.ways import Engine, Way, WayUnusableError, layout_of

__all__ = ["REFUSALS", "Checks", "Verdict", "answers", "choose", "difference", "largest_gap", "probes", "subset"]

Floats = npt.NDArray[np.float32]

# What a model may raise when it is forwarded in a way it wasn't written for.
REFUSALS = (WayUnusableError, RuntimeError, ValueError, TypeError, IndexError, KeyError, AttributeError)


@dataclass(slots=True)
class Verdict:
    """Which way is used, and what was found on the ways before it."""

    way: Way
    found: dict[str, str] = field(default_factory=dict)
    """For each way tried: the largest difference to plain scoring in nats, or why it can't be used."""


class Checks:
    """The verdicts on an engine, which is probed once for all that it is asked."""

    def __init__(self) -> None:
        self._engine: Engine | None = None
        self._verdicts: dict[tuple[Limits, tuple[Way, ...]], Verdict] = {}
        self._wrong: set[Way] = set()

    def choose(self, engine: Engine, limits: Limits, ways: tuple[Way, ...] | None = None) -> Verdict:
        """Return what `choose` finds among the ways that haven't been found wrong in use."""
        if engine is not self._engine:
            self._engine, self._verdicts, self._wrong = engine, {}, set()
        ladder = tuple(way for way in ways or engine.ways if way not in self._wrong) or ("plain",)
        if (limits, ladder) not in self._verdicts:
            self._verdicts[limits, ladder] = choose(engine, limits, ladder)
        return self._verdicts[limits, ladder]

    def wrong(self, way: Way) -> None:
        """Take note that a way gave a wrong value."""
        self._wrong.add(way)


def choose(engine: Engine, limits: Limits, ways: tuple[Way, ...] | None = None) -> Verdict:
    """Return the first way of the ladder whose answers equal plain ones within the engine's tolerance."""
    ladder = ways or engine.ways
    verdict = Verdict("plain")
    if engine.exact:
        return Verdict(ladder[0])
    samples = probes(engine.vocabulary, limits.row_tokens)
    for way in ladder:
        if way == "plain":
            break
        try:
            worst = max(difference(engine, probe, way, limits) for probe in samples)
        except REFUSALS as error:
            verdict.found[way] = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:200]
            continue
        verdict.found[way] = f"{worst:.1e}"
        if worst <= engine.tolerance:
            verdict.way = way
            return verdict
    return verdict


def difference(engine: Engine, reads: Reads, way: Way, limits: Limits) -> float:
    """Return the largest difference, in nats, between a way and plain scoring on all reads.

    Sequences that are not read are forwarded in the way that is checked, and not plainly; NaN counts as infinite.
    """
    alone, _ = subset(reads, np.unique(reads.sequence).tolist())
    return largest_gap(answers(engine, reads, way, limits), answers(engine, alone, "plain", limits))


def largest_gap(a: Floats, b: Floats) -> float:
    """Return the largest absolute difference; where one value alone isn't finite it is infinite.

    >>> import numpy as np
    >>> largest_gap(np.float32([1, -np.inf]), np.float32([1.5, -np.inf]))
    0.5
    """
    with np.errstate(invalid="ignore"):
        gap = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    return float(np.where(np.isfinite(gap), gap, np.inf).max(initial=0.0))


def answers(engine: Engine, reads: Reads, way: Way, limits: Limits) -> Floats:
    """Return the value of each read in one way, shape (reads,)."""
    values = np.full(len(reads.sequence), np.nan, np.float32)
    of, layout = ReadsOf(reads), layout_of(way)
    for planned in plan(reads, layout, limits, engine.vocabulary):
        batch = build(reads, of, planned.rows, packed=layout == "trie", pad=engine.pad_id)
        values[batch.read] = engine.answer(batch, way)
    return values


def subset(reads: Reads, sequences: list[int]) -> tuple[Reads, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Return the reads of some sequences as reads of their own, and their indices among all reads.

    The sequences that they are compared with come along.
    """
    chosen = np.flatnonzero(np.isin(reads.sequence, sequences))
    other = reads.other_sequence[chosen]
    kept = np.union1d(sequences, other[other != NO_TOKEN])
    new = np.full(len(reads.lengths), NO_TOKEN, np.int64)
    new[kept] = np.arange(len(kept))
    return reads_of(
        [reads.sequence_ids(s) for s in kept.tolist()],
        sequence=new[reads.sequence[chosen]],
        position=reads.position[chosen],
        token=reads.token[chosen],
        question=np.arange(len(chosen)),
        other=(np.where(other == NO_TOKEN, NO_TOKEN, new[other]), reads.other_position[chosen]),
    ), chosen


def probes(vocabulary: int, row_tokens: int, seed: int = 0) -> list[Reads]:
    """Return two probes, read where an error of a way would show: behind others, in a prefix, and far from the root."""
    random = np.random.default_rng(seed)

    def some(n: int) -> list[int]:
        return random.integers(min(10, vocabulary - 1), vocabulary, n).tolist()  # type: ignore[no-any-return]

    mixed = []
    for _ in range(2):
        root = some(6)
        branch = root + some(5)
        mixed += [branch + some(1), branch + some(4), branch + some(8), root + some(3)]
    mixed += [mixed[1][:8], some(2), some(25)]
    root, star = some(6), []
    left = row_tokens - len(root)
    while left > 0:
        size = min(left, 15) if left >= 30 else left  # the last branch fills the row exactly
        star.append(root + some(size))
        left -= size
    star.sort()  # as a row packs them, so that the last one is the farthest from the root
    asked = [(mixed, [3, 5, 8, 10]), (star, [len(star) - 1])]
    return [_read_whole(sequences, read, random, vocabulary) for sequences, read in asked]


def _read_whole(sequences: list[list[int]], read: list[int], random: np.random.Generator, vocabulary: int) -> Reads:
    """Return reads of random tokens at each position of some of the sequences."""
    lengths = [len(sequences[s]) for s in read]
    n = sum(lengths)
    return reads_of(
        sequences,
        sequence=np.repeat(read, lengths),
        position=joined(np.arange(k) for k in lengths),
        token=random.integers(0, vocabulary, n),
        question=np.arange(n),
    )
