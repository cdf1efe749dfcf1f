"""BLiMP, COMPS and EWoK: what is asked, where it is read from, and what is said of odd rows."""

from __future__ import annotations

import csv
import json
import shutil
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from huggingface_hub import errors as hub_errors
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmark_rows import BLIMP, COMPS, CROSS, EWOK, PAIR, PHRASE, TAGS, blimp_rows, built, ewok_rows, lines, run
from glosseme.designs import ROLES, judge
from glosseme.errors import GlossemeError
from glosseme.hub import reach
from glosseme.measures import REQUEST_COLUMNS, check_requests
from glosseme.models import open_model
from glosseme.progress import QuietProgress
from glosseme.report.runs import summary_of_runs, table_of_runs
from glosseme.report.suites import show_items
from glosseme.runs.evaluate import evaluate
from glosseme.runs.options import asked_of
from glosseme.suites import all_suites
from glosseme.suites.benchmarks import source
from glosseme.suites.sample import sample
from glosseme.suites.suite import Suite

COMMIT = "a" * 40


# What is asked


@pytest.mark.parametrize(
    ("suite", "row", "kind", "options"),
    [
        *((BLIMP, PAIR | TAGS, kind, {}) for kind in ("causal", "masked")),
        *((COMPS, PHRASE, k, {"measure": m}) for k, m in product(("causal", "masked"), ("sentence", "conditional"))),
        *((EWOK, CROSS, kind, {}) for kind in ("causal", "masked")),
    ],
)
def test_requests_are_well_formed(
    suite: Suite, row: dict[str, Any], kind: Any, options: dict[str, str], tmp_path: Path
) -> None:
    requests = built(suite, lines(tmp_path / "x.jsonl", [row]), kind, **options).requests
    check_requests(requests, kind, suite.name)
    assert requests.columns == [*REQUEST_COLUMNS, *suite.factors]
    assert tuple(requests["role"]) == ROLES[suite.design]
    assert {suite.cluster, suite.unit, *suite.by, *suite.balance} <= {"item", *suite.factors}


def test_blimp_asks_for_whole_sentences(tmp_path: Path) -> None:
    path = lines(tmp_path / "x.jsonl", [PAIR | TAGS])
    assert built(BLIMP, path).requests.row(0)[:9] == (
        *("agreement_1/0", "good", "sentence", None, "The cat sleeps."),
        *("morphology", "subject_verb_agreement", "agreement_1", "false"),
    )
    assert set(built(BLIMP, path, "masked").requests["measure"]) == {"pll"}


def test_comps_asks_for_sentences_or_for_the_property(tmp_path: Path) -> None:
    path = lines(tmp_path / "comps_base.jsonl", [PHRASE])
    asked = ("measure", "context", "text")
    assert built(COMPS, path).requests.select(asked).rows() == [
        ("sentence", None, "A dog barks."),
        ("sentence", None, "A cat barks."),
    ]
    for kind, measure in (("causal", "conditional"), ("masked", "pll")):
        requests = built(COMPS, path, kind, measure="conditional").requests
        assert requests.select(asked).rows() == [(measure, "A dog", "barks."), (measure, "A cat", "barks.")]


def test_ewok_crosses_targets_with_contexts(tmp_path: Path) -> None:
    requests = built(EWOK, lines(tmp_path / "x.jsonl", [CROSS])).requests
    assert requests.select("role", "measure", "context", "text").rows() == [
        (f"target{t}-context{c}", "conditional", CROSS[f"Context{c}"], CROSS[f"Target{t}"])
        for t, c in product("12", "12")
    ]
    assert requests.row(0, named=True)["target_contrast"] == "concept-swap"


@pytest.mark.parametrize(("suite", "chance"), [(BLIMP, 0.5), (COMPS, 0.5), (EWOK, 0.25)], ids=lambda s: str(s)[:5])
@pytest.mark.parametrize("kind", ["", "-masked"])
def test_a_constant_scorer_gets_exactly_chance(suite: Suite, chance: float, kind: str, tmp_path: Path) -> None:
    """With a tie in every item, and unequal numbers of items."""
    rows = {
        "blimp": [*blimp_rows("a", 3), *blimp_rows("b", 5)],
        "comps": [PHRASE | {"id": i, "acceptable_concept": f"dog {i}"} for i in range(7)],
        "ewok": [*ewok_rows(3), *ewok_rows(2, Domain="agent-properties")],
    }[suite.name]
    run(suite, lines(tmp_path / "x.jsonl", rows), tmp_path / "runs", f"fake:constant{kind}")
    table = summary_of_runs(tmp_path / "runs").filter(metric="accuracy")
    assert (table["estimate"] == chance).all()
    assert (table["ties"] == table["n"]).all()
    assert (table["chance"] == chance).all()


