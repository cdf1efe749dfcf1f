"""Tables of folders of runs, and what `show` prints: names, units, records that are broken, foreign or old."""

from __future__ import annotations

import math
import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from glosseme.errors import GlossemeError
from glosseme.models import open_model
from glosseme.progress import QuietProgress
from glosseme.report.compare import compare_runs
from glosseme.report.runs import choose_runs, summary_of_runs, table_of_runs
from glosseme.report.suites import show_items
from glosseme.runs.evaluate import evaluate, run_folder
from glosseme.runs.folder import Run, find_runs, read_run, write_json
from glosseme.runs.options import asked_of
from glosseme.suites import find_suites
from glosseme.suites.suite import Items

SEMANTICS, SYNTAX, AFFINITY = (find_suites(f"paired-focus/{name}")[0] for name in ("semantics", "syntax", "affinity"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs")
    causal, masked = open_model("fake:random@7"), open_model("fake:random-masked")
    evaluate(causal, [asked_of(suite, limit=16) for suite in (SEMANTICS, SYNTAX)], out, QuietProgress())
    evaluate(masked, [asked_of(AFFINITY, limit=44)], out, QuietProgress())
    return out


@pytest.fixture
def runs(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "runs"))


def of_suite(root: Path, suite: str) -> Run:
    return choose_runs(root, suite).finished[0]


def rewrite(run: Run, **changed: object) -> None:
    write_json(run.folder / "run.json", run.record | changed)


# Units


@pytest.mark.parametrize("by", [None, [], ["construction"], ["word", "construction"], ["affinity"]])
def test_no_grouping_averages_probabilities_with_divergences(made, by):
    outcomes = of_suite(made, "paired-focus/affinity").outcomes()
    table = summary_of_runs(made, by=by, suite="paired-focus/affinity")
    assert set(table["affinity"]) == {"global", "local"}
    coarse = summary_of_runs(made, by=[], suite="paired-focus/affinity")
    for level in ("global", "local"):
        wanted = outcomes.filter(affinity=level)["value"]
        row = coarse.row(by_predicate=pl.col("affinity") == level, named=True)
        assert (row["estimate"], row["n"]) == (pytest.approx(wanted.mean()), len(wanted))


def test_intervals_end_where_the_unit_does(runs):
    """Two clusters far apart, with a t of 12.7: without bounds the intervals would leave [0, 1] and [0, ln 2]."""
    run = of_suite(runs, "paired-focus/affinity")
    high = pl.when(affinity="global").then(0.99).otherwise(0.69)
    odd = pl.int_range(pl.len()).over("affinity") % 2 == 1
    changed = {"value": pl.when(odd).then(high).otherwise(0.02), "template": odd.cast(pl.String)}
    run.outcomes().with_columns(**changed).write_parquet(run.folder / "outcomes.parquet")
    table = summary_of_runs(runs, by=[], suite="paired-focus/affinity").sort("affinity")
    assert table["low"].to_list() == [0, 0]
    assert table["high"].to_list() == [1, math.log(2)]


def test_means_of_log_probabilities_have_no_bounds(runs):
    run = of_suite(runs, "paired-focus/affinity")
    run.outcomes().with_columns(value=-pl.col("value")).write_parquet(run.folder / "outcomes.parquet")
    rewrite(run, suite=run.record["suite"] | {"reduction": "sum"})
    assert (summary_of_runs(runs, by=[], suite="paired-focus/affinity").filter(affinity="global")["low"] < 0).all()


def test_the_text_says_each_unit(made):
    lines = table_of_runs(made).splitlines()
    assert "paired-focus/semantics: deltas are in nats." in lines
    assert "paired-focus/syntax: deltas are in nats per token." in lines
    assert "paired-focus/affinity: the mean of affinity global is of probabilities." in lines
    assert "paired-focus/affinity: the mean of affinity local is of Jensen-Shannon divergences in nats." in lines


# Names of models


@pytest.mark.parametrize("asked", ["fake:random", "fake:random@7", "fake:random@07", " fake:random "])
def test_a_model_is_named_as_in_run(made, asked):
    assert len(choose_runs(made, model=asked).finished) == 2


@pytest.mark.parametrize("asked", ["fake:random@8", "fake:constant", "fake:randm", "./nowhere"])
def test_a_model_without_a_run_is_refused(made, asked):
    with pytest.raises(GlossemeError, match="no run of model"):
        choose_runs(made, model=asked)


def in_folder(runs: Path, folder: Path) -> None:
    """Write a run's record as that of the model in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text("{}")
    run = of_suite(runs, "paired-focus/semantics")
    identity = run.record["identity"] | {"model": folder.name, "revision": "main"}
    rewrite(run, identity=identity, model=run.record["model"] | {"name": str(folder.resolve()), "source": "folder"})


@pytest.mark.parametrize("asked", ["models/gpt2", "./models/gpt2", "models/../models/gpt2/", "gpt2", "gpt2@main"])
def test_a_folder_is_named_by_any_path_to_it(runs, tmp_path, monkeypatch, asked):
    in_folder(runs, tmp_path / "models/gpt2")
    monkeypatch.chdir(tmp_path)
    for name in (asked, str(tmp_path / "models/gpt2")):
        assert [run.record["identity"]["model"] for run in choose_runs(runs, model=name).finished] == ["gpt2"]


def test_another_folder_of_the_same_name_is_another_model(runs, tmp_path, monkeypatch):
    in_folder(runs, tmp_path / "models/gpt2")
    (tmp_path / "other/gpt2").mkdir(parents=True)
    (tmp_path / "other/gpt2/config.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(GlossemeError, match="no run of model 'other/gpt2'"):
        choose_runs(runs, model="other/gpt2")


# Records that are broken, foreign or old

BROKEN = {
    "text": "{",
    "binary": "\0",
    "list": "[1]",
    "nothing": '{"format": 1}',
    "foreign": '{"status": "finished", "command": "x"}',
    "half": '{"format": 1, "status": "running"}',
    "empty": '{"format": 1, "status": "finished", "identity": {}, "suite": {}}',
    "types": '{"format": 1, "status": 3, "identity": [], "suite": "s"}',
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_record_that_is_no_runs_is_left_out_with_a_note(runs, text):
    (runs / "a").mkdir()
    (runs / "a/run.json").write_text(text)
    assert len(list(find_runs(runs))) == 3
    shown = table_of_runs(runs)
    assert "let alone" in shown
    assert f"left out: {runs / 'a/run.json'}" in shown
    assert f"left out: {runs / 'a/run.json'}" in compare_runs(runs)
    with pytest.raises(GlossemeError, match=r"run\.json"):
        read_run(runs / "a")


def test_only_broken_records_are_an_error_that_names_one(tmp_path):
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(GlossemeError, match=r"no runs, and 1 record can't be read .*run\.json"):
        table_of_runs(tmp_path)


@pytest.mark.parametrize("text", [BROKEN["nothing"], BROKEN["half"], BROKEN["foreign"]])
def test_a_run_into_a_folder_with_such_a_record_is_refused(tmp_path, text):
    model, asked = open_model("fake:constant"), asked_of(SYNTAX, limit=8)
    folder = run_folder(model, asked, tmp_path)
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(text)
    with pytest.raises(GlossemeError, match=r"run\.json"):
        evaluate(model, [asked], tmp_path, QuietProgress())


@pytest.mark.parametrize("key", ["where", "options", "apart", "also", "reduction", "design"])
def test_a_record_older_than_a_key_still_tabulates(runs, made, key):
    for run in find_runs(runs):
        rewrite(run, suite={name: value for name, value in run.record["suite"].items() if name != key})
    table = summary_of_runs(runs, by=["construction"])
    assert table.equals(summary_of_runs(made, by=["construction"])) or key == "reduction"
    assert "let alone" in table_of_runs(runs)


def test_records_without_counts_notes_or_model_still_tabulate(runs):
    for run in find_runs(runs):
        kept = {name: run.record[name] for name in ("format", "status", "identity", "suite")}
        write_json(run.folder / "run.json", kept)
    assert "16 items of core" in table_of_runs(runs)


def test_a_broken_table_is_left_out_and_mended_by_running_again(runs):
    run = of_suite(runs, "paired-focus/syntax")
    (run.folder / "outcomes.parquet").write_bytes(b"PAR1")
    shown = table_of_runs(runs)
    assert "paired-focus/semantics" in shown
    assert "pseudocleft" not in shown
    assert f"left out: {run.folder / 'outcomes.parquet'}: the table can't be read" in shown
    model, asked = open_model("fake:random@7"), asked_of(SYNTAX, limit=16)
    evaluate(model, [asked], runs, QuietProgress())
    assert "pseudocleft" in table_of_runs(runs)


# Factors


def test_a_factor_named_twice_is_taken_once(made):
    assert table_of_runs(made, by="construction, construction") == table_of_runs(made, by="construction")


def test_suites_without_a_factor_are_named_and_not_counted(made):
    shown = table_of_runs(made, by="test")
    said = "left out, without the factor 'test': paired-focus/affinity, paired-focus/semantics"
    assert [line for line in shown.splitlines() if line.startswith("left out")] in (
        [said],
        ["left out, without the factor 'test': paired-focus/semantics, paired-focus/affinity"],
    )
    assert "paired-focus/syntax: 16 items" in shown
    assert "paired-focus/semantics: 16 items" not in shown
    assert "affinity global" not in shown


def test_factors_that_no_suite_has_together(made):
    with pytest.raises(GlossemeError, match="all of the factors test, cell"):
        table_of_runs(made, by="test,cell")
    with pytest.raises(GlossemeError, match=r"no suite here has a factor 'tset'.*'test'"):
        table_of_runs(made, by="construction,tset")


def test_one_is_singular(runs):
    for run in find_runs(runs):
        counts = run.record["counts"] | {"items": 1, "items_dropped": 1}
        rewrite(run, counts=counts)
    assert ": 1 item of core;" in table_of_runs(runs)
    assert "1 item without a value" in table_of_runs(runs)
    run = of_suite(runs, "paired-focus/syntax")
    rewrite(run, status="running")
    with pytest.raises(GlossemeError, match="there is 1 run, none of them finished"):
        table_of_runs(runs, suite="paired-focus/syntax")


def test_all_items_are_no_sample(runs):
    """A limit above the number of items leaves none out."""
    run = of_suite(runs, "paired-focus/syntax")
    rewrite(run, identity=run.record["identity"] | {"limit": 1_000_000})
    assert "(a sample" not in table_of_runs(runs, suite="paired-focus/syntax")
    assert "(a sample: limit 16, seed 0)" in table_of_runs(runs, suite="paired-focus/semantics")


# show


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seed": -1}, "seed -1 is negative.*--seed"),
        ({"n": 0}, "-n 1"),
        ({"n": -2}, "-n 1"),
        ({"options": {"x": "y"}}, "none of the suites has an option 'x'"),
        ({"options": {"contrl": "or"}}, "did you mean 'control'"),
    ],
)
@pytest.mark.parametrize("name", ["paired-focus", "wdlmpro"])
def test_show_refuses_what_it_cannot_do(name, arguments, message):
    asked = {"kind": "causal", "data": None, "n": 1, "seed": 0, "options": {}, **arguments}
    if name == "wdlmpro" and "options" in arguments:
        message = "none of the suites has an option"
    with pytest.raises(GlossemeError, match=message):
        show_items(name, **asked)


def test_show_leaves_out_factors_that_an_item_has_not():
    shown = show_items("paired-focus/affinity", "masked", None, 12, 0, {})
    assert "None" not in shown
    assert "partner" in shown


def test_show_neutralises_control_characters(tmp_path, monkeypatch):
    """What a file holds, and what it is called, can't write to the terminal or begin a line."""
    bad = "\x1b[31mred\nforged: 1\x07\r"
    items = SYNTAX.build("causal", "core", {}).requests.head(4)

    def build(*_):
        return Items(items.with_columns(text=pl.lit(bad), scale=pl.lit(bad)), (bad,))

    path = tmp_path / "a\x1b[2J\nforged.tsv"
    path.write_text("x")
    monkeypatch.setattr("glosseme.report.suites.suites_for", lambda *_: (replace(SYNTAX, build=build),))
    shown = show_items("paired-focus/syntax", "causal", str(path), 1, 0, {})
    assert not set(shown) & {"\x1b", "\x07", "\r"}
    assert not any(line.startswith("forged") for line in shown.splitlines())
    assert "red forged: 1" in shown


def test_show_neutralises_what_a_suite_shows_itself(monkeypatch):
    suite = replace(SYNTAX, show=lambda *_: ["head", "word\x1b[31m\r\n  indented\x85x"])
    monkeypatch.setattr("glosseme.report.suites.suites_for", lambda *_: (suite,))
    assert show_items("paired-focus/syntax", "causal", None, 1, 0, {}) == "head\n\nword[31m\n  indentedx"
