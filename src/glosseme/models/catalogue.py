"""The catalogue: models that the literature scores, their sizes and training data, and families of them.

The figures, what they count and their sources are in `catalogue.toml`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

import polars as pl

from glosseme.errors import GlossemeError, nearest
from glosseme.measures import KINDS

__all__ = ["FAMILY_SIGN", "catalogue", "expand", "facts_of", "families", "family"]

FAMILY_SIGN: Final = "@"
"""What precedes the name of a family where models are named."""

_SCHEMA: Final[dict[str, type[pl.DataType]]] = {
    "name": pl.String,
    "family": pl.String,
    "kind": pl.String,
    "parameters": pl.Int64,
    "tokens": pl.Int64,
    "words": pl.Int64,
    "checkpoints": pl.String,
    "licence": pl.String,
    "source": pl.String,
}
_OF_FAMILY: Final = frozenset({"names", "models", *_SCHEMA} - {"name", "family"})
_OF_MODEL: Final = frozenset(_SCHEMA) - {"family"}


@cache
def _blocks() -> list[dict[str, Any]]:
    text = (files("glosseme") / "models" / "catalogue.toml").read_text(encoding="utf-8")
    blocks: list[dict[str, Any]] = tomllib.loads(text)["family"]
    for block in blocks:
        unknown = {*block} - _OF_FAMILY | {key for model in block["models"] for key in model} - _OF_MODEL
        if unknown or block["kind"] not in KINDS:
            raise ValueError(f"catalogue.toml: {block['names'][0]}: {sorted(unknown) or block['kind']} is not known")
    return blocks


@cache
def catalogue() -> pl.DataFrame:
    """Return the models, one row each, in the order of the file.

    Columns: name (on the hub), family, kind ("causal" or "masked"), parameters (all weights, tied ones once), tokens
    (seen in training, epochs included), words (of the corpus, for models of the BabyLM challenge), checkpoints (a
    pattern of revisions such as `step{N}`), licence, source. What no source tells is null.

    >>> catalogue().filter(name="EleutherAI/pythia-70m").select("parameters", "tokens").row(0)
    (70426624, 299892736000)
    """
    rows = [
        {**{key: block.get(key) for key in _SCHEMA}, "family": block["names"][0], **model}
        for block in _blocks()
        for model in block["models"]
    ]
    return pl.DataFrame(rows, schema=_SCHEMA, strict=True)


def facts_of(model_name: str) -> dict[str, Any] | None:
    """Return the catalogue's row of a model by its name as runs record it, None where it isn't known.

    Case doesn't matter, and the last part of a hub name is enough: organisations change, and `gpt2` is
    `openai-community/gpt2`.

    >>> facts_of("gpt2-XL")["parameters"], facts_of("lab/unknown")
    (1557611200, None)
    """
    known = _by_last_part().get(_last_part(model_name))
    return None if known is None else dict(known)


@cache
def _by_last_part() -> Mapping[str, dict[str, Any]]:
    return {_last_part(row["name"]): row for row in catalogue().iter_rows(named=True)}


def _last_part(name: str) -> str:
    # `--` stands for the slash in the names of run folders.
    return name.replace("--", "/").rstrip("/").rsplit("/", 1)[-1].lower()


@cache
def families() -> dict[str, tuple[str, ...]]:
    """Return the hub names of the models of each family and of each named part of one.

    >>> families()["modernbert"]
    ('answerdotai/ModernBERT-base', 'answerdotai/ModernBERT-large')
    """
    found: dict[str, list[str]] = {}
    for block in _blocks():
        for name in block["names"]:
            found.setdefault(name, []).extend(model["name"] for model in block["models"])
    return {name: tuple(models) for name, models in found.items()}


def family(name: str) -> list[str]:
    """Return the hub names of a family's models; `name` is with or without the sign `@`.

    Raises `GlossemeError` for a family that the catalogue doesn't have.

    >>> len(family("@pythia")), family("gpt2")[0]
    (10, 'openai-community/gpt2')
    """
    plain = name.removeprefix(FAMILY_SIGN).lower()
    if plain not in families():
        known = [f"{FAMILY_SIGN}{known}" for known in families()]
        raise GlossemeError(f"there is no family {name!r}", todo=nearest(f"{FAMILY_SIGN}{plain}", known))
    return list(families()[plain])


def expand(names: Iterable[str]) -> list[str]:
    """Return names of models with each `@FAMILY` replaced by its models, none of them twice.

    `@FAMILY@REVISION` is every model of the family at that revision. Raises `GlossemeError` for an unknown family.

    >>> expand(["gpt2", "@modernbert@v1"])
    ['gpt2', 'answerdotai/ModernBERT-base@v1', 'answerdotai/ModernBERT-large@v1']
    """
    expanded: list[str] = []
    for name in names:
        text = name.strip()
        if not text.startswith(FAMILY_SIGN):
            expanded.append(name)
            continue
        asked, at, revision = text.removeprefix(FAMILY_SIGN).partition("@")
        if at and not revision:
            raise GlossemeError("the revision after '@' is empty", where=text, todo=f"write '@{asked}'")
        expanded += [f"{model}{at}{revision}" for model in family(f"{FAMILY_SIGN}{asked}")]
    return list(dict.fromkeys(expanded))