def test_ewok_is_right_when_each_target_prefers_its_own_context(tmp_path: Path) -> None:
    done = run(EWOK, lines(tmp_path / "x.jsonl", ewok_rows(40)), tmp_path / "runs")
    wide = done.scores().pivot("role", index="item", values="logprob")
    one = wide["target1-context1"] > wide["target1-context2"]
    two = wide["target2-context2"] > wide["target2-context1"]
    assert (one & two).cast(pl.Float64).to_list() == done.outcomes()["correct"].to_list()
    assert 0 < done.outcomes()["correct"].mean() < 1  # type: ignore[operator]


# The whole of BLiMP


def test_the_published_phenomena_and_fields(tmp_path: Path) -> None:
    """Labels of the authors' files that differ from the paper's 12 phenomena and 4 fields."""
    rows = [
        *blimp_rows("animate_subject_passive", 1, field="syntax", linguistics_term="s-selection"),
        *blimp_rows("principle_A_reconstruction", 1, field="syntax/semantics", linguistics_term="binding"),
    ]
    requests = built(BLIMP, lines(tmp_path / "x.jsonl", rows)).requests.unique("item", maintain_order=True)
    assert requests["phenomenon"].to_list() == ["argument_structure", "binding"]
    assert requests["field"].to_list() == ["syntax", "syntax_semantics"]


def test_the_average_gives_each_paradigm_the_same_weight(tmp_path: Path) -> None:
    data = tmp_path / "data"
    lines(data / "a.jsonl", blimp_rows("a", 40))
    lines(data / "b.jsonl", blimp_rows("b", 4, sentence_good="x"))
    done = run(BLIMP, data, tmp_path / "runs")
    outcomes = done.outcomes()
    means = outcomes.group_by("paradigm").agg(pl.col("correct", "delta").mean())
    assert means["correct"].n_unique() == 2
    whole = summary_of_runs(tmp_path / "runs", by=[])
    for metric, column in (("accuracy", "correct"), ("delta", "delta")):
        row = whole.filter(metric=metric).row(0, named=True)
        assert row["estimate"] == pytest.approx(means[column].mean())
        assert row["estimate"] != pytest.approx(outcomes[column].mean())
        assert row["low"] < row["estimate"] < row["high"]
    assert "each the same weight" in table_of_runs(tmp_path / "runs")
    by = summary_of_runs(tmp_path / "runs", by=["paradigm"]).filter(metric="accuracy")
    assert by["estimate"].mean() == pytest.approx(whole.filter(metric="accuracy")["estimate"].item())


def test_a_limit_is_balanced_over_paradigms(tmp_path: Path) -> None:
    rows = [*blimp_rows("a", 50), *blimp_rows("b", 9), *blimp_rows("c", 9)]
    requests = built(BLIMP, lines(tmp_path / "x.jsonl", rows)).requests
    drawn = sample(requests, BLIMP, 12, seed=3).unique("item")
    assert sorted(drawn.group_by("paradigm").len()["len"]) == [4, 4, 4]


def test_comps_keeps_to_a_subset_and_says_so(tmp_path: Path) -> None:
    for name in ("comps_base", "comps_wugs", "comps_wugs_dist-before", "comps_wugs_dist-in-between"):
        lines(tmp_path / f"{name}.jsonl", [PHRASE])
    found = built(COMPS, tmp_path)
    assert found.requests["item"].unique().to_list() == ["base/1"]
    assert "wugs, wugs-dist-before, wugs-dist-in-between besides base, left out" in found.notes[0]
    assert built(COMPS, tmp_path, subset="wugs-dist-before").requests["subset"][0] == "wugs-dist-before"
    assert built(COMPS, tmp_path, subset="all").requests["item"].n_unique() == 4
    with pytest.raises(GlossemeError, match=r"nothing of the subset 'base'.*--option subset=wugs"):
        built(COMPS, tmp_path / "comps_wugs.jsonl")


# Odd rows


def test_what_cannot_be_asked_is_left_out_and_counted(tmp_path: Path) -> None:
    rows = [PAIR, PAIR | {"sentence_bad": " "}, PAIR | {"sentence_good": None}, {"sentence_good": "A."}]
    found = built(BLIMP, lines(tmp_path / "x.jsonl", rows))
    assert found.requests.height == 2
    assert any("3 items are left out" in note and "(first: x.jsonl:2)" in note for note in found.notes)


