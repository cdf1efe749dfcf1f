"""Run folders made by hand, so that a page has just what a test is about."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from glosseme.designs import judge

HOSTILE = "</script><script>document.title='owned'</script>\"'&<b>\u202eevil"
"""A model's name that would be markup, and would turn the line around."""


def make_run(
    root: Path,
    model: str = "toy-lm",
    suite: str = "pairs",
    *,
    revision: str = "main",
    deltas: Sequence[float | None] = (1.0, -0.5, -2.0, 3.0),
    texts: tuple[str | None, str | None] = ("good text", "bad text"),
    context: str | None = "A context.",
    **record: Any,
) -> Path:
    """Write a finished run of a suite of pairs whose items have these deltas, and return its folder."""
    rows = [
        {
            "suite": suite,
            "item": f"item-{n}",
            "role": role,
            "measure": "conditional",
            "context": context,
            "text": None if text is None else f"{text} {n}",
            "logprob": value,
            "value": value,
            "n_tokens": 3,
            "spanning": False,
            "mismatch": False,
            "field": "syntax" if n % 2 else "semantics",
            "template": f"t{n}",
        }
        for n, delta in enumerate(deltas)
        for role, text, value in (("good", texts[0], None if delta is None else delta), ("bad", texts[1], 0.0))
    ]
    schema = {"context": pl.String, "text": pl.String, "logprob": pl.Float64, "value": pl.Float64}
    scores = pl.DataFrame(rows, schema_overrides=schema)
    folder = root / hashlib.sha256(model.encode()).hexdigest()[:8] / revision / suite
    folder.mkdir(parents=True)
    scores.write_parquet(folder / "scores.parquet")
    judge(scores, "pair").write_parquet(folder / "outcomes.parquet")
    said = _record(model, suite, revision, len(deltas), sum(d is None for d in deltas))
    for key, value in record.items():
        said[key] = {**said[key], **value} if isinstance(said.get(key), dict) else value
    (folder / "run.json").write_text(json.dumps(said), encoding="utf-8")
    return folder


def _record(model: str, suite: str, revision: str, n: int, dropped: int) -> dict[str, Any]:
    return {
        "format": 1,
        "glosseme": "0.1.0",
        "status": "finished",
        "identity": {
            "model": model,
            "revision": revision,
            "commit": "0123456789abcdef0123",
            "weights_sha256": "f" * 64,
            "dtype": "float32",
            "suite": suite,
            "suite_version": "1",
            "data": "core",
            "data_sha256": None,
            "options": {},
            "bos": "auto",
            "limit": None,
            "seed": None,
        },
        "model": {
            "name": model,
            "kind": "causal",
            "device": "cpu",
            "attention": "sdpa",
            "versions": {"python": "3.11.7", "torch": "2.9.0", "glosseme": "0.1.0"},
        },
        "suite": {
            "name": suite,
            "title": "Which is better?",
            "version": "1",
            "source": "Nobody (2026)",
            "design": "pair",
            "reduction": "sum",
            "options": {},
            "factors": ["field", "template"],
            "cluster": "template",
            "by": ["field"],
            "also": [[]],
            "where": {},
            "apart": [],
        },
        "notes": ["a note of the run"],
        "started": "2026-01-02T03:04:05+00:00",
        "ended": "2026-01-02T03:05:06+00:00",
        "seconds": {"items": 1.5, "score": 60.25},
        "counts": {"items": n, "items_dropped": dropped, "ties": 0, "requests": 2 * n},
        "execution": {"way": "packed", "tokens_plain": 4000, "tokens_forwarded": 1000},
    }
