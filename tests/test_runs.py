"""Runs: folders, resuming, refusals; with fakes, so that no model is loaded."""

import json
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from glosseme.designs import SCORE_COLUMNS
from glosseme.errors import GlossemeError
from glosseme.models import open_model
from glosseme.progress import QuietProgress
from glosseme.runs.evaluate import evaluate, run_folder
from glosseme.runs.folder import FORMAT, read_run, write_json
from glosseme.runs.many import RunArguments, run_many
from glosseme.runs.options import asked_of
from glosseme.suites import all_suites, find_suites

SEMANTICS = find_suites("paired-focus/semantics")[0]
SYNTAX = find_suites("paired-focus/syntax")[0]


def run(out: Path, model: str = "fake:random", suite=SEMANTICS, **asked):
    overwrite = asked.pop("overwrite", False)
    return evaluate(
        open_model(model),
        [asked_of(suite, **{"limit": 32, **asked})],
        out,
        QuietProgress(),
        overwrite=overwrite,
    )[0]


def test_folder_is_model_revision_suite(tmp_path):
    """A run lies in OUT/model/revision/suite, a set that isn't the default is named."""
    model = open_model("fake:random@7")
    assert run_folder(model, asked_of(SEMANTICS), tmp_path) == tmp_path / "fake-random/7/paired-focus/semantics"
    assert run_folder(model, asked_of(SEMANTICS, "extended"), tmp_path).name == "semantics+extended"


def test_columns_of_the_files(tmp_path):
    """The columns are a contract with users: a change needs a new FORMAT and a line in docs/files.md."""
    done = run(tmp_path)
    assert FORMAT == 1
    factors = list(SEMANTICS.factors)
    assert done.scores().columns == [*SCORE_COLUMNS, *factors]
    assert done.outcomes().columns == [
        *("suite", "item", "correct", "delta", "tie", "chance", "delta_treated", "delta_control"),
        *factors,
    ]
    types = dict(zip(done.scores().columns, done.scores().dtypes, strict=True))
    assert types["logprob"] == types["value"] == pl.Float64
    assert types["n_tokens"] == pl.Int64
    documented = (Path(__file__).parents[1] / "docs/files.md").read_text(encoding="utf-8")
    for name in [
        *done.scores().columns[:11],
        *done.outcomes().columns[:8],
        *done.record,
        *done.record["identity"],
    ]:
        assert f"`{name}`" in documented, f"docs/files.md doesn't name {name}"


def test_record_is_strict_json(tmp_path):
    """run.json has no NaN and says what was run."""
    done = run(tmp_path)
    text = (done.folder / "run.json").read_text(encoding="utf-8")
    record = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert record["status"] == "finished"
    assert record["counts"]["items"] == 32
    assert record["execution"]["tokens_forwarded"] <= record["execution"]["tokens_plain"]


def test_outcomes_follow_from_scores(tmp_path):
    """An item is correct when its construction's delta is above its control's, computed again here."""
    done = run(tmp_path)
    wide = done.scores().pivot("role", index="item", values="value")
    delta = (wide["treated-expected"] - wide["treated-unexpected"]) - (
        wide["control-expected"] - wide["control-unexpected"]
    )
    again = wide.select("item").with_columns(delta=delta)
    joined = done.outcomes().join(again, on="item", suffix="_again")
    assert (joined["delta"] - joined["delta_again"]).abs().max() < 1e-12
    assert ((joined["delta"] > 0).cast(pl.Float64) == joined["correct"]).all()


@pytest.mark.parametrize("kind", ["", "-masked"])
def test_a_constant_scorer_gets_exactly_chance(kind, tmp_path):
    """On every suite, every item of a constant scorer gets what chance gives."""
    model = open_model(f"fake:constant{kind}")
    suites = [s for s in all_suites().values() if model.kind in s.kinds and s.named is None]
    assert suites
    runs = evaluate(model, [asked_of(s, limit=12 if s.draw else 160) for s in suites], tmp_path, QuietProgress())
    for suite, done in zip(suites, runs, strict=True):
        outcomes = done.outcomes()
        if suite.design == "value":
            assert outcomes["correct"].null_count() == outcomes.height
        else:
            assert (outcomes["correct"] == outcomes["chance"]).all()
            assert outcomes["tie"].all()


