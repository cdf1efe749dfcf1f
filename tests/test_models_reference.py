"""What a name stands for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glosseme.errors import GlossemeError
from glosseme.models.reference import FAKES, Reference, parse_reference, safe_label

COMMIT = "607a30d783dfa663caf39e06633721c8d4cfcd7e"

GOOD = [
    ("gpt2", Reference("gpt2", "main", "hub"), "gpt2", "gpt2"),
    (
        "EleutherAI/pythia-160m",
        Reference("EleutherAI/pythia-160m", "main", "hub"),
        None,
        "EleutherAI--pythia-160m",
    ),
    (
        "EleutherAI/pythia-160m@step1000",
        Reference("EleutherAI/pythia-160m", "step1000", "hub"),
        "EleutherAI/pythia-160m@step1000",
        "EleutherAI--pythia-160m",
    ),
    ("a/b@refs/pr/3", Reference("a/b", "refs/pr/3", "hub"), "a/b@refs/pr/3", "a--b"),
    (f"gpt2@{COMMIT}", Reference("gpt2", COMMIT, "hub"), f"gpt2@{COMMIT}", "gpt2"),
    ("gpt2@main", Reference("gpt2", "main", "hub"), "gpt2", "gpt2"),
    ("  gpt2 ", Reference("gpt2", "main", "hub"), "gpt2", "gpt2"),
    ("fake:constant", Reference("fake:constant", "main", "fake"), "fake:constant", "fake-constant"),
    ("fake:random", Reference("fake:random", "0", "fake"), "fake:random@0", "fake-random"),
    ("fake:random@007", Reference("fake:random", "7", "fake"), "fake:random@7", "fake-random"),
    ("fake:random-masked@3", Reference("fake:random-masked", "3", "fake"), None, "fake-random-masked"),
    (
        "offline:gemma-3-270m",
        Reference("offline:gemma-3-270m", "main", "offline"),
        None,
        "offline-gemma-3-270m",
    ),
]

WRONG = [
    ("", "empty"),
    ("   ", "empty"),
    ("gpt2@", "revision after '@' is empty"),
    ("fake:constnt", "did you mean 'fake:constant'"),
    ("fake:", "fake:random"),
    ("fake:constant@1", "has no revisions"),
    ("fake:random@x", "'x' is not a whole number"),
    ("fake:random@-1", "'-1' is not a whole number"),
    ("offline:gemma", "did you mean 'offline:gemma-3-270m'"),
    ("offline:gemma-3-270m@main", "has no revisions"),
    ("./nowhere", "no such folder"),
    ("../nowhere", "no such folder"),
    ("~/nowhere-at-all", "no such folder"),
    ("/nowhere/at/all", "no such folder"),
    ("runs/gpt2/step1", "no such folder"),
    ("nowhere/", "no such folder"),
    ("C:\\models\\mine", "no such folder"),
    ("nowhere.gguf", "no such GGUF file"),
    ("https://huggingface.co/gpt2", "address"),
    ("gpt 2", "neither a folder nor a hub name"),
    ("a--b", "neither a folder nor a hub name"),
    ("a/b@../main", "is not a revision"),
    ("a/b@two words", "is not a revision"),
]


@pytest.mark.parametrize(("text", "reference", "display", "label"), GOOD)
def test_names(text: str, reference: Reference, display: str | None, label: str) -> None:
    parsed = parse_reference(text)
    assert parsed == reference
    assert parsed.display == (display or text)
    assert parsed.label == label


@pytest.mark.parametrize(("text", "says"), WRONG)
def test_a_wrong_name_is_one_line_that_says_why(text: str, says: str) -> None:
    with pytest.raises(GlossemeError, match=says) as caught:
        parse_reference(text)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_folder_comes_before_a_hub_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gpt2").mkdir()
    (tmp_path / "gpt2" / "config.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    for text in ("gpt2", "./gpt2", "gpt2/", str(tmp_path / "gpt2")):
        reference = parse_reference(text)
        assert reference == Reference(str((tmp_path / "gpt2").resolve()), "main", "folder")
        assert reference.label == reference.display == "gpt2"
    assert parse_reference("gpt2@main").source == "hub"


def test_a_folder_may_have_an_at_sign(tmp_path: Path) -> None:
    folder = tmp_path / "mine@step1"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    assert parse_reference(str(folder)).source == "folder"


def test_a_folder_without_config_is_named(tmp_path: Path) -> None:
    with pytest.raises(GlossemeError, match=r"config\.json is missing") as caught:
        parse_reference(str(tmp_path))
    assert str(tmp_path) in str(caught.value)


def test_a_slip_inside_an_existing_folder_is_not_looked_for_on_the_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(GlossemeError, match=r"no such folder.*'out/final@main'"):
        parse_reference("out/final")
    assert parse_reference("out/final@main").source == "hub"


def test_a_local_model_has_no_revision(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(GlossemeError, match="a local model has no revisions"):
        parse_reference(f"{tmp_path}@step1")


def test_a_file_is_a_model_only_as_gguf(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    (tmp_path / "model.safetensors").write_bytes(b"")
    reference = parse_reference(str(tmp_path / "m.gguf"))
    assert (reference.source, reference.label) == ("gguf", "m")
    with pytest.raises(GlossemeError, match="this is a file"):
        parse_reference(str(tmp_path / "model.safetensors"))


@given(st.text(max_size=400))
def test_a_label_is_one_safe_folder_name(text: str) -> None:
    label = safe_label(text)
    assert 0 < len(label.encode()) <= 130
    assert not set(label) & set('/\\:*?"<>| \t\n\0')
    assert not label.startswith(".")
    assert not label.endswith((".", " "))
    assert label.partition(".")[0].lower() not in {"con", "nul", "prn", "aux", "com1", "lpt9"}


@given(st.text(alphabet="ab/", min_size=130, max_size=300), st.text(alphabet="ab/", min_size=130, max_size=300))
def test_long_names_keep_apart(one: str, other: str) -> None:
    assert (safe_label(one) == safe_label(other)) == (one == other)


@pytest.mark.parametrize("name", FAKES)
def test_names_are_parsed_without_importing_anything_heavy(name: str) -> None:
    code = (
        "import sys; from glosseme.models import open_model\n"
        f"open_model({name!r})\n"
        "sys.exit(any(m in sys.modules for m in ('torch', 'transformers')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
