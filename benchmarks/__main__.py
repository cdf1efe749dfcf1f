"""Time glosseme, a peer and the bound in alternating runs on one machine, with the values compared.

    python -m benchmarks                      every workload, three rounds
    python -m benchmarks --only a,e --scale .25

Prints a table and writes benchmarks/results/latest.json; workloads that were not run keep their last figures.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch

from benchmarks.harness import measure, table, write
from benchmarks.workloads import WORKLOADS

RESULTS = Path(__file__).parent / "results" / "latest.json"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="".join(WORKLOADS), help="letters of workloads (a,e or ae)")
    parser.add_argument("--rounds", type=int, default=3, help="alternating runs")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the items")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    letters = [letter for letter in arguments.only if letter != ","]
    unknown = [letter for letter in letters if letter not in WORKLOADS]
    if unknown or not letters:
        raise SystemExit(f"there is no workload {''.join(unknown)!r}; there are {', '.join(WORKLOADS)}")
    if arguments.rounds < 1 or not 0.05 <= arguments.scale <= 1:
        raise SystemExit("--rounds is 1 or more, and --scale from .05 to 1")
    write([], arguments.out)  # whatever keeps it from being written shows before hours of work
    torch.set_num_threads(arguments.threads)
    results = []
    for letter in letters:
        sys.stderr.write(f"{letter}: {WORKLOADS[letter].__doc__.splitlines()[0]}\n")
        found = measure(letter, WORKLOADS[letter](arguments.scale), arguments.rounds, sys.stderr)
        results.append({**found, "scale": arguments.scale, "threads": arguments.threads})
        write(results, arguments.out)
    print(table(results))


if __name__ == "__main__":
    main()
