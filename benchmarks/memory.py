"""Peak memory of runs on 200 and on 20,000 items, each in a process of its own.

python -m benchmarks.memory
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["peak_mb"]

_SIZES = (200, 20_000)


def peak_mb() -> int:
    """Return the most memory that this process has held so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def run(model: str, suite: str, items: int) -> None:
    """Run one suite and print the peak."""
    from glosseme.runs.folder import read_run
    from glosseme.runs.many import RunArguments, run_many

    with tempfile.TemporaryDirectory() as folder:
        arguments = RunArguments([model], [suite], Path(folder), data="extended", limit=items, device="cpu")
        [found] = run_many(arguments, quiet=True)
        print(read_run(found).record["counts"]["items"], peak_mb())


def main() -> None:
    from benchmarks.material import checkpoints

    causal = f"{checkpoints()}@step1"
    for suite, model in (("paired-focus/semantics", causal), ("paired-focus/syntax", "fake:random-masked")):
        found = [_peak_of(model, suite, items) for items in _SIZES]
        figures = ", ".join(f"{items:,} items {peak} MB" for items, peak in found)
        print(f"{suite}, {Path(model).name}: {figures} ({found[1][1] / found[0][1] - 1:+.0%})")


def _peak_of(model: str, suite: str, items: int) -> tuple[int, int]:
    command = [sys.executable, "-m", "benchmarks.memory", model, suite, str(items)]
    done, peak = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()  # noqa: S603
    return int(done), int(peak)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        run(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    else:
        main()
