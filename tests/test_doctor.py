"""What the doctor reports."""

from __future__ import annotations

import time
import tomllib
from pathlib import Path

import pytest

from glosseme import doctor
from glosseme.doctor import EXTRAS, report


def rows() -> dict[str, doctor.Row]:
    return {row.name: row for row in report()}


def test_a_row_says_name_status_value_and_hint() -> None:
    for name, status, value, hint in report():
        assert name
        assert status in {"ok", "note", "missing"}
        assert value or hint
        assert "\n" not in name + value + hint


def test_versions_devices_folders_and_extras_are_there() -> None:
    names = set(rows())
    assert {
        "glosseme",
        "python",
        "torch",
        "transformers",
        "polars",
        "cpu",
        "converted models",
        "hub",
    } <= names
    assert {f"extra {e}" for e in EXTRAS} <= names


def test_the_extras_are_those_of_the_package() -> None:
    pyproject = Path(__file__).parent.parent / "pyproject.toml"
    declared = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for extra, packages in EXTRAS.items():
        assert set(packages) == {d.partition(">")[0].partition("=")[0] for d in declared[extra]}


def test_what_is_missing_comes_with_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "installed", lambda package: None)
    found = rows()
    assert found["polars"] == ("polars", "missing", "", "pip install polars")
    assert found["extra gguf"][1:] == ("note", "not installed: gguf", "pip install 'glosseme[gguf]'")


def test_a_silent_network_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr(doctor, "_PATIENCE", 0.1)
    monkeypatch.setattr(doctor, "_answers", lambda address: time.sleep(5) is None)
    start = time.monotonic()
    assert rows()["hub"].status == "note"
    assert time.monotonic() - start < 4


def test_a_hub_that_answers_is_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr(doctor, "_answers", lambda address: True)
    assert rows()["hub"].status == "ok"


def test_offline_settings_ask_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr(doctor, "_answers", lambda address: pytest.fail("asked the network"))
    assert "HF_HUB_OFFLINE" in rows()["hub"].value


def test_the_cache_folder_is_the_one_that_was_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLOSSEME_CACHE", str(tmp_path / "not" / "yet"))
    assert str(tmp_path / "not" / "yet") in rows()["converted models"].value
