"""Runs beside published figures: names, joins, formats, and what is said where nothing was published."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import glosseme
from glosseme.analysis.published import SUITES, is_final, published, published_name
from glosseme.cli import main
from glosseme.errors import GlossemeError
from glosseme.report.compare import compare_runs, comparison_of_runs
from glosseme.runs.folder import Run, find_runs, write_json


def renamed(run: Run, out: Path, model: str, revision: str = "main") -> Path:
    """Copy a run under the name of another model."""
    folder = out / model.replace("/", "--") / revision / run.record["identity"]["suite"]
    folder.mkdir(parents=True)
    for name in ("scores.parquet", "outcomes.parquet"):
        (folder / name).write_bytes((run.folder / name).read_bytes())
    identity = run.record["identity"] | {"model": model, "revision": revision}
    write_json(folder / "run.json", run.record | {"identity": identity})
    return out


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Run:
    [run] = glosseme.run("fake:random@4", "wdlmpro", tmp_path_factory.mktemp("words"), limit=40)
    return run


@pytest.fixture(scope="module")
def constructions(tmp_path_factory: pytest.TempPathFactory) -> Run:
    out = tmp_path_factory.mktemp("constructions")
    [run] = glosseme.run("fake:random@4", "paired-focus/semantics", out, limit=64)
    return run


@pytest.mark.parametrize(
    ("model", "task", "pos", "band", "metric", "value"),
    [
        ("gpt2-xl", "W2D", "noun", "all", "accuracy", 0.4733),
        ("bert-base-uncased", "W2D", "noun", "all", "accuracy", 0.3517),
        ("roberta-large", "D2W", "verb", "all", "accuracy", 0.386),
        ("gpt2-xl", "D2W", "noun", "rare", "accuracy", 0.193),
        ("roberta-large", "W2D", "verb", "all", "rank_score", 0.84),
        ("random", "W2D", "noun", "all", "accuracy", 0.0762),
        ("random", "D2W", "verb", "all", "accuracy", 0.08),
    ],
)
def test_the_figures_are_the_paper_s(model: str, task: str, pos: str, band: str, metric: str, value: float) -> None:
    """Tables 4, 5, 7 and the text of Senel and Schuetze, as shares."""
    found = published("wdlmpro").figures.filter(model=model, task=task, pos=pos, band=band, metric=metric)
    assert found["value"].item() == pytest.approx(value, abs=5e-4)


def test_figures_are_shares_each_once_with_their_source() -> None:
    for suite in SUITES:
        figures = published(suite).figures
        assert figures["value"].is_between(0, 1).all()
        assert not figures.drop("value", "source").is_duplicated().any()
        assert figures["source"].str.contains(r"20\d\d").all()
        assert set(figures["metric"]) <= {"accuracy", "rank_score"}
        assert suite in glosseme.all_suites()
    assert published("wdlmpro").figures.height == 2 * 2 * 9 * 2 * 4
    assert published("paired-focus/syntax") is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gpt2", "gpt2"),
        ("openai-community/gpt2-xl", "gpt2-xl"),
        ("google-bert/bert-large-uncased", "bert-large-uncased"),
        ("FacebookAI/roberta-base", "roberta-base"),
        ("EleutherAI/pythia-12b", "pythia-12b"),
        ("EleutherAI/pythia-12b-deduped", "pythia-12b-deduped"),
        ("fake:constant", "random"),
    ],
)
def test_models_are_known_by_the_last_part_of_their_name(name: str, expected: str) -> None:
    assert published_name(name) == expected


def test_only_finished_models_are_compared(words: Run, tmp_path: Path) -> None:
    """A checkpoint is not the model that was published, but the last step of a Pythia is."""
    assert is_final("step143000")
    renamed(words, tmp_path, "openai-community/gpt2")
    renamed(words, tmp_path, "openai-community/gpt2", "step1000")
    table = comparison_of_runs(list(find_runs(tmp_path)))
    assert table["revision"].unique().to_list() == ["main"]
    assert "nothing published of openai-community/gpt2@step1000 on wdlmpro" in compare_runs(tmp_path)


def test_theirs_ours_difference_and_whether_ours_holds_theirs(words: Run, tmp_path: Path) -> None:
    """One row a task, part of speech and metric; figures of all bands."""
    table = comparison_of_runs(list(find_runs(renamed(words, tmp_path, "openai-community/gpt2"))))
    assert table.select("task", "pos", "metric").rows() == [
        (task, pos, metric)
        for task in ("W2D", "D2W")
        for pos in ("noun", "verb")
        for metric in ("accuracy", "rank_score")
    ]
    outcomes = words.outcomes().filter(pl.col("template") == "average")
    for row in table.iter_rows(named=True):
        column = {"accuracy": "correct", "rank_score": "rank_score"}[row["metric"]]
        ours = outcomes.filter(task=row["task"], pos=row["pos"])[column].mean()
        theirs = (
            published("wdlmpro")
            .figures.filter(model="gpt2", task=row["task"], pos=row["pos"], band="all", metric=row["metric"])["value"]
            .item()
        )
        assert row["estimate"] == pytest.approx(ours)
        assert row["published"] == theirs
        assert row["difference"] == pytest.approx(ours - theirs)
        assert row["within"] == (row["low"] <= theirs <= row["high"])
    assert set(table["within"]) == {True, False}


def test_by_band(words: Run, tmp_path: Path) -> None:
    """Finer figures on request, the averages over them left out; an unknown factor names what there is."""
    runs = list(find_runs(renamed(words, tmp_path, "gpt2")))
    table = comparison_of_runs(runs, ["band"])
    assert set(table["band"]) == {"rare", "medium", "frequent"}
    assert table.height <= 24
    with pytest.raises(GlossemeError, match="did you mean 'band'"):
        comparison_of_runs(runs, ["bnad"])


def test_paired_focus_by_construction(constructions: Run, words: Run, tmp_path: Path) -> None:
    """Each construction of pythia-12b, beside a suite with other factors."""
    renamed(constructions, tmp_path, "EleutherAI/pythia-12b", "step143000")
    table = comparison_of_runs(list(find_runs(tmp_path)))
    found = dict(table.select("construction", "published").iter_rows())
    assert found == {"let alone": 0.965, "much less": 0.922, "not to mention": 0.837, "never mind": 0.876}
    renamed(words, tmp_path, "gpt2")
    text = compare_runs(tmp_path)
    assert text.index("EleutherAI/pythia-12b@step143000  paired-focus/semantics") < text.index("gpt2@main  wdlmpro")
    assert "nothing published" not in text
    rows = json.loads(compare_runs(tmp_path, format_="json"))
    assert {"construction"} == {k for row in rows for k in row if row["suite"] != "wdlmpro"} & {"construction", "task"}
    assert compare_runs(tmp_path, by="band").count("medium") > 0


def test_chance_is_what_was_published(tmp_path: Path) -> None:
    """A constant fake stands beside the published random baseline and holds it in its interval."""
    glosseme.run("fake:constant", "wdlmpro", tmp_path, limit=60)
    table = comparison_of_runs(list(find_runs(tmp_path)))
    assert table.height == 8
    assert table["within"].all()


@pytest.mark.parametrize("format_", ["text", "json", "csv", "markdown", "latex"])
def test_formats(format_: str, words: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each has the same rows; the text says what the columns are."""
    renamed(words, tmp_path, "gpt2")
    assert main(["compare", str(tmp_path), "--format", format_]) == 0
    printed = capsys.readouterr().out
    rows: dict[str, Any] = {
        "text": lambda: re.findall(r"^  (?:W2D|D2W)  .* (?:yes|no)$", printed, re.M),
        "json": lambda: json.loads(printed),
        "csv": lambda: list(csv.DictReader(io.StringIO(printed.strip()))),
        "markdown": lambda: re.findall(r"^\| gpt2 \|.* (?:yes|no) \|$", printed, re.M),
        "latex": lambda: re.findall(r"^gpt2 &.* (?:yes|no) \\\\$", printed, re.M),
    }
    assert len(rows[format_]()) == 8
    assert ("theirs is what was published" in printed) == (format_ == "text")


def test_where_nothing_was_published(words: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The models that have been, and exit code 0; machines get an empty table."""
    renamed(words, tmp_path, "somebody/else")
    assert main(["compare", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "nothing published of somebody/else@main on wdlmpro" in printed
    assert "published on wdlmpro: gpt2, gpt2-medium" in printed
    assert "published on paired-focus/semantics: pythia-12b" in printed
    assert compare_runs(tmp_path, format_="json") == "[]"
    assert compare_runs(tmp_path, format_="csv").startswith("model,revision,suite")
    for format_ in ("markdown", "latex"):
        assert "theirs" in compare_runs(tmp_path, format_=format_)


def test_wrong_requests(tmp_path: Path, words: Run) -> None:
    with pytest.raises(GlossemeError, match="no runs"):
        compare_runs(tmp_path)
    with pytest.raises(GlossemeError, match="did you mean 'latex'"):
        compare_runs(words.folder, format_="latx")
