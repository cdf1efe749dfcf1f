"""The main job on the pretrained model: form without meaning, as the paper found."""

import json

import pytest

from glosseme.cli import main
from glosseme.quickstart import quickstart


def test_quickstart_prints_the_tables_of_every_suite_that_fits(tmp_path):
    """With a fake, in seconds: the suites of a causal model, fewer groups than items, and what to do next."""
    printed = quickstart("fake:constant", tmp_path, 40, quiet=True)
    for expected in ("paired-focus/semantics", "paired-focus/syntax", "wdlmpro", "W2D", "D2W", "glosseme run -m"):
        assert expected in printed
    assert "4 items of wordnet-3.0 (a sample: limit 2, seed 0)" in printed
    page = tmp_path / "report.html"
    assert str(page) in printed
    assert "fake:constant" in page.read_text(encoding="utf-8")
    assert quickstart("fake:constant", tmp_path, 40, quiet=True) == printed


def test_quickstart_of_a_masked_model(tmp_path):
    """The suites of masked models, in one folder."""
    printed = quickstart("fake:constant-masked", tmp_path, 40, quiet=True)
    for expected in ("paired-focus/affinity", "wdlmpro", "D2W"):
        assert expected in printed


@pytest.mark.offline
def test_a_small_model_has_form_without_meaning(tmp_path, capsys):
    """Semantics near chance, syntax high (a model of 270M parameters; the paper's threshold is about 400M)."""
    assert main(["quickstart", "-o", str(tmp_path), "--limit", "160", "-q"]) == 0
    assert main(["table", str(tmp_path), "--format", "json", "--by", "none", "-s", "paired-focus/semantics"]) == 0
    printed = capsys.readouterr().out
    semantics = json.loads(printed[printed.rindex("[\n") :])[0]
    assert semantics["low"] < 0.6
    assert semantics["high"] > 0.4
    assert main(["table", str(tmp_path), "--format", "json", "--by", "group", "-s", "paired-focus/syntax"]) == 0
    syntax = json.loads(capsys.readouterr().out)[0]
    assert syntax["group"] == "test"
    assert syntax["low"] > 0.7
    assert syntax["estimate"] > 0.9


@pytest.mark.offline
def test_a_small_model_knows_some_words(tmp_path, capsys):
    """P@1 and rank score of W2D above chance on 24 groups."""
    arguments = ["-m", "offline:gemma-3-270m", "-s", "wdlmpro", "--limit", "24", "-o", str(tmp_path), "-q"]
    assert main(["run", *arguments]) == 0
    capsys.readouterr()
    assert main(["table", str(tmp_path), "--format", "json", "--by", "task"]) == 0
    rows = {(row["task"], row["metric"]): row for row in json.loads(capsys.readouterr().out)}
    assert rows["W2D", "accuracy"]["low"] > rows["W2D", "accuracy"]["chance"]
    assert rows["W2D", "rank_score"]["low"] > 0.5
