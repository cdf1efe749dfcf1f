"""Write the WordNet 3.0 that the package carries, from a WNDB folder.

    apt-get install wordnet-base
    python scripts/pack_wordnet.py /usr/share/wordnet

Writes synsets.parquet, hypernyms.parquet and LICENSE (the notice that heads each file of the database) into
src/glosseme/data/wordnet. The same folder gives the same bytes.
"""

from __future__ import annotations

import argparse
import re
import sys
from itertools import takewhile
from pathlib import Path

from glosseme.errors import GlossemeError
from glosseme.suites.wdlmpro.wndb import find_files, read_wndb
from glosseme.suites.wdlmpro.wordnet import write_packed

DATA = Path(__file__).parents[1] / "src" / "glosseme" / "data" / "wordnet"


def notice(source: Path) -> str:
    """Return the licence of a WNDB: the numbered lines at the head of its files, without their numbers."""
    with (find_files(source) / "data.noun").open(encoding="utf-8") as file:
        numbered = list(takewhile(lambda line: line.startswith(" "), file))
    lines = [re.sub(r"^ +\d+ ", "", line).rstrip() for line in numbered]
    if not any("Copyright" in line for line in lines):
        raise GlossemeError("data.noun has no licence at its head", where=str(source), todo="take a release as it is")
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Pack a WNDB folder; return the exit code."""
    parser = argparse.ArgumentParser(description="Write the WordNet that the package carries.")
    parser.add_argument("source", type=Path, help="a folder with data.noun and its like (/usr/share/wordnet)")
    parser.add_argument("--out", type=Path, default=DATA, help="where to write (the package's data folder)")
    chosen = parser.parse_args(arguments)
    try:
        licence, wordnet = notice(chosen.source), read_wndb(chosen.source)
    except GlossemeError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    chosen.out.mkdir(parents=True, exist_ok=True)
    (chosen.out / "LICENSE").write_text(licence, encoding="utf-8")
    write_packed(wordnet, chosen.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
