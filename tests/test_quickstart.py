"""The main job on the pretrained model: form without meaning, as the paper found."""

import json

import pytest

from glosseme.cli import main
from glosseme.quickstart import quickstart


def test_quickstart_prints_the_tables_of_every_suite_that_fits(tmp_path):
    """With a fake, in a second: both suites of a causal model, and what to do next."""
    printed = quickstart("fake:constant", tmp_path, 40, quiet=True)
    for expected in ("paired-focus/semantics", "paired-focus/syntax", "chance", "glosseme run -m"):
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
    assert syntax["low"] > 0.8
