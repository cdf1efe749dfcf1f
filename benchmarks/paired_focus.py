"""Paired-focus semantics, glosseme beside minicons: same model, same items, same threads, alternating runs.

    python benchmarks/paired_focus.py --items 96 --rounds 3

minicons scores each construction with its controls on its own, as the paper's authors did (batches of 64). Times leave
out loading; glosseme's include tokenising, planning and writing. Prints medians and writes
benchmarks/results/latest.json.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from glosseme.models import open_model
from glosseme.progress import QuietProgress
from glosseme.scoring.check import choose
from glosseme.scoring.encode import frame_of
from glosseme.scoring.engine import TorchEngine
from glosseme.scoring.execute import Effort, Settings, execute
from glosseme.scoring.lower import lower
from glosseme.scoring.reads import sums
from glosseme.scoring.store import Store
from glosseme.suites import find_suites
from glosseme.suites.sample import sample

TOLERANCE = 1e-4


def ours(requests: pl.DataFrame, model, engine) -> tuple[np.ndarray, float, Effort]:
    start = time.perf_counter()
    lowered = lower(requests, frame_of(model.tokenizer, "causal"))
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "values.sqlite", "benchmark") as store:
        values, effort = execute(lowered, lambda: engine, store, Settings(), QuietProgress(), str)
    return sums(lowered, values)[lowered.question_of_request], time.perf_counter() - start, effort


def theirs(requests: pl.DataFrame, scorer) -> tuple[np.ndarray, float]:
    start = time.perf_counter()
    values = np.full(requests.height, np.nan)
    for construction in requests["construction"].unique(maintain_order=True):
        chosen = np.flatnonzero((requests["construction"] == construction).to_numpy())
        part = requests[chosen]
        # Equal requests once, as a careful user does; the controls again for each construction.
        unique = part.select("context", "text").unique(maintain_order=True).with_row_index("u")
        scores: list[float] = []
        for batch in unique.iter_slices(64):
            scores += scorer.conditional_score(
                batch["context"].to_list(), batch["text"].to_list(), reduction=lambda x: x.sum(0).item()
            )
        index = part.join(unique, on=["context", "text"], how="left", maintain_order="left")["u"].to_numpy()
        values[chosen] = np.asarray(scores)[index]
    return values, time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=96)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--model", default="offline:gemma-3-270m")
    arguments = parser.parse_args()
    from minicons.scorer import IncrementalLMScorer

    model = open_model(arguments.model)
    network = model.network()
    engine = TorchEngine(network, "causal")
    suite = find_suites("paired-focus/semantics")[0]
    requests = sample(suite.build("causal", "core", {}).requests, suite, arguments.items)
    scorer = IncrementalLMScorer(network, device="cpu", tokenizer=model.tokenizer)
    print("way:", choose(engine, engine.limits).way, "| items:", arguments.items)
    mine, peer = [], []
    for number in range(arguments.rounds):
        values, seconds, effort = ours(requests, model, engine)
        mine.append(seconds)
        other, seconds = theirs(requests, scorer)
        peer.append(seconds)
        worst = float(np.abs(values - other).max())
        print(f"round {number + 1}: glosseme {mine[-1]:.1f} s, minicons {peer[-1]:.1f} s, values within {worst:.1e}")
        if worst > TOLERANCE:
            raise SystemExit("the values differ")
    result = {
        "workload": "a",
        "items": arguments.items,
        "glosseme_s": round(statistics.median(mine), 2),
        "peer_s": round(statistics.median(peer), 2),
        "ratio": round(statistics.median(peer) / statistics.median(mine), 2),
        "tokens_plain": effort.tokens_plain,
        "tokens_glosseme": effort.tokens_forwarded,
        "runs": arguments.rounds,
    }
    print(json.dumps(result))
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    (folder / "latest.json").write_text(json.dumps([result], indent=2) + "\n")


if __name__ == "__main__":
    main()
