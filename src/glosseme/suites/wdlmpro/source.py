"""What identifies a wordnet that isn't the package's own."""

from __future__ import annotations

from hashlib import sha256

from glosseme.suites.wdlmpro.wordnet import load

__all__ = ["sha256_of_wordnet"]


def sha256_of_wordnet(source: str) -> str:
    """Return a hash of the tables of a wordnet; raise `GlossemeError` where there is none of this name."""
    wordnet = load(source)
    digest = sha256()
    for table in (wordnet.synsets, wordnet.hypernyms):
        digest.update(table.write_csv().encode())
    return digest.hexdigest()
