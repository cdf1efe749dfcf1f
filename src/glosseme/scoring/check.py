"""The ladder of ways, chosen by test: a way that doesn't answer as plain scoring does is dropped.

Two probes, both of random tokens: sequences of mixed lengths that share prefixes, and two stars, each a root whose
branches fill exactly one packed row, so that its last branch is as far from its prefix as a row allows (GPT-Neo's
windows count columns, and only such a row shows it).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from glosseme.scoring.batch import ReadsOf, build
from glosseme.scoring.plan import Limits, plan
from glosseme.scoring.reads import NO_TOKEN, Ints, Reads, joined, reads_of
from glosseme.scoring.ways import Engine, Way, WayUnusableError, layout_of, limits_of

__all__ = ["REFUSALS", "Checks", "Gap", "Verdict", "answers", "choose", "difference", "gap_of", "probes", "subset"]

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
    samples = probes(engine.vocabulary, limits.row_tokens, divergence="trie" not in engine.ways)
    for way in ladder:
        if way == "plain":
            break
        try:
            gaps = [difference(engine, probe, way, limits) for probe in samples]
        except REFUSALS as error:
            verdict.found[way] = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:200]
            continue
        verdict.found[way] = f"{max(gap.largest for gap in gaps):.1e}"
        if all(gap.is_rounding(engine.tolerance) for gap in gaps):
            verdict.way = way
            return verdict
    return verdict


def difference(engine: Engine, reads: Reads, way: Way, limits: Limits) -> Gap:
    """Return how far a way is from plain scoring on all reads.

    Sequences that are not read are forwarded in the way that is checked, and not plainly.
    """
    alone, _ = subset(reads, np.unique(reads.sequence).tolist())
    return gap_of(answers(engine, reads, way, limits), answers(engine, alone, "plain", limits))


@dataclass(frozen=True, slots=True)
class Gap:
    """How far two sets of values are apart, in nats."""

    largest: float
    mean: float

    def is_rounding(self, tolerance: float) -> bool:
        """Whether this is no more than rounding, of which the largest difference is ten times the mean or more.

        >>> [Gap(largest=0.2, mean=mean).is_rounding(0.3) for mean in (0.02, 0.1)]
        [True, False]
        """
        small = bool(np.isfinite(self.largest)) and self.largest <= tolerance
        return small and self.mean <= max(tolerance / 8, 2e-4)  # in float32 the largest alone tells the two apart


def gap_of(a: Floats, b: Floats) -> Gap:
    """Return the difference of two sets of values; where one value alone isn't finite it is infinite.

    >>> import numpy as np
    >>> gap_of(np.float32([1, -np.inf]), np.float32([1.5, -np.inf]))
    Gap(largest=0.5, mean=0.25)
    """
    with np.errstate(invalid="ignore"):
        gap = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    gap = np.where(np.isfinite(gap), gap, np.inf)
    return Gap(float(gap.max(initial=0.0)), float(gap.mean()) if gap.size else 0.0)


def answers(engine: Engine, reads: Reads, way: Way, limits: Limits) -> Floats:
    """Return the value of each read in one way, shape (reads,)."""
    values = np.full(len(reads.sequence), np.nan, np.float32)
    of, layout = ReadsOf(reads), layout_of(way)
    for planned in plan(reads, layout, limits_of(way, limits), engine.vocabulary):
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


def probes(vocabulary: int, row_tokens: int, seed: int = 0, *, divergence: bool = False) -> list[Reads]:
    """Return two probes, read where an error of a way would show: behind others, in a prefix, and far from the root.

    With `divergence` the first also compares two distributions.
    """
    random = np.random.default_rng(seed)

    def some(n: int) -> list[int]:
        return random.integers(min(10, vocabulary - 1), vocabulary, n).tolist()  # type: ignore[no-any-return]

    mixed = []
    for _ in range(2):
        root = some(6)
        branch = root + some(5)
        mixed += [branch + some(1), branch + some(4), branch + some(8), root + some(3)]
    mixed += [mixed[1][:8], some(2), some(25)]
    stars = [_star(some, row_tokens) for _ in range(2)]
    lasts = [len(stars[0]) - 1, len(stars[0]) + len(stars[1]) - 1]
    tokens = random.integers(0, vocabulary, sum(map(len, mixed)) + sum(map(len, stars[0] + stars[1])))
    return [
        _read_whole(mixed, [3, 5, 8, 10], tokens, compared=(3, 7) if divergence else None),
        _read_whole(stars[0] + stars[1], lasts, tokens),
    ]


def _star(some: Callable[[int], list[int]], row_tokens: int) -> list[list[int]]:
    """Return branches of one root that fill a packed row."""
    root, star = some(6), []
    left = row_tokens - len(root)
    while left > 0:
        size = min(left, 15) if left >= 30 else left  # the last branch fills the row exactly
        star.append(root + some(size))
        left -= size
    return sorted(star)  # as a row packs them, so that the last one is the farthest from the root


def _read_whole(
    sequences: list[list[int]], read: list[int], tokens: Ints, compared: tuple[int, int] | None = None
) -> Reads:
    """Return reads of tokens at each position of some of the sequences, and of two distributions that are compared."""
    lengths = [len(sequences[s]) for s in read]
    pair = [] if compared is None else [compared]
    n = sum(lengths)
    none = np.full(n, NO_TOKEN)
    return reads_of(
        sequences,
        sequence=joined([np.repeat(read, lengths), [one for one, _ in pair]]),
        position=joined([*(np.arange(k) for k in lengths), [1] * len(pair)]),
        token=joined([tokens[:n], [NO_TOKEN] * len(pair)]),
        question=np.arange(n + len(pair)),
        other=(joined([none, [other for _, other in pair]]), joined([none, [1] * len(pair)])),
    )
