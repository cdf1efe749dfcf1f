"""What a suite is: which rows there are, which measure each is, which design joins them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import polars as pl

from glosseme.designs import Design
from glosseme.measures import Kind, Reduction

__all__ = ["Items", "Options", "Suite"]

Options = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Items:
    """The requests of a suite and what a reader should know of them."""

    requests: pl.DataFrame
    """One row a request: the columns of `measures.REQUEST_COLUMNS`, then the suite's factors."""
    notes: tuple[str, ...] = ()
    """Sentences for the user: flaws of a file, items left out."""


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
    in_group: bool = True
    """Whether naming the group (`paired-focus`) includes it."""

    def reduction(self, options: Options) -> Reduction:
        """Return how token values become one value."""
        chosen = options.get("reduction", self.default_reduction)
        return "mean" if chosen == "mean" else "sum" if chosen == "sum" else "probability"

    def defaults(self) -> dict[str, str]:
        """Return the default of each option."""
        return {name: choices[0] for name, choices in self.options.items()}
