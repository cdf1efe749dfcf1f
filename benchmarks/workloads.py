"""The workloads: which model, which items, which peer."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from benchmarks.bound import Bound
from benchmarks.material import bert_base, blimp_pairs, checkpoints, gpt2_small, offline, sisters
from benchmarks.peers import lm_eval_sums, minicons_conditional, minicons_pll, plain_causal, plain_masked
from glosseme.measures import SLOT
from glosseme.models import OpenModel, open_model
from glosseme.progress import QuietProgress
from glosseme.runs.evaluate import evaluate, identity_of
from glosseme.runs.folder import read_run
from glosseme.runs.likelihood import LikelihoodJob
from glosseme.runs.many import RunArguments
from glosseme.runs.options import Asked, asked_of
from glosseme.runs.trajectory import run_trajectory
from glosseme.suites import find_suites

__all__ = ["WORKLOADS"]


_LARGE_VOCABULARY: Final = 1e-3
"""Nats: log_softmax over 262,144 tokens in float32, which the peers use, is off by 6e-5 a token."""


class _OfSuite:
    """A suite on one model: glosseme runs it whole, from reading the items to writing the files."""

    peer_name = "minicons"
    tolerance = 1e-4

    def __init__(self, model: OpenModel, asked: Asked) -> None:
        self.model, self.asked = model, asked
        self.scores: pl.DataFrame | None = None
        self._bound: Bound | None = None

    def ours(self) -> tuple[np.ndarray, dict[str, Any]]:
        with tempfile.TemporaryDirectory() as folder:
            [run] = evaluate(self.model, [self.asked], Path(folder), QuietProgress())
            self.scores = run.scores()
            seconds, execution = run.record["seconds"], run.record["execution"]
            facts = {
                "tokens": execution["tokens_forwarded"],
                "seconds_other": sum(seconds.values()) - execution["seconds_model"] - execution["seconds_check"],
            }
        return self.scores["logprob"].to_numpy(), facts

    def bound(self) -> int | None:
        return self._bound() if self._bound is not None else None

    def prepare_bound(self) -> None:
        """Lay the batches of the bound out."""
        model, asked = self.model, self.asked
        with tempfile.TemporaryDirectory() as folder:
            job = LikelihoodJob(model, asked, Path(folder) / "x", identity_of(model, asked))
            job.prepare(QuietProgress())
        self._bound = Bound(job.lowered, model.network(), model.kind)
        self._bound.prepare()


class PairedFocus(_OfSuite):
    """Paired-focus semantics, core: the offline model, beside minicons, each construction with its controls."""

    share = 0.25

    def __init__(self, scale: float) -> None:
        super().__init__(offline(), asked_of(find_suites("paired-focus/semantics")[0], limit=round(480 * scale)))
        self.prepare_bound()

    def peer(self) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
        assert self.scores is not None
        numbered = self.scores.with_row_index("row")
        parts = numbered.partition_by("construction", maintain_order=True)
        order = [part["row"].to_numpy()[:: round(1 / self.share)] for part in parts]
        share = sum(map(len, order)) / self.scores.height
        values, tokens = [], 0
        for rows in order:
            part = self.scores[rows]
            found, n = minicons_conditional(
                self.model.network(), self.model.tokenizer, part["context"].to_list(), part["text"].to_list()
            )
            values.append(found)
            tokens += n
        return (
            np.concatenate(values),
            np.concatenate(order),
            {"tokens": round(tokens / share), "share": share},
        )


class _Wdlmpro(_OfSuite):
    """Groups of WDLMPro beside a plain loop."""

    peer_name = "plain loop"
    share = 0.05

    def __init__(self, model: OpenModel, groups: int, targets: Path | None = None) -> None:
        options, limit = {"pos": "noun"}, groups if targets is None else None
        files = {} if targets is None else {"targets": targets}
        super().__init__(model, asked_of(find_suites("wdlmpro")[0], options=options, limit=limit, files=files))
        self.prepare_bound()

    def peer(self) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
        assert self.scores is not None
        # Each row is a forward pass of its own, so that a share of the rows takes that share of the time. A row without
        # a context is an average over templates, which costs none.
        asked = np.flatnonzero(self.scores["context"].is_not_null().to_numpy())
        n = max(1, round(len(asked) * self.share))
        rows = np.sort(np.random.default_rng(0).choice(asked, n, replace=False))
        chosen = self.scores[rows]
        if self.model.kind == "causal":
            values, tokens = plain_causal(self.model, chosen)
        else:
            values, tokens = plain_masked(self.model, chosen, SLOT)
        share = n / len(asked)
        return values, rows, {"tokens": round(tokens / share), "share": share}


class WdlmproOffline(_Wdlmpro):
    """WDLMPro, 150 noun groups, both tasks: the offline model, beside a plain loop."""

    tolerance = _LARGE_VOCABULARY

    def __init__(self, scale: float) -> None:
        super().__init__(offline(), round(150 * scale))


class WdlmproGpt2(_Wdlmpro):
    """WDLMPro, 150 noun groups, both tasks: GPT-2 small (random), beside a plain loop."""

    def __init__(self, scale: float) -> None:
        super().__init__(gpt2_small(), round(150 * scale))


class WdlmproSisters(_Wdlmpro):
    """WDLMPro, 150 noun groups that are whole sets of sisters, as in a run over all: the offline model, plain loop."""

    tolerance = _LARGE_VOCABULARY

    def __init__(self, scale: float) -> None:
        super().__init__(offline(), 0, sisters(round(150 * scale)))


class WdlmproMasked(_Wdlmpro):
    """WDLMPro, 60 noun groups: BERT base (random), beside a plain loop."""

    def __init__(self, scale: float) -> None:
        super().__init__(bert_base(), round(60 * scale))


class _Blimp(_OfSuite):
    """Pairs of the four files of BLiMP."""

    def __init__(self, model: Callable[[], OpenModel], pairs: int) -> None:
        self._folder = tempfile.TemporaryDirectory()
        path = Path(self._folder.name) / "blimp.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in blimp_pairs(pairs)), encoding="utf-8")
        super().__init__(model(), asked_of(find_suites("blimp")[0], str(path)))
        self.prepare_bound()


class Pll(_Blimp):
    """Pseudo-log-likelihood of 200 sentences of BLiMP: BERT base (random), beside minicons."""

    def __init__(self, scale: float) -> None:
        super().__init__(bert_base, round(100 * scale))

    def peer(self) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
        assert self.scores is not None
        values, tokens = minicons_pll(self.model.network(), self.model.tokenizer, self.scores["text"].to_list())
        return values, np.arange(len(values)), {"tokens": tokens}


class Blimp(_Blimp):
    """BLiMP, 400 pairs: the offline model, beside lm-eval's hf model."""

    peer_name = "lm-eval"
    tolerance = _LARGE_VOCABULARY

    def __init__(self, scale: float) -> None:
        super().__init__(offline, round(400 * scale))

    def peer(self) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
        assert self.scores is not None
        values, tokens = lm_eval_sums(self.model, self.scores["text"].to_list())
        return values, np.arange(len(values)), {"tokens": tokens}


