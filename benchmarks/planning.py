"""Read, lower and plan all noun groups of WDLMPro for a causal model, and say how long and how much memory that takes.

    python -m benchmarks.planning

The model is GPT-2 small in name only: its tokenizer is used and nothing is forwarded.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.material import FOLDER
from benchmarks.memory import peak_mb
from glosseme.models import open_model
from glosseme.progress import QuietProgress
from glosseme.runs.evaluate import identity_of
from glosseme.runs.likelihood import LikelihoodJob
from glosseme.runs.options import asked_of
from glosseme.scoring.hashes import keys_of
from glosseme.scoring.plan import Limits, plan
from glosseme.suites import find_suites


def main() -> None:
    # In a process of its own, whose peak doesn't count.
    make = "from benchmarks.material import gpt2_small; gpt2_small()"
    subprocess.run([sys.executable, "-c", make], check=True, capture_output=True)  # noqa: S603
    model = open_model(str(FOLDER / "gpt2-small"), device="cpu")
    print(f"before: peak {peak_mb()} MB")
    asked = asked_of(find_suites("wdlmpro")[0], options={"pos": "noun"})
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        job = LikelihoodJob(model, asked, Path(folder) / "x", identity_of(model, asked))
        job.prepare(QuietProgress())
    lowered, at = job.lowered, time.perf_counter()
    keys_of(lowered)
    keyed = time.perf_counter()
    batches = plan(lowered.reads, "trie", Limits(), len(model.tokenizer))
    end = time.perf_counter()
    tokens = sum(batch.n_tokens for batch in batches)
    print(f"{len(lowered):,} requests, {tokens:,} tokens to forward where plain scoring has {lowered.n_plain.sum():,}")
    parts = {**job.seconds, "keys": keyed - at, "plan": end - keyed}
    print(", ".join(f"{name} {seconds:.1f} s" for name, seconds in parts.items()), f"in all {end - start:.1f} s")
    print(f"after: peak {peak_mb()} MB")


if __name__ == "__main__":
    main()