def test_a_finished_run_is_not_done_again(tmp_path):
    """The same command again touches nothing."""
    first = run(tmp_path)
    stamp = (first.folder / "scores.parquet").stat().st_mtime_ns
    assert run(tmp_path).record == first.record
    assert (first.folder / "scores.parquet").stat().st_mtime_ns == stamp


def test_a_sample_grows_into_a_larger_one(tmp_path):
    """A larger limit contains the smaller one, and its values are found in the store."""
    small = run(tmp_path, limit=16)
    items, asked = set(small.outcomes()["item"]), small.record["execution"]["questions"]
    large = run(tmp_path, limit=48)
    assert items < set(large.outcomes()["item"])
    assert large.record["execution"]["questions_stored"] == asked
    with pytest.raises(GlossemeError, match="limit 48 there, 16 now"):
        run(tmp_path, limit=16)


def test_another_run_is_not_replaced_in_silence(tmp_path):
    """Other options in the same folder are refused, unless --overwrite."""
    run(tmp_path, suite=SYNTAX)
    with pytest.raises(GlossemeError, match="another run"):
        run(tmp_path, suite=SYNTAX, options={"reduction": "sum"})
    done = run(tmp_path, suite=SYNTAX, options={"reduction": "sum"}, overwrite=True)
    assert done.record["identity"]["options"]["reduction"] == "sum"


def test_two_seeds_of_a_fake_share_nothing(tmp_path):
    """Two models never share a value."""
    one, two = run(tmp_path, "fake:random@1"), run(tmp_path, "fake:random@2")
    assert one.folder != two.folder
    assert (one.scores()["logprob"] != two.scores()["logprob"]).all()


def test_a_run_that_was_stopped_ends_with_the_same_files(tmp_path):
    """A record that says 'running' and a store with some values: the same command goes on."""
    whole = run(tmp_path / "whole")
    broken = run(tmp_path / "broken", limit=16)
    (broken.folder / "outcomes.parquet").unlink()
    write_json(broken.folder / "run.json", broken.record | {"status": "running"})
    again = run(tmp_path / "broken")
    assert_frame_equal(again.scores(), whole.scores(), check_exact=True)
    assert_frame_equal(again.outcomes(), whole.outcomes(), check_exact=True)


def test_a_broken_record_is_named(tmp_path):
    """A run.json that can't be read is an error with its path."""
    done = run(tmp_path)
    (done.folder / "run.json").write_text("{")
    with pytest.raises(GlossemeError, match=r"run\.json"):
        read_run(done.folder)
    (done.folder / "run.json").write_text('{"format": 99}')
    with pytest.raises(GlossemeError, match="format 99"):
        read_run(done.folder)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"suites": ["paired-focsu"]}, "did you mean 'paired-focus"),
        ({"models": ["fake:constnat"]}, "did you mean 'fake:constant'"),
        ({"suites": ["paired-focus/affinity"]}, "is for masked models"),
        ({"options": {"redcution": "sum"}}, "no option|none of the suites has an option"),
        ({"options": {"control": "but"}, "suites": ["paired-focus/syntax"]}, "no control 'but'"),
        ({"data": "cora"}, "did you mean 'core'"),
        ({"data": "no/such.tsv"}, "no such file"),
        ({"limit": 0}, "leaves nothing"),
        ({"batch_size": 0}, "leaves nothing"),
        ({"bos": "perhaps"}, "there is no bos"),
        ({"dtype": "float8"}, "float8"),
    ],
)
def test_wrong_requests(arguments, message, tmp_path):
    """Each is one clear error."""
    asked = {"models": ["fake:constant"], "suites": ["paired-focus/semantics"], "out": tmp_path, **arguments}
    with pytest.raises(GlossemeError, match=message):
        list(run_many(RunArguments(**asked), quiet=True))


def test_a_group_gives_the_suites_that_fit(tmp_path):
    """paired-focus means semantics and syntax for a causal model, affinity too for a masked one."""
    for name, expected in (("fake:constant", 2), ("fake:constant-masked", 3)):
        asked = RunArguments(models=[name], suites=["paired-focus"], out=tmp_path, limit=8)
        assert len(list(run_many(asked, quiet=True))) == expected


def test_an_unwritable_folder(tmp_path):
    """A file where the folder should be is an error that names it."""
    (tmp_path / "taken").write_text("")
    asked = RunArguments(models=["fake:constant"], suites=["paired-focus"], out=tmp_path / "taken")
    with pytest.raises(GlossemeError, match=r"taken.*can't be written"):
        list(run_many(asked, quiet=True))
