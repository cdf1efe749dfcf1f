"""The command line: exit codes, one clear line for each mistake, and what is printed."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal

from glosseme.cli import main
from glosseme.runs.folder import find_runs
from small_models import saved_bert

COMMAND = [sys.executable, "-m", "glosseme"]


def fails(capsys, *arguments: str) -> str:
    """Run a wrong command: exit code 2, one or two lines on stderr, nothing on stdout, no traceback."""
    assert main(list(arguments)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert 1 <= len(err.strip().splitlines()) <= 2
    assert "Traceback" not in err
    return err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "-m", "fake:constant", "-s", "paired-focsu"], "did you mean 'paired-focus"),
        (["run", "-m", "fake:konstant", "-s", "paired-focus"], "did you mean 'fake:constant'"),
        (["run", "-m", "./no/such/folder", "-s", "paired-focus"], "no/such/folder"),
        (["run", "-m", "no/such/model.gguf", "-s", "paired-focus"], "no such GGUF file"),
        (["run", "-m", "fake:constant", "-s", "paired-focus/affinity"], "masked"),
        (["run", "-m", "fake:constant"], "--suite"),
        (["run", "-m", "fake:constant", "-s", "paired-focus", "--limit", "many"], "'--limit'"),
        (["run", "-m", "fake:constant", "-s", "paired-focus", "--option", "control"], "NAME=VALUE"),
        (["show", "paired-focus", "--kind", "autoregressive"], "no kind of model"),
        (["show", "paired-focsu"], "paired-focus"),
        (["table", "no/such/folder"], "no such folder"),
        (["tabel"], "tabel"),
        (["run", "--nosuch"], "--nosuch"),
    ],
)
def test_a_wrong_request_is_one_clear_line(arguments, message, capsys, tmp_path, monkeypatch):
    """What is wrong, where, and what to do; exit code 2."""
    monkeypatch.chdir(tmp_path)
    assert message in fails(capsys, *arguments)


def test_a_wrong_file_is_named_with_its_line(capsys, tmp_path):
    """A data file without its columns is refused with path and line."""
    bad = tmp_path / "bad.tsv"
    bad.write_text("Sentence\tNoun\nYou couldn't lift a small rock.\trock\n")
    err = fails(
        capsys,
        *("run", "-m", "fake:constant", "-s", "paired-focus/semantics"),
        *("--data", str(bad), "-o", str(tmp_path)),
    )
    assert "bad.tsv:1" in err
    assert "Swapped_Condition" in err


def test_an_unwritable_folder(capsys, tmp_path):
    """A folder that can't be made is refused before any work."""
    (tmp_path / "file").write_text("")
    arguments = ("run", "-m", "fake:constant", "-s", "paired-focus", "-o", str(tmp_path / "file" / "runs"))
    assert "can't be written" in fails(capsys, *arguments)


def test_too_long_for_the_context(capsys, tmp_path):
    """A text longer than the model's context names the item and both lengths; no weights are needed for that."""
    folder = saved_bert(tmp_path / "bert")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 8}))
    err = fails(capsys, "run", "-m", str(folder), "-s", "paired-focus/semantics", "--limit", "16", "-o", str(tmp_path))
    assert "paired-focus/semantics, item" in err
    assert "the model takes 8" in err