class Trajectory:
    """8 checkpoints of a small model (Pythia 14m, random) on paired-focus semantics, beside 8 runs of minicons."""

    peer_name = "minicons"
    tolerance = 1e-4
    share = 0.5

    def __init__(self, scale: float) -> None:
        self._limit = round(480 * scale)
        self.scores: list[pl.DataFrame] = []

    def ours(self) -> tuple[np.ndarray, dict[str, Any]]:
        with tempfile.TemporaryDirectory() as folder:
            arguments = RunArguments(
                [str(checkpoints())], ["paired-focus/semantics"], Path(folder), limit=self._limit, device="cpu"
            )
            [path] = run_trajectory(arguments, "all", quiet=True)
            runs = [read_run(path.parent / name / "paired-focus/semantics") for name in _names()]
            self.scores = [run.scores() for run in runs if run is not None]
            tokens = sum(run.record["execution"]["tokens_forwarded"] for run in runs if run is not None)
        return np.concatenate([scores["logprob"].to_numpy() for scores in self.scores]), {"tokens": tokens}

    def peer(self) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
        values, index, tokens = [], [], 0
        for number in range(0, len(self.scores), round(1 / self.share)):
            scores, before = self.scores[number], sum(earlier.height for earlier in self.scores[:number])
            model = open_model(f"{checkpoints()}@{_names()[number]}", device="cpu")
            for part in scores.with_row_index("row").partition_by("construction", maintain_order=True):
                contexts, texts = part["context"].to_list(), part["text"].to_list()
                found, n = minicons_conditional(model.network(), model.tokenizer, contexts, texts)
                values.append(found)
                index.append(part["row"].to_numpy().astype(np.int64) + before)
                tokens += n
            model.close()
        facts = {"tokens": round(tokens / self.share), "share": self.share}
        return np.concatenate(values), np.concatenate(index), facts

    def bound(self) -> int | None:
        return None


def _names() -> list[str]:
    return [f"step{2**k}" for k in range(8)]


WORKLOADS: Final[dict[str, Callable[[float], Any]]] = {
    "a": PairedFocus,
    "b": WdlmproOffline,
    "g": WdlmproGpt2,
    "h": WdlmproSisters,
    "c": WdlmproMasked,
    "d": Pll,
    "e": Blimp,
    "f": Trajectory,
}
"""By letter; g is b on another model, h is b on groups that share their members."""
