"""A model at many checkpoints: what is found, what is said, what is scored."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from huggingface_hub import errors as hub_errors

from glosseme.cli import main
from glosseme.errors import WORK_FAILED, GlossemeError
from glosseme.models.reference import Reference, parse_reference
from glosseme.models.revisions import checkpoints_of, series_of
from glosseme.report.trajectory import table_of_trajectory
from glosseme.runs import likelihood
from glosseme.runs.folder import read_run
from glosseme.runs.many import RunArguments, run_many
from glosseme.runs.trajectory import run_trajectory
from glosseme.runs.trajectory_file import read_trajectories
from small_models import saved_bert, saved_gpt2
from trained import STEPS, train

SUITES = ["paired-focus/semantics", "paired-focus/syntax"]


@pytest.fixture(scope="module", params=["causal", "masked"])
def series(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight checkpoints of a trained model, of which the sixth holds the fifth's weights and the seventh none."""
    folder = tmp_path_factory.mktemp(request.param) / f"toy-{request.param}"
    return train(folder, masked=request.param == "masked", twin=32, broken=48)


def asked(models: Path | str, out: Path, **more: Any) -> RunArguments:
    return RunArguments(models=[str(models)], suites=SUITES, out=out, limit=24, **more)


@pytest.fixture(scope="module")
def done(series: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs of the trajectory."""
    out = tmp_path_factory.mktemp("runs")
    list(run_trajectory(asked(series, out), "all", quiet=True))
    return out / series.name


def test_every_checkpoint_has_a_row(done: Path) -> None:
    """Also the one without weights, with the reason, and nothing in place of its estimates."""
    table = table_of_trajectory(done).filter(pl.col("metric").is_null() | (pl.col("metric") == "accuracy"))
    assert table.unique("revision", maintain_order=True)["step"].to_list() == list(STEPS)
    missing = table.filter(status="missing")
    assert missing["revision"].to_list() == ["checkpoint-48"]
    assert "safetensors weights are needed" in missing["reason"][0]
    assert missing["estimate"].to_list() == [None]
    assert table.filter(pl.col("status") == "there").height == 2 * (len(STEPS) - 1)


def test_equal_weights_are_named(done: Path) -> None:
    """The later checkpoint says whose weights it holds, and gets the same scores without being scored."""
    rows = {row["revision"]: row["same_as"] for row in read_trajectories(done).iter_rows(named=True)}
    assert [(later, earlier) for later, earlier in rows.items() if earlier] == [("checkpoint-32", "checkpoint-16")]
    later, earlier = (read_run(done / name / "paired-focus/semantics") for name in ("checkpoint-32", "checkpoint-16"))
    assert later is not None
    assert earlier is not None
    assert later.scores().equals(earlier.scores())
    assert later.record["execution"]["tokens_forwarded"] == 0


def test_a_checkpoint_scores_as_a_model_of_its_own(series: Path, done: Path, tmp_path: Path) -> None:
    """Nothing of a trajectory's economy changes a value."""
    list(run_many(asked(f"{series}@checkpoint-16", tmp_path), quiet=True))
    for suite in SUITES:
        alone, together = (read_run(out / "checkpoint-16" / suite) for out in (tmp_path / series.name, done))
        assert alone is not None
        assert together is not None
        assert alone.scores().equals(together.scores())
        assert alone.record["identity"] == together.record["identity"]


def test_training_changes_what_is_measured(done: Path) -> None:
    """The checkpoints are different models, not one model eight times."""
    first, last = (read_run(done / f"checkpoint-{step}" / SUITES[0]) for step in (STEPS[0], STEPS[-1]))
    assert first is not None
    assert last is not None
    gained = (last.scores()["logprob"] - first.scores()["logprob"]).abs().mean()
    assert isinstance(gained, float)
    assert gained > 1


def test_texts_are_tokenised_once(series: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One tokenizer, two suites, seven checkpoints: two tables of tokens."""
    calls = []
    lower = likelihood.lower
    monkeypatch.setattr(likelihood, "lower", lambda *a, **k: calls.append(1) or lower(*a, **k))
    list(run_trajectory(asked(series, tmp_path), "all", quiet=True))
    assert len(calls) == len(SUITES)


def test_an_interrupted_trajectory_goes_on(
    series: Path, done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was finished isn't done again, and the end is the same."""
    real = likelihood.execute
    calls = []

    def interrupted(*arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(likelihood, "execute", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(run_trajectory(asked(series, tmp_path), "all", quiet=True))
    list(run_trajectory(asked(series, tmp_path), "all", quiet=True))
    assert len(calls) == 1 + 2 * (len(STEPS) - 1)
    for one in sorted(done.rglob("scores.parquet")):
        again = tmp_path / series.name / one.relative_to(done)
        assert again.read_bytes() == one.read_bytes()
    calls.clear()
    list(run_trajectory(asked(series, tmp_path), "all", quiet=True))
    assert not calls


def test_a_checkpoint_that_breaks_does_not_stop_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that can't be read is that checkpoint's own trouble."""
    folder = tmp_path / "series"
    for step in (1, 2, 3):
        saved_gpt2(folder / f"step_{step}", seed=step)
    (folder / "step_2/model.safetensors").write_bytes(b"no tensors")
    list(run_trajectory(asked(folder, tmp_path / "runs"), "all", quiet=True))
    rows = read_trajectories(tmp_path / "runs").rows_by_key("revision", named=True, unique=True)
    assert [name for name, row in rows.items() if row["status"] == "missing"] == ["step_2"]
    assert "can't be loaded" in rows["step_2"]["reason"]
    for step in (1, 3):
        (folder / f"step_{step}/model.safetensors").write_bytes(b"no tensors either")
    with pytest.raises(GlossemeError) as raised:
        list(run_trajectory(asked(folder, tmp_path / "more"), "all", quiet=True))
    assert raised.value.exit_code == WORK_FAILED


def test_the_command_prints_a_row_a_checkpoint(
    series: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The missing one too; equal weights are told before anything is scored."""
    arguments = ["trajectory", "-m", str(series), "-s", SUITES[0], "--limit", "8", "-o", str(tmp_path)]
    assert main([*arguments, "--revisions", "checkpoint-16,checkpoint-32,checkpoint-48,checkpoint-77"]) == 0
    out, err = capsys.readouterr()
    rows = {line.split()[1]: line for line in out.splitlines() if len(line.split()) > 2}
    assert "the weights of checkpoint-16" in rows["checkpoint-32"]
    assert " -  missing: " in rows["checkpoint-48"]
    assert "the folder has no checkpoint 'checkpoint-77'" in rows["checkpoint-77"]
    assert err.index("holds the weights of") < err.index("to forward")
    assert main(["table", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "checkpoint-48 is missing" in out
    assert "checkpoint-32 holds the weights of checkpoint-16" in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--revisions", "checkpoint-900"], "none of 1 checkpoint can be run"),
        (["--revisions", ","], "no revision was named"),
        (["--format", "xml"], "there is no format 'xml'"),
        (["--data", "paired-focus=nowhere.tsv"], "no such file"),
        (["--data", "blimp=nowhere"], "there are data for 'blimp', which isn't run"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(
    series: Path, tmp_path: Path, arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before a model is loaded."""
    command = ["trajectory", "-m", str(series), "-s", SUITES[0], "-o", str(tmp_path), *arguments]
    assert main(command) == 2
    assert says in capsys.readouterr().err


def named(tmp_path: Path, *names: str) -> Reference:
    for name in names:
        (tmp_path / name).mkdir()
    return series_of(str(tmp_path))


def test_log_takes_each_step_near_the_double_of_the_last(tmp_path: Path) -> None:
    """From 500 to 4,500 by 500."""
    series = named(tmp_path, *(f"checkpoint-{step}" for step in range(500, 5000, 500)), "runs", "logs")
    names, notes = checkpoints_of(series, "log")
    assert names == [f"checkpoint-{step}" for step in (500, 1000, 2000, 4000, 4500)]
    assert notes == []
    assert len(checkpoints_of(series, "all")[0]) == 9


def test_epochs_beside_steps_are_not_mixed(tmp_path: Path) -> None:
    """Steps and epochs aren't on one axis."""
    series = named(tmp_path, "step_0100", "step_0200", "step_1000", "epoch_1", "epoch_2")
    names, notes = checkpoints_of(series, "all")
    assert names == ["step_0100", "step_0200", "step_1000"]
    assert "2 checkpoints with other names" in notes[0]


def test_a_folder_without_checkpoints_says_so(tmp_path: Path) -> None:
    """With the names that there are."""
    with pytest.raises(GlossemeError, match="no checkpoints were found"):
        checkpoints_of(named(tmp_path, "runs"), "all")


def test_a_checkpoint_is_a_revision_of_its_folder(tmp_path: Path) -> None:
    """So that its runs lie beside those of the other checkpoints."""
    saved_gpt2(tmp_path / "mine/checkpoint-5")
    reference = parse_reference(f"{tmp_path}/mine@checkpoint-5")
    assert (reference.label, reference.revision_label, reference.source) == ("mine", "checkpoint-5", "folder")
    assert reference.folder == (tmp_path / "mine/checkpoint-5").resolve()
    with pytest.raises(GlossemeError, match="did you mean 'checkpoint-5'"):
        parse_reference(f"{tmp_path}/mine@checkpoint-6")
    with pytest.raises(GlossemeError, match=r"no checkpoint '\.\.'"):
        parse_reference(f"{tmp_path}/mine@..")


class Hub:
    """What the hub's client says of a model with three checkpoints, of which two hold the same weights."""

    names = ("main", "step1", "step512", "step1000")

    def list_repo_refs(self, name: str) -> Any:
        return SimpleNamespace(branches=[SimpleNamespace(name=n) for n in self.names], tags=[])

    def model_info(self, name: str, revision: str, files_metadata: bool) -> Any:
        sha = "a" * 64 if revision.endswith(("1", "2")) else "b" * 64
        file = SimpleNamespace(rfilename="model.safetensors", lfs=SimpleNamespace(sha256=sha))
        return SimpleNamespace(siblings=[file, SimpleNamespace(rfilename="README.md", lfs=None)])


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A hub whose snapshots lie in a folder, by revision."""
    for name in ("step1", "step512"):
        saved_gpt2(tmp_path / f"hub/{name}")
        (tmp_path / f"hub/{name}/model.safetensors").rename(tmp_path / f"{name}.safetensors")

    def snapshot(name: str, revision: str, **_: Any) -> str:
        folder = tmp_path / "hub" / revision
        if not folder.is_dir():
            raise hub_errors.RevisionNotFoundError("404", response=SimpleNamespace(headers={}, request=None))
        return str(folder)

    def file(name: str, wanted: str, revision: str, **_: Any) -> str:
        if not (tmp_path / "hub" / revision / wanted).is_file():
            (tmp_path / f"{revision}.safetensors").rename(tmp_path / "hub" / revision / wanted)
        return str(tmp_path / "hub" / revision / wanted)

    monkeypatch.setattr("huggingface_hub.HfApi", Hub)
    monkeypatch.setattr("glosseme.models.hub.hub_answers", lambda: True)
    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot)
    monkeypatch.setattr("huggingface_hub.hf_hub_download", file)
    return tmp_path / "hub"


def test_the_hubs_revisions_are_listed_and_compared_before_weights_come(hub: Path, tmp_path: Path) -> None:
    """A revision that the hub hasn't is a row, never answered by main."""
    out = tmp_path / "runs"
    list(run_trajectory(asked("org/toy", out), "step1,step512,step7", quiet=True))
    rows = json.loads((out / "org--toy/trajectory.json").read_text())["steps"]
    assert [(row["revision"], row["status"], row["same_as"]) for row in rows] == [
        ("step1", "there", None),
        ("step7", "missing", None),
        ("step512", "there", "step1"),
    ]
    assert "no revision 'step7'" in rows[1]["reason"]
    assert checkpoints_of(series_of("org/toy"), "log")[0] == ["step1", "step512", "step1000"]


def test_from_checkpoints_to_statistics_figures_and_a_page(
    done: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All that a trajectory is run for, the twin and the missing checkpoint named wherever they matter."""
    assert main(["analyse", "differences", str(done), "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    pairs = {(row["a"], row["b"]): row for row in rows}
    assert ("semantics plausible", "semantics implausible") in pairs
    assert ("semantics plausible", "syntax") in pairs
    # Seven checkpoints are there, six of them with weights of their own.
    assert {row["n"] for row in rows} == {5}
    assert main(["analyse", "differences", str(done)]) == 0
    assert "checkpoint-32" in capsys.readouterr().out
    assert main(["figures", str(done), "-o", str(tmp_path / "figures"), "--format", "svg"]) == 0
    drawn = {Path(line).stem for line in capsys.readouterr().out.splitlines()}
    assert {f"trajectory-benchmarks-{done.name}", f"differences-{done.name}"} <= drawn
    assert main(["report", str(done), "-o", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("<svg") >= 4
    assert "checkpoint-48" in page
    assert "safetensors weights are needed" in page
    assert "holds the weights of" in page or "the weights of checkpoint-16" in page


def test_two_series_of_one_name_are_never_one(tmp_path: Path) -> None:
    """Neither in one command nor one after the other; a series that was moved is known by its weights."""
    for place, seed in (("a", 1), ("b", 2)):
        saved_gpt2(tmp_path / place / "x/step_1", seed=seed)
    out = tmp_path / "runs"
    both = RunArguments([str(tmp_path / "a/x"), str(tmp_path / "b/x")], SUITES, out, limit=8)
    with pytest.raises(GlossemeError, match="would share the folder x"):
        list(run_trajectory(both, "all", quiet=True))
    list(run_trajectory(asked(tmp_path / "a/x", out), "all", quiet=True))
    (tmp_path / "b/x/step_1").rename(tmp_path / "b/x/step_2")
    with pytest.raises(GlossemeError, match="another model of this name"):
        list(run_trajectory(asked(tmp_path / "b/x", out), "all", quiet=True))
    assert read_trajectories(out)["revision"].to_list() == ["step_1"]
    (tmp_path / "a").rename(tmp_path / "elsewhere")
    saved_gpt2(tmp_path / "elsewhere/x/step_3", seed=3)
    list(run_trajectory(asked(tmp_path / "elsewhere/x", out), "all", quiet=True))
    assert read_trajectories(out)["revision"].to_list() == ["step_1", "step_3"]


def test_a_checkpoint_of_another_kind_is_missing(tmp_path: Path) -> None:
    """Probabilities of sentences and pseudo-log-likelihoods aren't points of one curve."""
    saved_gpt2(tmp_path / "x/step_1")
    saved_bert(tmp_path / "x/step_2")
    list(run_trajectory(asked(tmp_path / "x", tmp_path / "runs"), "all", quiet=True))
    rows = read_trajectories(tmp_path / "runs").rows_by_key("revision", named=True, unique=True)
    assert rows["step_2"]["reason"] == "it is a masked model, and the first checkpoint is a causal one"


def test_a_request_that_cannot_be_met_leaves_nothing_behind(tmp_path: Path) -> None:
    """Not even for the suite that could have been asked: the next command isn't in its way."""
    saved_gpt2(tmp_path / "x/step_1")
    bad = RunArguments(
        [str(tmp_path / "x")], ["paired-focus/semantics", "wdlmpro"], tmp_path / "runs", data={"wdlmpro": "nowhere"}
    )
    with pytest.raises(GlossemeError):
        list(run_trajectory(bad, "all", quiet=True))
    table = tmp_path / "bad.jsonl"
    table.write_text('{"sentence_good": "a b"}\n')
    bad = RunArguments([str(tmp_path / "x")], [SUITES[0], "blimp"], tmp_path / "runs", data={"blimp": str(table)})
    with pytest.raises(GlossemeError):
        list(run_trajectory(bad, "all", quiet=True))
    assert not list((tmp_path / "runs").rglob("*.json"))


def test_names_that_were_typed_wrongly_do_not_stay(tmp_path: Path) -> None:
    """A name without a step is forgotten by the next command, one with a step by --overwrite; twins stay twins."""
    folder, out = tmp_path / "x", tmp_path / "runs"
    for step in (1, 2, 3):
        saved_gpt2(folder / f"step_{step}", seed=min(step, 2))

    def names(revisions: str, **more: Any) -> list[str]:
        list(run_trajectory(asked(folder, out, **more), revisions, quiet=True))
        return read_trajectories(out)["revision"].to_list()

    assert names("step_1,stp1,step_9") == ["step_1", "step_9", "stp1"]
    assert names("step_2") == ["step_1", "step_2", "step_9"]
    assert names("step_3") == ["step_1", "step_2", "step_3", "step_9"]
    assert read_trajectories(out)["same_as"].to_list() == [None, None, "step_2", None]
    assert names("all", overwrite=True) == ["step_1", "step_2", "step_3"]


def test_the_first_epoch_is_number_0(tmp_path: Path) -> None:
    """It is trained, unlike step 0."""
    assert checkpoints_of(named(tmp_path, *(f"epoch_{n}" for n in range(5))), "log")[0] == [
        *("epoch_0", "epoch_1", "epoch_3", "epoch_4")
    ]


def test_models_that_tell_no_step_are_named(tmp_path: Path) -> None:
    """The final model in the folder, and what is called best."""
    for name in (".", "best", "step_1"):
        saved_gpt2(tmp_path / "x" / name)
    _, notes = checkpoints_of(series_of(str(tmp_path / "x")), "all")
    assert notes == ["left out: models that tell no step: main, best (--revisions takes it by name, main)"]


def test_a_broken_list_of_checkpoints_stops_no_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is named among what is left out."""
    saved_gpt2(tmp_path / "x/step_1")
    list(run_trajectory(asked(tmp_path / "x", tmp_path / "runs"), "all", quiet=True))
    (tmp_path / "runs/x/trajectory.json").write_text("{")
    for command in ("table", "report", "figures"):
        out = [] if command == "table" else ["-o", str(tmp_path / command)]
        assert main([command, str(tmp_path / "runs"), *out]) == 0
    assert "trajectory.json: the list of checkpoints can't be read" in capsys.readouterr().out


def test_what_is_no_file_is_never_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pipe stays a pipe, a link a link."""
    list(run_many(asked("fake:random", tmp_path / "runs"), quiet=True))
    os.mkfifo(tmp_path / "pipe")
    assert main(["report", str(tmp_path / "runs"), "-o", str(tmp_path / "pipe")]) == 2
    assert "this is no file" in capsys.readouterr().err
    assert (tmp_path / "pipe").is_fifo()
    (tmp_path / "link.html").symlink_to(tmp_path / "page.html")
    assert main(["report", str(tmp_path / "runs"), "-o", str(tmp_path / "link.html")]) == 0
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
