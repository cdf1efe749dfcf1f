"""The suites: cells, roles, balance and order of the requests."""

from __future__ import annotations

from time import perf_counter

import polars as pl
import pytest

from glosseme.designs import ROLES
from glosseme.errors import GlossemeError
from glosseme.measures import REQUEST_COLUMNS, SLOT, Kind, check_requests
from glosseme.suites.paired_focus import SUITES
from glosseme.suites.paired_focus.affinity import AFFINITY
from glosseme.suites.paired_focus.frames import CONSTRUCTIONS, frames
from glosseme.suites.paired_focus.semantics import SEMANTICS, SEMANTICS_PLL
from glosseme.suites.paired_focus.syntax import SYNTAX, TESTS
from glosseme.suites.suite import Suite

BUILT = [(suite, kind) for suite in SUITES for kind in suite.kinds]
IDS = [f"{suite.name}-{kind}" for suite, kind in BUILT]
N_FRAMES = frames("core").height
FIRST = "lift-rock-small-large-you-couldnt"


@pytest.fixture(scope="module")
def built() -> dict[tuple[str, Kind], pl.DataFrame]:
    return {(suite.name, kind): suite.build(kind, "core", {}).requests for suite, kind in BUILT}


def item(requests: pl.DataFrame, name: str) -> dict[str, dict[str, str]]:
    """Return the rows of an item by role."""
    return {row["role"]: row for row in requests.filter(pl.col("item") == name).to_dicts()}


@pytest.mark.parametrize(("suite", "kind"), BUILT, ids=IDS)
def test_requests_are_well_formed(suite: Suite, kind: Kind, built: dict[tuple[str, Kind], pl.DataFrame]) -> None:
    requests = built[suite.name, kind]
    assert requests.columns == [*REQUEST_COLUMNS, *suite.factors]
    check_requests(requests, kind, suite.name)


@pytest.mark.parametrize(("suite", "kind"), BUILT, ids=IDS)
def test_each_item_has_each_role_once_and_constant_factors(
    suite: Suite, kind: Kind, built: dict[tuple[str, Kind], pl.DataFrame]
) -> None:
    requests = built[suite.name, kind]
    roles = ROLES[suite.design]
    assert not requests.select(pl.struct("item", "role").is_duplicated().any()).item()
    items = requests.group_by("item").agg(pl.len().alias("__n"), *(pl.col(f).n_unique() for f in suite.factors))
    assert (items["__n"] == len(roles)).all()
    assert set(requests["role"]) == set(roles)
    assert items.select(pl.all_horizontal(pl.col(f) == 1 for f in suite.factors).all()).item()


@pytest.mark.parametrize("suite", SUITES, ids=lambda s: s.name)
def test_the_declared_groupings_are_factors(suite: Suite) -> None:
    named = {
        suite.cluster,
        suite.unit,
        *suite.balance,
        *suite.by,
        *suite.apart,
        *(f for also in suite.also for f in also),
    }
    assert named <= set(suite.factors)
    assert suite.sets == ("core", "extended")
    assert suite.reads_files


def test_only_the_replication_is_left_out_of_the_group() -> None:
    assert [s.name for s in SUITES if not s.in_group] == ["paired-focus/semantics-pll"]


def test_each_construction_has_twice_as_many_plausible_items_as_frames(
    built: dict[tuple[str, Kind], pl.DataFrame],
) -> None:
    """1,773 frames give 3.5k pairs in the paper, and as many implausible ones."""
    requests = built["paired-focus/semantics", "causal"].unique("item")
    counts = requests.group_by("construction", "plausibility").len()
    assert counts.height == 8
    assert (counts["len"] == 2 * N_FRAMES).all()


SPECIFIED = {
    "plausible-1": ("xy", "xy", "easier"),
    "plausible-2": ("xy", "yx", "harder"),
    "implausible-1": ("yx", "xy", "harder"),
    "implausible-2": ("yx", "yx", "easier"),
}


def test_cells_are_those_of_the_specification(built: dict[tuple[str, Kind], pl.DataFrame]) -> None:
    requests = built["paired-focus/semantics", "causal"]
    found = requests.select("cell", "order", "mention", "entailed").unique().rows()
    assert {cell: tuple(rest) for cell, *rest in found} == SPECIFIED
    assert set(requests.select("cell", "plausibility").unique().rows()) == {(cell, cell[:-2]) for cell in SPECIFIED}


