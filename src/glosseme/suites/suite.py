"""What a suite is: which rows there are, which measure each is, which design joins them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from glosseme.designs import Design
from glosseme.measures import Kind, Reduction

__all__ = ["Drawing", "Items", "Options", "Suite"]

Options = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Items:
    """The requests of a suite and what a reader should know of them."""

    requests: pl.DataFrame
    """One row a request: the columns of `measures.REQUEST_COLUMNS`, then the suite's factors."""
    notes: tuple[str, ...] = ()
    """Sentences for the user: flaws of a file, items left out."""
    expand: Callable[[pl.DataFrame], pl.DataFrame] | None = None
    """Makes the rows of items from the scores of requests, where items share requests; the scores have, besides the
    columns of scores.parquet, `first_logprob` (nats) and `first_token` (an id) of the text's first token, unless they
    are similarities."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """What a suite needs to know that draws its own sample."""

    limit: int | None = None
    """So many items, or all."""
    seed: int = 0
    files: Mapping[str, Path] = field(default_factory=dict)
    """Files of the user's, by the names in `Suite.files`."""
    cut: Callable[[Sequence[str], int], list[str]] = lambda texts, n_tokens: list(texts)
    """Returns texts cut after so many tokens of the model's tokenizer."""


@dataclass(frozen=True, slots=True)
class Suite:
    """A table of requests with the design that judges it."""

    name: str
    """As users type it: `paired-focus/semantics`."""
    title: str
    """One line that says what it asks."""
    version: str
    """Changes when a value of the suite could change."""
    design: Design
    factors: tuple[str, ...]
    """Columns that describe an item, constant over its requests."""
    cluster: str
    """The factor whose items are not independent of each other (the template)."""
    unit: str
    """The factor whose items `--limit` takes together, because they share work."""
    balance: tuple[str, ...]
    """The factors of a unit over which `--limit` is balanced."""
    by: tuple[str, ...]
    """The factors of the default table."""
    kinds: tuple[Kind, ...]
    """The kinds of model for which it is defined."""
    build: Callable[[Kind, str, Options], Items]
    """From a kind of model, the name of a set (or a path) and options to items."""
    sets: tuple[str, ...]
    """Names of the sets that ship with the suite; the first is the default."""
    source: str
    """The publication."""
    reads_files: bool = False
    """Whether `--data` may name a file."""
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Choices of each option; the first is the default."""
    also: tuple[tuple[str, ...], ...] = ()
    """Coarser groupings shown below the default table (averages over the factors they leave out)."""
    default_reduction: Reduction = "sum"
    """How token values become one value, where no option `reduction` says otherwise."""
    join: str = " "
    """What stands between a context and a text."""
    draw: Callable[[Kind, str, Options, Drawing], Items] | None = None
    """Takes the place of `build` in a suite whose requests are shared by items, so that it draws its own sample."""
    show: Callable[[Kind, str, Options, int, int], list[str]] | None = None
    """Returns a heading and n items as text, from a kind, data, options, n and a seed, where requests don't tell."""
    files: tuple[str, ...] = ()
    """Names of further files that a user may give (`--targets FILE`)."""
    data_sha256: Callable[[str], str] | None = None
    """Returns a hash of data that is neither a set nor a single file; raises `GlossemeError` if there is none."""
    within: tuple[str, ...] = ()
    """Factors that tell apart items of the same name."""
    where: Mapping[str, str] = field(default_factory=dict)
    """Values of factors to which tables keep that don't group by them."""
    apart: tuple[str, ...] = ()
    """Factors that every grouping keeps, because values of their levels are in different units."""
    in_group: bool = True
    """Whether naming the group (`paired-focus`) includes it."""
    named: Callable[[], str] | None = None
    """Returns what a run records of the default set where the package doesn't have it: a data set of the hub with its
    commit; raises `GlossemeError` where it can't be had."""
    macro: str = ""
    """The factor whose levels have equal weights in averages over them (default: items have)."""
    private: bool = False
    """Whether its texts may not leave the user's copy: runs keep neither contexts nor texts, and messages no words."""

    def reduction(self, options: Options) -> Reduction:
        """Return how token values become one value."""
        chosen = options.get("reduction", self.default_reduction)
        return "mean" if chosen == "mean" else "sum" if chosen == "sum" else "probability"

    def defaults(self) -> dict[str, str]:
        """Return the default of each option."""
        return {name: choices[0] for name, choices in self.options.items()}