def test_identical_members_tie_and_are_said(tmp_path: Path) -> None:
    rows = [PAIR, PAIR | {"pairID": "1", "sentence_bad": PAIR["sentence_good"]}]
    path = lines(tmp_path / "x.jsonl", rows)
    assert any("1 item has two identical members and ties (first: x.jsonl:2)" in n for n in built(BLIMP, path).notes)
    assert run(BLIMP, path, tmp_path / "runs").outcomes()["tie"].to_list() == [False, True]


def test_crossed_items_without_a_right_answer_are_left_out(tmp_path: Path) -> None:
    """Of one target each preference is the other's contrary: no scorer is right, and chance would be 0."""
    rows = [
        *ewok_rows(300),
        *(row | {"Target2": row["Target1"] + " "} for row in ewok_rows(300)),
        *(row | {"Context2": row["Context1"]} for row in ewok_rows(1)),
    ]
    path = lines(tmp_path / "x.jsonl", rows)
    assert built(EWOK, path).notes == (
        "1 item is left out: its two contexts are the same (first: x.jsonl:601)",
        "300 items are left out: their two targets are the same (first: x.jsonl:301)",
    )
    # A scorer without knowledge: a value at random for each context and text.
    requests = built(EWOK, path).requests
    asked = requests.select("context", "text").unique(maintain_order=True)
    value = pl.Series("value", np.random.default_rng(5).normal(size=asked.height))
    scores = requests.join(asked.with_columns(value), on=["context", "text"]).with_columns(suite=pl.lit("ewok"))
    correct = judge(scores, "cross")["correct"].to_list()
    assert len(correct) == 300
    # Three standard errors of 300 draws beside a quarter.
    assert abs(sum(correct) / 300 - 0.25) < 3 * (0.25 * 0.75 / 300) ** 0.5


@pytest.mark.parametrize(
    ("suite", "row", "change", "why"),
    [
        (BLIMP, PAIR, {"sentence_bad": ""}, "a text of theirs is empty or missing"),
        (COMPS, PHRASE, {"property_phrase": None}, "a text of theirs is empty or missing"),
        (EWOK, CROSS, {"Context1": "  "}, "a text of theirs is empty or missing"),
        (EWOK, CROSS, {"Target2": CROSS["Target1"]}, "their two targets are the same"),
    ],
)
def test_a_file_of_which_nothing_can_be_asked_is_an_error(
    suite: Suite, row: dict[str, Any], change: dict[str, Any], why: str, tmp_path: Path
) -> None:
    path = lines(tmp_path / "x.jsonl", [row | change, row | change])
    for ask in (lambda: built(suite, path), lambda: show_items(suite.name, "causal", str(path), 2, 0, {})):
        with pytest.raises(GlossemeError, match=f"no item can be asked; 2 items are left out: {why}") as caught:
            ask()
        assert str(caught.value).startswith("x.jsonl:1: ")


@pytest.mark.parametrize(
    ("value", "says"),
    [(["a b"], "is a list"), ({"a": 1}, "is an object"), (7, "is a number and"), (True, "is a truth value and")],
)
def test_a_text_is_a_string(value: Any, says: str, tmp_path: Path) -> None:
    """In every kind of file that has other values, and never quoted."""
    rows = [PAIR, PAIR | {"sentence_bad": value}]
    (tmp_path / "x.json").write_text(json.dumps(rows), encoding="utf-8")
    pl.DataFrame([PAIR | {"sentence_bad": value}] * 2).write_parquet(tmp_path / "x.parquet")
    for path, line in ((lines(tmp_path / "x.jsonl", rows), 2), (tmp_path / "x.json", 2), (tmp_path / "x.parquet", 1)):
        with pytest.raises(GlossemeError, match=f"{path.name}:{line}: sentence_bad {says}") as caught:
            built(BLIMP, path)
        assert "a b" not in str(caught.value)


def test_names_and_labels_may_be_numbers_but_no_lists(tmp_path: Path) -> None:
    rows = [PAIR | TAGS | {"pairID": n, "UID": float("nan")} for n in (3, 4)]
    requests = built(BLIMP, lines(tmp_path / "x.jsonl", rows)).requests
    assert requests["item"].unique(maintain_order=True).to_list() == ["x/3", "x/4"]
    assert requests["lexically_identical"][0] == "false"
    with pytest.raises(GlossemeError, match=r"y\.jsonl:1: field is a list"):
        built(BLIMP, lines(tmp_path / "y.jsonl", [PAIR | {"field": ["a"]}]))