def test_each_word_and_mention_order_is_right_half_of_the_time(
    built: dict[tuple[str, Kind], pl.DataFrame],
) -> None:
    items = built["paired-focus/semantics", "causal"].unique("item")
    shares = items.group_by("scale", "construction", "plausibility").agg(
        (pl.col("entailed") == "easier").mean(), (pl.col("mention") == "xy").mean()
    )
    assert shares.height == 4 * 4 * 2
    assert (shares["entailed"] == 0.5).all()
    assert (shares["mention"] == 0.5).all()


def test_a_causal_item_word_by_word(built: dict[tuple[str, Kind], pl.DataFrame]) -> None:
    rows = item(built["paired-focus/semantics", "causal"], f"{FIRST}/never mind/implausible-1")
    easier = "Lifting a small rock is easier than lifting a large rock."
    harder = "Lifting a small rock is harder than lifting a large rock."
    treated = "You couldn't lift a large rock, never mind a small one."
    control = "You couldn't lift a large rock, or a small one."
    assert {role: (row["context"], row["text"]) for role, row in rows.items()} == {
        "treated-expected": (treated, harder),
        "treated-unexpected": (treated, easier),
        "control-expected": (control, harder),
        "control-unexpected": (control, easier),
    }
    assert {row["measure"] for row in rows.values()} == {"conditional"}


def test_a_masked_item_asks_for_the_word_in_its_slot(built: dict[tuple[str, Kind], pl.DataFrame]) -> None:
    rows = item(built["paired-focus/semantics", "masked"], f"{FIRST}/let alone/plausible-1")
    row = rows["treated-expected"]
    assert row["measure"] == "slot"
    assert row["text"] == "easier"
    assert row["context"] == (
        "You couldn't lift a small rock, let alone a large one. Lifting a small rock is ___ than lifting a large rock."
    )
    assert rows["treated-unexpected"]["text"] == "harder"


def test_the_replication_asks_for_the_follow_up(built: dict[tuple[str, Kind], pl.DataFrame]) -> None:
    masked = built["paired-focus/semantics-pll", "masked"]
    causal = built["paired-focus/semantics", "causal"]
    assert masked["measure"].unique().to_list() == ["pll"]
    assert masked.drop("measure").equals(causal.drop("measure"))
    assert SEMANTICS_PLL.options == {"pll": ("within_word_l2r", "original")}


@pytest.mark.parametrize(
    ("suite", "factors"),
    [(SEMANTICS, ("construction", "cell", "plausibility")), (SYNTAX, ("construction", "test"))],
    ids=["semantics", "syntax"],
)
def test_the_first_items_of_a_frame_are_balanced(suite: Suite, factors: tuple[str, ...]) -> None:
    requests = suite.build("causal", "core", {}).requests
    items = requests.filter(pl.col("frame") == FIRST).unique("item", maintain_order=True)
    for n in range(1, items.height + 1):
        for factor in factors:
            counts = items.head(n)[factor].value_counts()["count"].to_list()
            counts += [0] * (items[factor].n_unique() - len(counts))
            assert max(counts) - min(counts) <= 1


def test_a_syntax_item_word_by_word(built: dict[tuple[str, Kind], pl.DataFrame]) -> None:
    rows = item(built["paired-focus/syntax", "masked"], f"{FIRST}/not to mention/pseudocleft")
    assert {role: row["text"] for role, row in rows.items()} == {
        "treated-expected": "You couldn't lift a small rock, not to mention a large one.",
        "treated-unexpected": "A small rock, not to mention a large one, you couldn't lift.",
        "control-expected": "You couldn't lift a small rock, and a large one.",
        "control-unexpected": "A small rock, and a large one, you couldn't lift.",
    }
    assert {(row["measure"], row["context"], row["group"]) for row in rows.values()} == {("pll", None, "test")}