def test_from_a_model_to_a_table(capsys, tmp_path):
    """run, then table in JSON: the documented keys, and chance exactly for a constant scorer."""
    out = str(tmp_path / "runs")
    assert main(["run", "-m", "fake:constant", "-s", "paired-focus", "--limit", "160", "-o", out, "-q"]) == 0
    folders = capsys.readouterr().out.split()
    assert [Path(f).name for f in folders] == ["semantics", "syntax"]
    assert main(["table", out, "--by", "construction", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    accuracy = [r for r in rows if r["metric"] == "accuracy"]
    assert {r["suite"] for r in accuracy} == {"paired-focus/semantics", "paired-focus/syntax"}
    assert {r["construction"] for r in accuracy} == {"let alone", "much less", "not to mention", "never mind"}
    for row in accuracy:
        assert {"model", "revision", "suite", "metric", "estimate", "low", "high", "n", "ties", "chance"} <= set(row)
        assert row["estimate"] == row["chance"] == 0.5
        assert row["ties"] == row["n"] == 40
        assert row["low"] < 0.5 < row["high"]


@pytest.mark.parametrize("format_", ["text", "json", "csv", "markdown", "latex"])
def test_every_format_of_a_table(format_, capsys, tmp_path):
    """Each format prints, and only the text has notes."""
    out = str(tmp_path / "runs")
    main(["run", "-m", "fake:random@3", "-s", "paired-focus/syntax", "--limit", "40", "-o", out, "-q"])
    capsys.readouterr()
    assert main(["table", out, "--format", format_]) == 0
    printed = capsys.readouterr().out
    assert "pseudocleft" in printed
    assert ("a sample: limit 40" in printed) == (format_ == "text")


def test_an_unknown_factor_names_those_there_are(capsys, tmp_path):
    """--by with a factor that no suite has."""
    out = str(tmp_path / "runs")
    main(["run", "-m", "fake:constant", "-s", "paired-focus/syntax", "--limit", "8", "-o", out, "-q"])
    capsys.readouterr()
    assert "construction" in fails(capsys, "table", out, "--by", "constructon")
    assert "latex" in fails(capsys, "table", out, "--format", "latx")


def test_show_and_suites_print_items(capsys):
    """What a reader sees before running anything."""
    assert main(["show", "paired-focus", "-n", "1"]) == 0
    shown = capsys.readouterr().out
    assert "treated-expected" in shown
    assert "let alone" in shown
    assert main(["suites"]) == 0
    listed = capsys.readouterr().out
    for name in ("semantics", "semantics-pll", "syntax", "affinity"):
        assert f"paired-focus/{name}" in listed


def test_help_waits_for_no_heavy_import():
    """--help loads neither torch nor transformers nor polars."""
    code = (
        "import sys, glosseme.cli as c\n"
        "assert c.main(['--help']) == 0\n"
        "heavy = {'torch', 'transformers', 'polars', 'scipy', 'numpy'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "quickstart" in done.stdout


def test_unexpected_errors_have_no_traceback(capsys, monkeypatch):
    """An error of ours is exit code 1 and one line; --debug raises it."""
    monkeypatch.setattr("glosseme.report.suites.list_suites", lambda: 1 / 0)
    assert main(["suites"]) == 1
    assert "unexpected ZeroDivisionError" in capsys.readouterr().err
    with pytest.raises(ZeroDivisionError):
        main(["suites", "--debug"])


def test_kill_9_and_the_same_command_again(tmp_path):
    """A run killed in the middle goes on and ends with the same files, value for value."""
    model = str(saved_bert(tmp_path / "bert"))
    arguments = [
        *COMMAND,
        "run",
        "-m",
        model,
        "-s",
        "paired-focus/syntax",
        "--limit",
        "1500",
        "--batch-size",
        "4",
        "-q",
    ]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    for name in ("whole", "killed"):
        process = subprocess.Popen([*arguments, "-o", str(tmp_path / name)], env=environment, stdout=subprocess.DEVNULL)
        if name == "killed":
            stored = wait_for_values(tmp_path / name)
            process.send_signal(signal.SIGKILL)
            process.wait()
            assert stored > 0
            assert not [run for run in find_runs(tmp_path / name) if run.finished]
            process = subprocess.Popen([*arguments, "-o", str(tmp_path / name)], env=environment)
        assert process.wait(timeout=120) == 0
    (whole,), (killed,) = (list(find_runs(tmp_path / name)) for name in ("whole", "killed"))
    assert killed.record["execution"]["questions_stored"] > 0
    assert_frame_equal(killed.scores(), whole.scores(), check_exact=True)
    assert_frame_equal(killed.outcomes(), whole.outcomes(), check_exact=True)


def wait_for_values(out: Path) -> int:
    """Return how many values are in the store as soon as there are some."""
    for _ in range(600):
        time.sleep(0.1)
        for path in out.rglob("values.sqlite"):
            try:
                with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
                    count = db.execute("SELECT count(*) FROM value").fetchone()[0]
            except sqlite3.Error:
                continue
            if count:
                return int(count)
    return 0


def test_ctrl_c_says_that_the_same_command_goes_on(tmp_path):
    """An interrupt ends with exit code 1 and one line, whenever it comes."""
    model = str(saved_bert(tmp_path / "bert"))
    arguments = ["run", "-m", model, "-s", "paired-focus/syntax", "--limit", "2000", "--batch-size", "2"]
    process = subprocess.Popen([*COMMAND, *arguments, "-o", str(tmp_path / "runs")], stderr=subprocess.PIPE, text=True)
    assert wait_for_values(tmp_path / "runs") > 0
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert err.strip().splitlines()[-1] == "glosseme: stopped; the same command goes on where it stopped"


def test_escapes_in_names_and_files_stay_text(capsys, tmp_path):
    """What a terminal would obey is not printed as it is."""
    bad = tmp_path / "bad\x1b[31m.tsv"
    bad.write_text("a\rb\n")
    arguments = ("run", "-m", "fake:constant", "-s", "paired-focus", "--data", str(bad), "-o", str(tmp_path))
    err = fails(capsys, *arguments)
    assert "\x1b" not in err
    assert len(err) < 700


def test_two_models_of_one_folder_name(capsys, tmp_path):
    """Two checkpoints whose folders share a name would share a run: refused before anything is loaded."""
    one, two = saved_bert(tmp_path / "a" / "final"), saved_bert(tmp_path / "b" / "final", seed=1)
    arguments = ("run", "-m", str(one), "-m", str(two), "-s", "paired-focus", "-o", str(tmp_path / "runs"))
    assert "would share the folder" in fails(capsys, *arguments)


def test_a_damaged_store_is_named(capsys, tmp_path):
    """A store that is no database is an error with its path and what to do."""
    out = tmp_path / "runs"
    main(["run", "-m", "fake:constant", "-s", "paired-focus/syntax", "--limit", "8", "-o", str(out), "-q"])
    (store,) = out.rglob("values.sqlite")
    for path in store.parent.glob("values.sqlite*"):
        path.write_bytes(b"no database" * 1000)
    capsys.readouterr()
    arguments = ("run", "-m", "fake:constant", "-s", "paired-focus/syntax", "--limit", "16", "-o", str(out), "-q")
    assert "values.sqlite" in fails(capsys, *arguments)