@pytest.mark.parametrize("suite", all_suites().values(), ids=all_suites())
@pytest.mark.parametrize("empty", ["", " "])
def test_an_empty_path_is_not_the_current_folder(
    suite: Suite, empty: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an unset variable of the shell leaves of a path."""
    lines(tmp_path / "x.jsonl", [PAIR])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(GlossemeError, match="--data: the data have an empty name"):
        asked_of(suite, empty)


def test_columns_that_look_like_names_are_shown_and_others_counted(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("good,bad one,UID\na,b,c\n", encoding="utf-8")
    with pytest.raises(GlossemeError, match=r"its columns are: good, bad one, UID$"):
        built(BLIMP, tmp_path / "x.csv")
    (tmp_path / "y.csv").write_text("A cat sleeps.,A cat sleep.,UID,p1\na,b,c,d\n", encoding="utf-8")
    with pytest.raises(GlossemeError, match=r"UID and 3 that are not shown .the first row looks like texts"):
        built(BLIMP, tmp_path / "y.csv")


def test_repeated_items_are_said_and_keep_names_of_their_own(tmp_path: Path) -> None:
    found = built(BLIMP, lines(tmp_path / "x.jsonl", [PAIR, PAIR]))
    assert found.requests["item"].n_unique() == 2
    assert "1 item repeats an earlier one and counts again (first: x.jsonl:2)" in found.notes
    thrice = built(BLIMP, lines(tmp_path / "x.jsonl", [PAIR] * 3)).notes
    assert "2 items repeat earlier ones and count again (first: x.jsonl:2)" in thrice


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        (
            "x.jsonl",
            '{"sentence_good": "a", "sentence_bad": "b"}\n{"sentence_good": \n',
            r"x\.jsonl:2: this is no JSON",
        ),
        ("x.jsonl", "[1]\n", r"x\.jsonl:1: this is no JSON object"),
        ("x.jsonl", "\n", "no columns 'sentence_good', 'sentence_bad'"),
        ("x.jsonl", '{"good": "a", "bad": "b"}\n', "no columns .* its columns are: good, bad"),
        ("x.json", '{"sentence_good": "a"}', "no list of objects"),
        ("x.json", "[1, 2", r"x\.json:1: this is no JSON"),
        ("x.csv", "sentence_good,sentence_bad\na,b\na,b,c\n", r"x\.csv:3: the row has 3 fields and the header has 2"),
        ("x.csv", 'sentence_good,sentence_bad\na,"b\n', r"x\.csv:2: the row can't be read"),
        ("x.csv", "sentence_good,sentence_bad\n", "no rows"),
        ("x.parquet", "no parquet", "no Parquet that can be read"),
        ("x.txt", "a", "ends in '.txt'"),
        ("y/z.txt", "a", "no file of BLiMP"),
    ],
)
def test_broken_files_are_told_in_one_line(name: str, text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(GlossemeError, match=says) as caught:
        built(BLIMP, path if path.parent == tmp_path else path.parent)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_file_in_another_encoding_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes("sentence_good,sentence_bad\ncaf\xe9,b\n".encode("latin-1"))
    with pytest.raises(GlossemeError, match="isn't in UTF-8"):
        built(BLIMP, tmp_path / "x.csv")


# Kinds of file


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(TEXT, TEXT).filter(lambda r: all(t.strip() for t in r)), min_size=1, max_size=4))
def test_every_kind_of_file_gives_the_same_items(rows: list[tuple[str, str]], tmp_path: Path) -> None:
    """Whatever characters the texts have: quotes, separators, line ends of other systems."""
    objects = [PAIR | TAGS | {"sentence_good": g, "sentence_bad": b, "pairID": str(i)} for i, (g, b) in enumerate(rows)]
    table = pl.DataFrame(objects).rename({"pairID": "pair_id"})
    lines(tmp_path / "x.jsonl", objects)
    (tmp_path / "x.json").write_text(json.dumps(objects), encoding="utf-8")
    table.write_parquet(tmp_path / "x.parquet")
    for name, separator in (("x.csv", ","), ("x.tsv", "\t")):
        with (tmp_path / name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, delimiter=separator)
            writer.writerow(["Sentence Good", "SENTENCE_BAD", *table.columns[2:]])
            writer.writerows([[row[k] for k in ("sentence_good", "sentence_bad")] + row_tail(row) for row in objects])
    found = [built(BLIMP, tmp_path / f"x.{kind}").requests for kind in ("jsonl", "json", "parquet", "csv", "tsv")]
    texts = found[0].drop("lexically_identical")
    assert all(table.drop("lexically_identical").equals(texts) for table in found)


def row_tail(row: dict[str, Any]) -> list[Any]:
    return [row[k] for k in ("UID", "pairID", "field", "linguistics_term", "lexically_identical")]


def test_a_csv_may_begin_with_remarks(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("# a licence, and more\nsentence_good,sentence_bad,UID\na,b,p\n", encoding="utf-8")
    assert built(BLIMP, path).requests["text"].to_list() == ["a", "b"]


def test_a_hash_covers_every_file_and_stays_wherever_the_folder_lies(tmp_path: Path) -> None:
    for name in ("data/a.jsonl", "data/sub/b.jsonl"):
        lines(tmp_path / "one" / name, [PAIR])
    shutil.copytree(tmp_path / "one", tmp_path / "elsewhere" / "two")
    (tmp_path / "one/README.md").write_text("no data", encoding="utf-8")
    lines(tmp_path / "one/.cache/c.jsonl", [PAIR])

    def hashed(folder: str) -> str | None:
        return asked_of(BLIMP, str(tmp_path / folder)).data_sha256

    before = hashed("one")
    assert before == hashed("elsewhere/two")
    lines(tmp_path / "elsewhere/two/data/sub/b.jsonl", [PAIR | {"pairID": "1"}])
    assert hashed("elsewhere/two") != before
    (tmp_path / "one/data/sub/b.jsonl").rename(tmp_path / "one/data/sub/c.jsonl")
    assert hashed("one") != before


# The hub


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty cache and a hub that nothing answers at."""
    source._of_hub.cache_clear()
    monkeypatch.setattr(reach, "_known", {})
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")


@pytest.mark.parametrize("suite", [BLIMP, COMPS, EWOK], ids=lambda s: s.name)
def test_without_a_hub_one_line_says_what_to_do(suite: Suite, no_hub: None) -> None:
    with pytest.raises(GlossemeError, match=r"the hub can't be reached.*--data PATH") as caught:
        asked_of(suite)
    assert "\n" not in str(caught.value)
    assert ("hf auth login" in str(caught.value)) == (suite is EWOK)


@pytest.mark.parametrize(
    ("error", "status", "says"),
    [
        (
            hub_errors.GatedRepoError,
            403,
            "accept its terms at https://.*/datasets/ewok-core/.*hf auth login, or give --data",
        ),
        (hub_errors.RepositoryNotFoundError, 404, "the hub has no such data set.*hf auth login.*--data"),
        (hub_errors.HfHubHTTPError, 500, "the hub refused: down; give --data PATH"),
    ],
)
def test_refusals_are_told_in_words(
    monkeypatch: pytest.MonkeyPatch, no_hub: None, error: Any, status: int, says: str
) -> None:
    import httpx2

    def refuse(*_: Any, **__: Any) -> None:
        raise error("down", response=httpx2.Response(status, request=httpx2.Request("GET", "https://huggingface.co/x")))

    monkeypatch.setattr("huggingface_hub.snapshot_download", refuse)
    with pytest.raises(GlossemeError, match=says) as caught:
        asked_of(EWOK)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("suite", "rows", "file", "revision"),
    [
        (BLIMP, blimp_rows("adjunct_island", 2), "adjunct_island/train-00000-of-00001.parquet", "main"),
        (COMPS, [PHRASE], "base/train/0000.parquet", "refs/convert/parquet"),
        (EWOK, [CROSS], "data/test-00000-of-00001.parquet", "main"),
    ],
    ids=["blimp", "comps", "ewok"],
)
def test_a_data_set_of_the_hub_is_read_and_recorded_by_its_commit(
    suite: Suite,
    rows: list[dict[str, Any]],
    file: str,
    revision: str,
    monkeypatch: pytest.MonkeyPatch,
    no_hub: None,
    tmp_path: Path,
) -> None:
    folder = tmp_path / "snapshots" / COMMIT
    (folder / file).parent.mkdir(parents=True)
    pl.DataFrame(rows).write_parquet(folder / file)
    seen: list[dict[str, Any]] = []

    def download(name: str, **asked: Any) -> str:
        seen.append({"name": name} | asked)
        return str(folder)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    done = evaluate(open_model("fake:random"), [asked_of(suite)], tmp_path / "runs", QuietProgress())[0]
    assert done.folder.name == suite.name
    assert done.record["identity"]["data"] == f"{seen[0]['name']}@{COMMIT}"
    assert done.record["identity"]["data_sha256"] is None
    assert done.outcomes().height == len(rows)
    assert len(seen) == 1
    assert (seen[0]["repo_type"], seen[0]["revision"]) == ("dataset", revision)
