"""EWoK's texts: in no file of a run, in no message, and on the user's own screen with a word of warning."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path

import polars as pl
import pytest
import torch
import transformers

from benchmark_rows import CROSS, EWOK, PAIR, built, ewok_rows, lines
from glosseme.cli import main
from glosseme.errors import GlossemeError
from glosseme.report.runs import table_of_runs
from glosseme.report.suites import show_items
from glosseme.suites import all_suites
from small_models import save, saved_bert, saved_gpt2, small_gpt2


def everything_in(folder: Path) -> str:
    """Return all that a run's folder holds: bytes of every file, and the values of Parquet and SQLite tables."""
    parts = []
    for path in folder.rglob("*"):
        if path.is_dir():
            continue
        parts += [
            path.name,
            path.read_bytes().decode("utf-8", "replace"),
            path.read_bytes().decode("utf-16", "replace"),
        ]
        if path.suffix == ".parquet":
            parts.append(pl.read_parquet(path).write_csv(include_header=True))
        if path.suffix == ".sqlite":
            with sqlite3.connect(path) as store:
                tables = [name for (name,) in store.execute("select name from sqlite_master where type = 'table'")]
                parts += [str(store.execute(f"select * from {name}").fetchall()) for name in tables]  # noqa: S608
    return "\n".join(parts)


PRIVATE_WORDS = ("wibbly", "nonkers", "quenchmate", "snarlfoe", "greets", "shoves", "friend", "rival", "t7", "m3")


def assert_silent(text: str) -> None:
    words = set(re.findall(r"[a-z0-9]+", text.lower()))
    assert not words & {*PRIVATE_WORDS, *(f"nonkers{i}" for i in range(9))}


