"""Curves from runs and from published tables, under the papers' names."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from glosseme.analysis.curves import CURVE_COLUMNS, curves_of_runs, read_published_curves
from glosseme.errors import GlossemeError
from glosseme.runs.folder import Run, read_run

DATA = Path(__file__).parent / "data"
SEMANTICS = DATA / "pythia-12b-semantics-and-benchmarks.tsv"
SYNTAX = DATA / "pythia-12b-syntax.tsv"
RELEASED = Path(__file__).parents[2] / "shared" / "reference" / "paired-focus"


def run_of(
    folder: Path,
    outcomes: pl.DataFrame,
    suite: str = "paired-focus/semantics",
    model: str = "m",
    revision: str = "step1",
    **more: object,
) -> Run:
    """A finished run with these outcomes."""
    where = folder / model.replace(":", "-") / revision / suite
    where.mkdir(parents=True)
    said = {"by": ["construction"], "also": [], "cluster": "template", "design": "contrast"}
    said |= {"factors": [name for name in outcomes.columns if name not in ("suite", "item", "correct", "delta")]}
    identity = {"model": model, "revision": revision, "suite": suite, "data": "core", "limit": None, "seed": None}
    parts = {"identity": identity | more.pop("identity", {}), "suite": said | more.pop("said", {})}
    record = {"format": 1, "status": "finished", **parts, "model": {"kind": "causal"}, **more}
    (where / "run.json").write_text(json.dumps(record))
    outcomes.write_parquet(where / "outcomes.parquet")
    outcomes.write_parquet(where / "scores.parquet")
    found = read_run(where)
    assert found is not None
    return found


def items(correct: list[float | None], **factors: list[str]) -> pl.DataFrame:
    names = [f"i{i}" for i in range(len(correct))]
    table = {"suite": "s", "item": names, "correct": correct, "delta": 1.0, "tie": False, "chance": 0.5}
    return pl.DataFrame(table | {"template": names} | factors, schema_overrides={"correct": pl.Float64})


def estimates(curves: pl.DataFrame) -> dict[str, float]:
    return dict(curves.select("curve", "estimate").rows())


def test_constructions_count_the_same_however_many_items_they_have(tmp_path):
    table = items(
        [1.0, 1.0, 1.0, 0.0, None],
        construction=["let alone"] * 3 + ["much less"] * 2,
        plausibility=["plausible", "plausible", "implausible", "plausible", "implausible"],
    )
    curves = curves_of_runs([run_of(tmp_path, table)])
    assert dict(curves.schema) == CURVE_COLUMNS
    assert estimates(curves) == {
        "semantics": 0.5,
        "semantics plausible": 0.5,
        "semantics implausible": 1.0,
        "semantics let alone": 1.0,
        "semantics much less": 0.0,
    }
    whole = curves.filter(curve="semantics").row(0, named=True)
    assert (whole["n"], whole["step"], whole["chance"]) == (4, 1, 0.5)
    assert whole["low"] < 0.5 < whole["high"]


def test_syntax_is_the_mean_over_tests_without_the_controls(tmp_path):
    table = items(
        [1.0, 1.0, 0.0, 0.0, 0.0],
        construction=["let alone"] * 5,
        test=["no-npi", "no-npi", "pseudocleft", "vp-conjunction", "vp-conjunction"],
        group=["test"] * 3 + ["control"] * 2,
    )
    curves = curves_of_runs([run_of(tmp_path, table, "paired-focus/syntax")])
    assert estimates(curves) == {"syntax": 0.5, "syntax let alone": 0.5}


def test_benchmarks_have_a_curve_for_each_single_factor_but_not_for_each_paradigm(tmp_path):
    said = {"by": ["paradigm"], "also": [["phenomenon"], []]}
    table = items([1.0, 0.0], paradigm=["p", "q"], phenomenon=["islands", "npi"])
    curves = curves_of_runs([run_of(tmp_path, table, "blimp", said=said)])
    assert estimates(curves) == {"blimp": 0.5, "blimp islands": 1.0, "blimp npi": 0.0}


def test_rows_come_by_model_curve_and_step_and_values_have_no_curve(tmp_path):
    table = items([1.0, 0.0], construction=["let alone", "let alone"])
    runs = [run_of(tmp_path, table, revision=r) for r in ("main", "step1000", "step16")]
    runs.append(run_of(tmp_path, table.with_columns(correct=pl.lit(None, pl.Float64)), "paired-focus/affinity"))
    curves = curves_of_runs(runs)
    assert curves.filter(curve="semantics")["revision"].to_list() == ["step16", "step1000", "main"]
    assert curves["curve"].unique(maintain_order=True).to_list() == ["semantics", "semantics let alone"]


def test_curves_of_many_runs_are_those_of_each(tmp_path, monkeypatch):
    """However many items are averaged at a time."""
    factors = {"construction": ["let alone"] * 3 + ["much less"] * 2, "plausibility": ["plausible"] * 5}
    runs = [
        run_of(tmp_path, items([1.0, 0.0, None, 1.0, k / 4], **factors), model=model, revision=f"step{k}")
        for model in "ab"
        for k in range(5)
    ]
    whole = curves_of_runs(runs)
    single = pl.concat(curves_of_runs([run]) for run in runs)
    assert_frame_equal(whole, single.sort("model", "curve", "step"))
    monkeypatch.setattr("glosseme.analysis.curves._MOST_ITEMS", 7)
    assert_frame_equal(curves_of_runs(runs), whole)


def test_published_curves_have_the_papers_names_and_values():
    curves = read_published_curves([SEMANTICS, SYNTAX])
    assert dict(curves.schema) == CURVE_COLUMNS
    last = estimates(curves.filter(revision="step143000"))
    assert curves["model"].unique().to_list() == ["pythia-12b"]
    assert set(curves.group_by("curve").len()["len"]) == {19}
    assert [c for c in last if c.startswith("syntax")] == [
        *("syntax", "syntax let alone", "syntax much less", "syntax never mind", "syntax not to mention")
    ]
    rows = pl.read_csv(SEMANTICS, separator="\t").filter(revision="step143000", world_knowledge_filter="aligned")
    assert last["semantics plausible"] == pytest.approx(rows["accuracy"].mean())
    assert last["blimp"] == pytest.approx(0.84497, abs=1e-5)
    assert curves.filter(curve="ewok")["chance"].unique().to_list() == [0.25]
    assert curves["n"].null_count() == curves.height


@pytest.mark.skipif(not RELEASED.is_dir(), reason="the released tables are not here")
def test_the_released_tables_are_read_whole():
    released = read_published_curves([RELEASED / SEMANTICS.name, RELEASED / SYNTAX.name])
    part = read_published_curves([SEMANTICS, SYNTAX])
    assert released.height == 19 * 26
    kept = released.join(part.select("curve", "revision"), on=["curve", "revision"], maintain_order="left")
    assert kept.equals(part)


HEAD = "revision\tconstruction\tworld_knowledge_filter\taccuracy\n"


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("", ":1", "no column 'revision'"),
        ("a\tb\n", ":1", "no column 'revision'"),
        ("revision\tconstruction\taccuracy\n", ":1", "no column 'world_knowledge_filter' or 'test_type'"),
        (HEAD, "", "no rows"),
        (HEAD + "step1\tblimp\tall\t0.5\nstep2\tblimp\tall\n", ":3", "3 values for 4 columns"),
        (HEAD + "step1\tblimp\tall\tx\n", ":2", "'x' is no number"),
        (HEAD + "step1\tblimp\tall\tnan\n", ":2", "no share"),
        (HEAD + "step1\tblimp\tall\t55\n", ":2", "no share"),
        (HEAD + "last\tblimp\tall\t.5\n", ":2", "tells no step"),
        (HEAD + "step1\tblump\tall\t.5\n", ":2", "no construction 'blump'; did you mean 'blimp'?"),
        (HEAD + "step1\tletalone\talined\t.5\n", ":2", "no world_knowledge_filter 'alined'"),
        (HEAD + "step1\tblimp\tall\t.5\nstep1\tblimp\tall\t.5\n", ":3", "stands in"),
        (
            HEAD + "step1\tletalone\tall\t.5\nstep1\tmuchless\tall\t.5\nstep2\tletalone\tall\t.5\n",
            ":4",
            "step2 has no all of much less",
        ),
    ],
)
def test_what_is_no_such_table_is_said_with_its_line(tmp_path, text, where, what):
    path = tmp_path / "t.tsv"
    path.write_text(text)
    with pytest.raises(GlossemeError) as caught:
        read_published_curves([path])
    assert str(caught.value).startswith(f"{path}{where}: ")
    assert what in str(caught.value)


def test_the_same_figure_in_two_tables_is_an_error(tmp_path):
    path = tmp_path / SEMANTICS.name
    path.write_bytes(SEMANTICS.read_bytes())
    with pytest.raises(GlossemeError, match="two values"):
        read_published_curves([SEMANTICS, path])
    with pytest.raises(GlossemeError, match="can't be read"):
        read_published_curves([tmp_path / "none.tsv"])