def test_syntax_has_three_tests_and_two_controls(built: dict[tuple[str, Kind], pl.DataFrame]) -> None:
    requests = built["paired-focus/syntax", "causal"]
    assert dict(requests.select("test", "group").unique().rows()) == TESTS
    assert list(TESTS.values()).count("test") == 3
    assert requests["measure"].unique().to_list() == ["sentence"]
    assert requests["item"].n_unique() == N_FRAMES * 5 * 4


def test_the_control_of_syntax_is_a_choice() -> None:
    requests = SYNTAX.build("causal", "core", {"control": "or"}).requests
    control = requests.filter(pl.col("role").str.starts_with("control"))
    assert control["text"].str.contains(", or ", literal=True).all()
    with pytest.raises(GlossemeError, match="unknown value 'nor' of option 'control'"):
        SYNTAX.build("causal", "core", {"control": "nor"})


def test_syntax_is_scored_by_token_unless_asked_otherwise() -> None:
    assert SYNTAX.reduction({}) == "mean"
    assert SYNTAX.options["reduction"][0] == "mean"
    assert SYNTAX.options["pll"][0] == "original"
    assert SEMANTICS.reduction({}) == "sum"


def test_global_affinity_asks_for_each_fixed_word(built: dict[tuple[str, Kind], pl.DataFrame]) -> None:
    requests = built["paired-focus/affinity", "masked"]
    asked = requests.filter((pl.col("frame") == FIRST) & (pl.col("affinity") == "global"))
    assert asked["measure"].unique().to_list() == ["slot"]
    assert set(asked.select("construction", "at", "word").rows()) == {
        (name, at, word) for name in CONSTRUCTIONS for at, word in enumerate(name.split(), 1)
    }
    filled = asked.select(pl.col("context").str.replace(SLOT, pl.col("text"), literal=True)).to_series()
    assert set(filled) == {f"You couldn't lift a small rock, {name} a large one." for name in CONSTRUCTIONS}


def test_local_affinity_asks_for_each_ordered_pair(built: dict[tuple[str, Kind], pl.DataFrame]) -> None:
    requests = built["paired-focus/affinity", "masked"]
    asked = requests.filter((pl.col("frame") == FIRST) & (pl.col("affinity") == "local"))
    assert asked["measure"].unique().to_list() == ["divergence"]
    assert asked.height == 3 * 2 + 3 * 2
    rows = asked.filter(pl.col("construction") == "not to mention").select("context", "text", "word", "partner", "at")
    before, after = "You couldn't lift a small rock, ", " a large one."
    assert set(rows.rows()) == {
        (f"{before}___ ___ mention{after}", "*not___to", "not", "to", 1),
        (f"{before}___ ___ mention{after}", "not___*to", "to", "not", 2),
        (f"{before}___ to ___{after}", "*not___mention", "not", "mention", 1),
        (f"{before}___ to ___{after}", "not___*mention", "mention", "not", 3),
        (f"{before}not ___ ___{after}", "*to___mention", "to", "mention", 2),
        (f"{before}not ___ ___{after}", "to___*mention", "mention", "to", 3),
    }


def test_affinity_is_summarised_as_a_probability() -> None:
    assert AFFINITY.design == "value"
    assert AFFINITY.reduction({}) == "probability"
    assert AFFINITY.kinds == ("masked",)


def test_only_affinity_has_two_units_and_keeps_them_apart() -> None:
    requests = AFFINITY.build("masked", "core", {}).requests
    units = requests.select(*AFFINITY.apart, "measure").unique().rows()
    assert set(units) == {("global", "slot"), ("local", "divergence")}
    assert [suite.name for suite in SUITES if suite.apart] == ["paired-focus/affinity"]


def test_an_unknown_set_is_told_with_the_nearest_one() -> None:
    with pytest.raises(GlossemeError, match="did you mean 'core'") as raised:
        SEMANTICS.build("causal", "cores", {})
    assert "no set and no file 'cores'" in str(raised.value)


def test_building_takes_well_under_two_seconds() -> None:
    start = perf_counter()
    requests = SEMANTICS.build("causal", "core", {}).requests
    assert requests.height >= 1773 * 16 * 4
    assert perf_counter() - start < 2


def test_extended_builds_with_unique_items() -> None:
    requests = AFFINITY.build("masked", "extended", {}).requests
    assert requests["item"].is_unique().all()
