"""Alternating runs, medians, and the table of them."""

from __future__ import annotations

import json
import statistics
import time
from pathlib import Path
from typing import Any, Protocol, TextIO

import numpy as np

__all__ = ["Workload", "measure", "table", "write"]


class Workload(Protocol):
    """The same questions, put in three ways."""

    peer_name: str
    tolerance: float
    """The largest difference between glosseme's values and the peer's, in nats."""

    def ours(self) -> tuple[np.ndarray, dict[str, Any]]:
        """Return glosseme's values in nats, and facts: tokens, seconds_other (everything but the model)."""

    def peer(self) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
        """Return the peer's values, the indices of ours that they belong to, and facts: tokens, share (of the work)."""

    def bound(self) -> int | None:
        """Forward the fewest tokens in the best batches, nothing else; return how many, None if it is undefined."""


def measure(letter: str, work: Workload, rounds: int, log: TextIO) -> dict[str, Any]:
    """Return the medians of `rounds` alternating runs of glosseme, the peer and the bound."""
    ours, peer, bound, other, worst = [], [], [], [], 0.0
    for number in range(rounds):
        seconds, (values, mine) = _timed(work.ours)
        ours.append(seconds)
        other += [mine["seconds_other"] / seconds] if "seconds_other" in mine else []
        seconds, (others, index, theirs) = _timed(work.peer)
        peer.append(seconds / theirs.get("share", 1.0))
        seconds, fewest = _timed(work.bound)
        if fewest is not None:
            bound.append(seconds)
        worst = max(float(np.abs(values[index] - others).max()), worst)  # in this order NaN is kept
        log.write(
            f"   round {number + 1}: glosseme {ours[-1]:.1f} s, {work.peer_name} {peer[-1]:.1f} s, "
            f"bound {f'{bound[-1]:.1f} s' if bound else '-'}, values within {worst:.1e}\n"
        )
        log.flush()
        if not worst <= work.tolerance:
            raise SystemExit(f"{letter}: the values differ by {worst:.1e} nats")
    return _result(letter, work.peer_name, (ours, peer, bound, other), worst, mine, theirs, fewest)


def _result(
    letter: str,
    peer_name: str,
    rounds: tuple[list[float], list[float], list[float], list[float]],
    worst: float,
    mine: dict[str, Any],
    theirs: dict[str, Any],
    fewest: int | None,
) -> dict[str, Any]:
    ours, peer, bound, other = rounds
    own = statistics.median(ours)
    least = statistics.median(bound) if bound else None
    return {
        "workload": letter,
        "glosseme_s": round(own, 2),
        "peer": peer_name,
        "peer_s": round(statistics.median(peer), 2),
        "bound_s": None if least is None else round(least, 2),
        "ratio": round(statistics.median(b / a for a, b in zip(ours, peer, strict=True)), 2),
        "over_bound": None
        if least is None
        else round(statistics.median(a / b for a, b in zip(ours, bound, strict=True)), 2),
        "other_share": round(statistics.median(other), 3) if other else None,
        "tokens_glosseme": mine["tokens"],
        "tokens_peer": theirs["tokens"],
        "tokens_bound": fewest,
        "peer_share_timed": theirs.get("share", 1.0),
        "largest_difference_nats": float(f"{worst:.1e}"),
        "runs": len(ours),
    }


def _timed(work: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def write(results: list[dict[str, Any]], path: Path) -> None:
    """Write results as JSON in the order of their letters, beside those of other workloads that are there already."""
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    merged = {result["workload"]: result for result in (*known, *results)}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([merged[k] for k in sorted(merged)], indent=2) + "\n", encoding="utf-8")


def table(results: list[dict[str, Any]]) -> str:
    """Return results as aligned text."""
    names = ("workload", "glosseme_s", "peer_s", "bound_s", "ratio", "over_bound", "other_share")
    names += ("tokens_glosseme", "tokens_peer", "tokens_bound", "peer")
    rows = [list(names)] + [["-" if r[n] is None else str(r[n]) for n in names] for r in results]
    widths = [max(len(row[i]) for row in rows) for i in range(len(names))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