@pytest.mark.parametrize("model", ["fake:random", "fake:random-masked", "gpt2", "bert"])
def test_no_word_of_ewok_gets_into_a_run(model: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """With every oddity that a note or warning is about."""
    small = {"gpt2": saved_gpt2, "bert": saved_bert}
    name = str(small[model](tmp_path / model)) if model in small else model
    odd = [
        CROSS | {"Target1": " "},
        CROSS | {"Context2": CROSS["Context1"]},
        CROSS | {"Target2": CROSS["Target1"] + " "},
        CROSS | {"Context1": "Wibbly  greets <|endoftext|> [MASK] Nonkers."},
    ]
    rows = [*ewok_rows(4), *ewok_rows(1), *(odd if model == "fake:random" else odd[:3])]
    path = lines(tmp_path / "data" / "ewok.jsonl", rows)
    arguments = ["run", "-m", name, "-s", "ewok", "--data", str(path), "-o", str(tmp_path / "runs")]
    assert main(arguments) == 0
    said = [*capfd.readouterr(), table_of_runs(tmp_path / "runs"), everything_in(tmp_path / "runs")]
    record = json.loads(next((tmp_path / "runs").rglob("run.json")).read_text(encoding="utf-8"))
    assert len(record["notes"]) >= 3
    assert record["counts"]["items"] == len(rows) - 3
    for text in said:
        assert_silent(text)


def ewok_files(folder: Path) -> list[Path]:
    """Return a file of EWoK in every shape that a user could have it in."""
    rows = ewok_rows(3)
    values = [[str(value) for value in row.values()] for row in rows]
    names = list(rows[0])
    texts = {
        "lines.jsonl": "".join(json.dumps(row) + "\n" for row in rows),
        "list.json": json.dumps(rows),
        **{
            f"head{n}.csv": "\n".join(",".join(row) for row in table)
            for n, table in enumerate([values, [names, *values]])
        },
        **{
            f"head{n}.tsv": "\n".join("\t".join(row) for row in table)
            for n, table in enumerate([values, [names, *values]])
        },
        "texts.txt": "\n".join(row["Target1"] for row in rows),
    }
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    pl.DataFrame(rows).write_parquet(folder / "table.parquet")
    pl.DataFrame([dict(zip(row, row, strict=True)) for row in [values[0][-4:]]]).write_parquet(folder / "bare.parquet")
    return sorted(folder.iterdir())


def test_ewok_given_to_another_suite_by_mistake_is_not_quoted(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whatever reads a file, and whatever the file's kind."""
    run_random = ["run", "-m", "fake:random", "-o", str(tmp_path / "runs"), "-q"]
    sheets = ["sample", "wdlmpro", "-o", str(tmp_path / "sheets"), "--groups", "2"]
    assert main(sheets) == 0
    facts = ["analyse", "mixed", str(tmp_path), "--facts"]
    reading = [
        *([*run_random, "-s", suite.name, "--data"] for suite in all_suites().values() if suite.name != "ewok"),
        *(["show", suite.name, "--data"] for suite in all_suites().values() if suite.name != "ewok"),
        *([*run_random, "-s", "wdlmpro", "--limit", "2", f"--{name}"] for name in ("targets", "counts")),
        ["sample", "wdlmpro", "-o", str(tmp_path / "others"), "--data"],
        ["rate", str(tmp_path / "sheets" / "key.json")],
        ["analyse", "differences", "--published"],
        facts,
    ]
    for path in ewok_files(tmp_path / "ewok"):
        for command in reading:
            assert main([*command, str(path)]) == 2, [*command, path.name]
            said = capfd.readouterr()
            assert_silent((said.out + said.err).replace(path.name, ""))
        assert main(["rate", str(path), str(path)]) == 2
        assert_silent(capfd.readouterr().err)


def test_errors_about_ewok_are_silent(tmp_path: Path) -> None:
    """Wherever in the data or the model they come from."""
    texts = [CROSS[name] for name in ("Context1", "Context2", "Target1", "Target2")]
    broken = {
        "header.csv": ",".join(texts) + "\n" + ",".join(texts) + "\n",
        "fields.csv": "Context1,Context2,Target1,Target2,Domain\n" + ",".join([*texts, "x", texts[0]]) + "\n",
        "quote.csv": 'Context1,Context2,Target1,Target2,Domain\n"' + ",".join(texts) + "\n",
        "half.jsonl": json.dumps(CROSS)[:-20] + "\n",
        "list.jsonl": json.dumps(texts) + "\n",
        "columns.jsonl": json.dumps({text: text for text in texts}) + "\n",
        "object.json": json.dumps(CROSS),
        "domain.jsonl": json.dumps(CROSS | {"Domain": CROSS["Context1"]}) + "\n",
        "empty.jsonl": json.dumps(CROSS | {"Domain": None}) + "\n",
    }
    for name, text in broken.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(GlossemeError) as caught:
            built(EWOK, tmp_path / name)
        assert name in str(caught.value)
        assert_silent(str(caught.value))


def test_errors_of_tokenisation_about_ewok_are_silent(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    torch.manual_seed(0)
    model = save(transformers.GPT2LMHeadModel(small_gpt2(n_positions=8)), tmp_path / "short")
    for name, changes in {"mask": {"Target1": "quenchmate [MASK]"}, "long": {}, "none": {"Target1": "[SEP]"}}.items():
        path = lines(tmp_path / f"{name}.jsonl", [CROSS | changes])
        arguments = ["run", "-m", str(model), "-s", "ewok", "--data", str(path), "-o", str(tmp_path / name)]
        assert main(arguments) == 2
        said = capfd.readouterr()
        assert "ewok, item 'social-relations/1'" in said.err
        assert_silent(said.out + said.err)


def test_a_text_in_the_place_of_a_label_is_not_kept(tmp_path: Path) -> None:
    path = lines(tmp_path / "x.jsonl", [CROSS | {"TargetDiff": CROSS["Target1"], "Version": "1.0"}])
    found = built(EWOK, path)
    assert found.requests["target_contrast"].to_list() == [None] * 4
    assert found.requests["version"][0] == "1.0"
    assert found.notes == ("1 value of TargetDiff is no label and not kept (first: x.jsonl:1)",)


def test_labels_are_kept_that_are_the_authors_or_that_many_items_share(tmp_path: Path) -> None:
    """Names of concepts in the place of labels are numbers, as concepts are."""
    made_up = [{"ContextDiff": f"wibbly {i % 3}", "Version": "nonkers", "ContextType": "quenchmate"} for i in range(30)]
    shared = [{"Domain": "Culinary Facts", "ContextDiff": "synonym", "TargetDiff": "variable swap"}] * 100
    rows = [CROSS | change for change in [*made_up, *shared, {"Domain": "snarlfoe"}]]
    found = built(EWOK, lines(tmp_path / "x.jsonl", rows))
    kept = {name: set(found.requests[name].drop_nulls()) for name in ("domain", "context_type", "version")}
    assert kept["domain"] == {"social-relations", "culinary-facts", "domain-1"}
    assert kept["context_type"] == {"direct", "context-type-1"}
    assert kept["version"] == {"version-1"}
    contrasts = {f"context-contrast-{n}" for n in (1, 2, 3)} | {"antonym", "synonym"}
    assert set(found.requests["context_contrast"]) == contrasts
    assert set(found.requests["target_contrast"]) == {"concept-swap", "variable-swap"}
    assert "30 values of ContextDiff are labels of few items, and numbered (first: x.jsonl:1)" in found.notes
    assert "1 value of Domain is a label of few items, and numbered (first: x.jsonl:131)" in found.notes
    assert_silent(found.requests.drop("context", "text").write_csv() + " ".join(found.notes))


def test_many_values_are_no_labels_however_many_items_share_them(tmp_path: Path) -> None:
    rows = [CROSS | {"ContextDiff": f"wibbly{i % 21}"} for i in range(2100)]
    found = built(EWOK, lines(tmp_path / "x.jsonl", rows))
    assert set(found.requests["context_contrast"]) == {f"context-contrast-{n}" for n in range(1, 22)}


def test_show_prints_the_texts_with_a_word_of_warning(tmp_path: Path) -> None:
    shown = show_items("ewok", "causal", str(lines(tmp_path / "x.jsonl", [CROSS])), 1, 0, {})
    assert "published nowhere" in shown.splitlines()[1]
    assert CROSS["Target1"] in shown
    assert "published nowhere" not in show_items("blimp", "causal", str(lines(tmp_path / "y.jsonl", [PAIR])), 1, 0, {})


def test_concept_pairs_are_clusters_whichever_concept_comes_first(tmp_path: Path) -> None:
    swapped = CROSS | {"ConceptA": CROSS["ConceptB"], "ConceptB": CROSS["ConceptA"]}
    other = CROSS | {"ConceptA": "ally"}
    bare = {k: v for k, v in CROSS.items() if k not in {"ConceptA", "ConceptB", "TemplateID", "MetaTemplateID"}}
    requests = built(EWOK, lines(tmp_path / "x.jsonl", [CROSS, swapped, other])).requests.unique(
        "item", maintain_order=True
    )
    assert requests["concepts"].to_list() == ["social-relations/2", "social-relations/2", "social-relations/1"]
    alone = built(EWOK, lines(tmp_path / "y.jsonl", [bare, bare])).requests
    assert alone["concepts"].n_unique() == 2
