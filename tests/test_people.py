"""Sheets for people, filled sheets against their key, agreement, models on the same groups beside them."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import glosseme
from glosseme.cli import main
from glosseme.errors import GlossemeError
from glosseme.people import draw
from glosseme.people.agreement import agreement, krippendorff_ordinal
from glosseme.people.draw import TASKS, draw_groups
from glosseme.people.ratings import model_ranks, ranks_of, rater_of, summary
from glosseme.people.sheets import read_key, read_sheet, write_sheets
from glosseme.report.people import rate_sheets
from glosseme.suites.wdlmpro.choose import groups_of
from glosseme.suites.wdlmpro.groups import groups
from glosseme.suites.wdlmpro.tables import tables

Rows = list[dict[str, str]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sheets and key as the command writes them."""
    out = tmp_path_factory.mktemp("people") / "sample"
    assert main(["sample", "wdlmpro", "-o", str(out), "--groups", "6", "--seed", "3"]) == 0
    return out


@pytest.fixture(scope="module")
def key(folder: Path) -> pl.DataFrame:
    return read_key(folder / "key.json")


def rows_of(path: Path) -> Rows:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def written(path: Path, rows: Rows, delimiter: str = ",") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def filled(folder: Path, task: str, rank: Callable[[str, int, int], int]) -> Rows:
    """Return the rows of a sheet with ranks by group, place within it and size."""
    rows = rows_of(folder / "sheets" / f"{task}.csv")
    for group in dict.fromkeys(row["group"] for row in rows):
        members = [row for row in rows if row["group"] == group]
        for place, row in enumerate(members):
            row["rank"] = str(rank(group, place, len(members)))
    return rows


def in_order(group: str, place: int, size: int) -> int:
    return place + 1


def backwards(group: str, place: int, size: int) -> int:
    return size - place


def golds(key: pl.DataFrame) -> dict[str, int]:
    """Return the place of each group's right option."""
    return {
        part["group"][0]: part["candidate"].to_list().index(part["target"][0])
        for part in key.partition_by("group", maintain_order=True)
    }


def test_a_sheet_has_groups_of_the_suite_and_no_answer(folder: Path, key: pl.DataFrame) -> None:
    """Six groups a task of five to ten candidates, shuffled, ranks empty, words and definitions of their synsets."""
    wordnet, found = groups_of("wordnet-3.0")
    texts = {row[0]: row[1:] for row in wordnet.synsets.select("synset", "word", "definition").iter_rows()}
    names = wordnet.synsets["synset"].to_list()
    for task, columns in (("W2D", ["word", "definition"]), ("D2W", ["definition", "word"])):
        path = folder / "sheets" / f"{task}.csv"
        rows = rows_of(path)
        assert list(rows[0]) == ["group", columns[0], "option", columns[1], "rank"]
        assert path.read_bytes().startswith("\ufeff".encode())
        assert {row["rank"] for row in rows} == {""}
        asked = key.filter(task=task)
        assert [(r["group"], r["option"]) for r in rows] == asked.select("group", "option").rows()
        for row, (target, candidate) in zip(rows, asked.select("target", "candidate").iter_rows(), strict=True):
            shown = (
                {"word": target, "definition": candidate}
                if task == "W2D"
                else {"word": candidate, "definition": target}
            )
            assert row["word"].removeprefix("'") in (texts[shown["word"]][0], texts[shown["word"]][0].removeprefix("'"))
            assert row["definition"] == texts[shown["definition"]][1]
        for part in asked.partition_by("group"):
            members = found.members.filter(pl.col("target") == names.index(part["target"][0]))["candidate"]
            assert sorted(part["candidate"]) == sorted(names[c] for c in members)
            assert 5 <= part.height <= 10
        assert asked["group"].n_unique() == 6
    assert len(set(golds(key).values())) > 1
    assert (folder / "targets.txt").read_text().split() == sorted(key["target"].unique())


def test_no_sheet_answers_another(key: pl.DataFrame) -> None:
    """No synset is in two groups, of one task or of both."""
    assert key["candidate"].is_unique().all()


def test_a_seed_draws_the_same_sheets(folder: Path, tmp_path: Path) -> None:
    again = write_sheets("wdlmpro", None, tmp_path / "again", n_groups=6, seed=3)
    assert [p.read_bytes() for p in again] == [
        (folder / "sheets" / "W2D.csv").read_bytes(),
        (folder / "sheets" / "D2W.csv").read_bytes(),
        (folder / "key.json").read_bytes(),
        (folder / "targets.txt").read_bytes(),
    ]
    other = write_sheets("wdlmpro", None, tmp_path / "other", n_groups=6, seed=4)
    assert other[0].read_bytes() != again[0].read_bytes()


def test_sheets_that_may_be_filled_are_not_written_over(folder: Path) -> None:
    with pytest.raises(GlossemeError, match=r"W2D.csv: this is there already; choose another folder"):
        write_sheets("wdlmpro", None, folder)


def test_nothing_to_draw(tmp_path: Path) -> None:
    for n_groups, n_candidates in ((0, 10), (20, 4)):
        with pytest.raises(GlossemeError, match="leave nothing to rank"):
            draw_groups("wordnet-3.0", n_groups, n_candidates, 0)
    with pytest.raises(GlossemeError, match="has not 20000 groups"):
        draw_groups("wordnet-3.0", 10_000, 5, 0)
    with pytest.raises(GlossemeError, match="no sheets of 'paired-focus'"):
        write_sheets("paired-focus", None, tmp_path)


def test_what_a_spreadsheet_would_compute_is_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words and definitions that begin like formulas get an apostrophe in front; quotes and commas survive."""
    words = ["=1+1", "+a", "-b", "@c", "d", "e", '"f", g', "h", "i", "j"]
    synsets = pl.DataFrame(
        {
            "synset": [f"s{n}.n.01" for n in range(10)] + ["p.n.01", "q.n.01"],
            "word": [*words, "p", "q"],
            "definition": [f'={n}; a, "b"' for n in range(12)],
        }
    )
    links = pl.DataFrame(
        {
            "child": [f"s{n}.n.01" for n in range(10)],
            "parent": ["p.n.01"] * 5 + ["q.n.01"] * 5,
            "instance": [False] * 10,
        }
    )
    wordnet = tables("small", synsets.with_columns(key="synset"), links)
    monkeypatch.setattr(draw, "groups_of", lambda source: (wordnet, groups(wordnet)))
    [w2d, d2w, *_] = write_sheets("wdlmpro", None, tmp_path, n_groups=1)
    cells = {row[c] for path in (w2d, d2w) for row in rows_of(path) for c in ("word", "definition")}
    assert not [cell for cell in cells if cell[0] in "=+-@"]
    assert all(cell.startswith("'=") or not cell.startswith("'") or cell[1] in "+-@" for cell in cells)
    assert {'\'=1; a, "b"', '"f", g'} & cells


def test_the_right_option_first_is_all_right_and_last_is_all_wrong(
    folder: Path, key: pl.DataFrame, tmp_path: Path
) -> None:
    """P@1 and rank score of a rater who knows all and one who knows worse; ranks by the formula."""
    gold = golds(key)

    def knows(group: str, place: int, size: int) -> int:
        return (place - gold[group]) % size + 1

    def errs(group: str, place: int, size: int) -> int:
        return size + 1 - knows(group, place, size)

    for name, rank in (("all", knows), ("none", errs)):
        for task in TASKS:
            written(tmp_path / f"{task}_{name}-knower.csv", filled(folder, task, rank))
    ranks = ranks_of(sorted(tmp_path.glob("*.csv")), key)
    table = summary(ranks, pl.DataFrame())
    found = {(r["rater"], r["task"], r["metric"]): r["estimate"] for r in table.iter_rows(named=True)}
    for task in TASKS:
        for metric in ("accuracy", "rank_score"):
            assert found["all-knower", task, metric] == 1
            assert found["none-knower", task, metric] == 0
            assert found["people", task, metric] == 0.5


def test_summary_of_ranks_in_order(folder: Path, key: pl.DataFrame, tmp_path: Path) -> None:
    """A plain loop over groups: P@1 is the share of first places, RS is (L - k) / (L - 1)."""
    path = written(tmp_path / "D2W_cleo.csv", filled(folder, "D2W", in_order))
    table = summary(ranks_of([path], key), pl.DataFrame())
    sizes = dict(key.group_by("group").len().iter_rows())
    places = {group: place + 1 for group, place in golds(key).items() if group.startswith("D2W")}
    assert table.filter(metric="accuracy")["estimate"].item() == pytest.approx(
        np.mean([k == 1 for k in places.values()])
    )
    expected = np.mean([(sizes[g] - k) / (sizes[g] - 1) for g, k in places.items()])
    assert table.filter(metric="rank_score")["estimate"].item() == pytest.approx(expected)
    assert table["rater"].unique().to_list() == ["cleo"]
    assert table.filter(metric="accuracy")["chance"].item() == pytest.approx(np.mean([1 / sizes[g] for g in places]))


def test_models_stand_beside_people_on_the_same_options(folder: Path, key: pl.DataFrame, tmp_path: Path) -> None:
    """A run on the targets gives ranks restricted to the sheet's options; one without them is said and left out."""
    files = {"targets": folder / "targets.txt"}
    [run] = glosseme.run("fake:random@5", "wdlmpro", tmp_path / "runs", files=files)
    [small] = glosseme.run("fake:constant", "wdlmpro", tmp_path / "runs", limit=4)
    models, notes = model_ranks([run, small], key)
    assert notes == [f"fake:constant is left out of {task}: its run has not 6 of the groups" for task in TASKS]
    ranks = ranks_of([written(tmp_path / "W2D_dora.csv", filled(folder, "W2D", in_order))], key)
    table = summary(ranks, models).filter(pl.col("rater") == "fake:random@5", pl.col("metric") == "accuracy")
    outcomes = run.outcomes()
    for task in TASKS:
        wanted = outcomes.filter(
            pl.col("task") == task, pl.col("item").is_in(key.filter(task=task)["target"].to_list())
        )
        assert table.filter(task=task)["estimate"].item() == pytest.approx(wanted["correct"].mean())
    # With half of the options gone, only those that are left count.
    gold = pl.col("candidate") == pl.col("target")
    few = key.filter(gold | (pl.int_range(pl.len()) % 2 == 0))
    restricted, _ = model_ranks([run], few)
    scores = run.scores().select("task", pl.col("item").alias("target"), "candidate", "value")
    joined = few.join(scores, on=["task", "target", "candidate"])
    best = joined.group_by("group").agg(
        right=pl.col("value").filter(gold).first() >= pl.col("value").max(), task=pl.col("task").first()
    )
    found = summary(ranks, restricted).filter(pl.col("rater") == "fake:random@5", metric="accuracy", task="W2D")
    assert found["estimate"].item() == pytest.approx(best.filter(task="W2D")["right"].mean())


def test_the_command_prints_people_models_and_agreement(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, rank in (("anna", in_order), ("ben", backwards)):
        for task in TASKS:
            written(tmp_path / name / f"{task}.csv", filled(folder, task, rank))
    sheets = [str(path) for path in sorted(tmp_path.rglob("*.csv"))]
    glosseme.run("fake:random@5", "wdlmpro", tmp_path / "runs", files={"targets": folder / "targets.txt"})
    assert main(["rate", str(folder / "key.json"), *sheets, "--runs", str(tmp_path / "runs")]) == 0
    printed = capsys.readouterr().out
    assert [line.split()[:2] for line in printed.splitlines()[1:9]] == [
        [name, task] for name in ("anna", "ben", "people", "fake:random@5") for task in TASKS
    ]
    assert "agreement of 2 raters, W2D, 6 groups: mean Spearman correlation -1.000, equal first choices .000" in printed
    assert main(["rate", str(folder / "key.json"), *sheets, "--format", "json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert {row["rater"] for row in record["results"]} == {"anna", "ben", "people"}
    assert [row["spearman"] for row in record["agreement"]] == [-1, -1]
    assert rate_sheets(folder / "key.json", [Path(sheets[0])], format_="csv").startswith("rater,task,metric")
    assert "no finished run of wdlmpro" in rate_sheets(folder / "key.json", [Path(sheets[0])], folder)


def test_who_filled_a_sheet() -> None:
    for path, rater in (
        ("W2D_anna.csv", "anna"),
        ("x/anna-D2W.csv", "anna"),
        ("ben/W2D.csv", "ben"),
        ("x/W2D (cy).csv", "(cy)"),
    ):
        assert rater_of(Path(path)) == rater


def test_two_sheets_of_one_rater_and_task(folder: Path, key: pl.DataFrame, tmp_path: Path) -> None:
    paths = [written(tmp_path / name, filled(folder, "W2D", in_order)) for name in ("W2D_anna.csv", "anna_W2D.csv")]
    with pytest.raises(GlossemeError, match="anna has filled W2D in"):
        ranks_of(paths, key)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_what_spreadsheets_make_of_a_sheet_is_read(
    delimiter: str, folder: Path, key: pl.DataFrame, tmp_path: Path
) -> None:
    """Another delimiter, rows sorted otherwise, 3.0 or 3,0 for 3, another encoding, empty rows below."""
    rows = filled(folder, "D2W", in_order)
    plain = read_sheet(written(tmp_path / "plain.csv", rows), key)
    for at, row in enumerate(reversed(rows)):
        row["rank"] = [f"{row['rank']}.0", f" {row['rank']},0 ", row["rank"]][at % 3]
        row["definition"] = "naïve café"
    path = written(tmp_path / "D2W_x.csv", rows[::-1], delimiter)
    path.write_bytes(path.read_text(encoding="utf-8").encode("cp1252") + f"{delimiter * 4}\r\n".encode())
    assert read_sheet(path, key).equals(plain)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rank": ""}, r"W2D_x.csv:3: a rank of W2D-01 is missing; give each option a whole number"),
        ({"rank": "1"}, r"W2D_x.csv:3: rank 1 of W2D-01 stands in line 2 too"),
        ({"rank": "0"}, r"W2D_x.csv:3: rank 0 is out of range in W2D-01"),
        ({"rank": "99"}, r"W2D_x.csv:3: rank 99 is out of range"),
        ({"rank": "1.5"}, r"W2D_x.csv:3: rank 1.5 is out of range"),
        ({"rank": "nan"}, r"W2D_x.csv:3: rank nan is out of range"),
        ({"rank": "first"}, r"W2D_x.csv:3: 'first' is no rank"),
        ({"group": "W2D-77"}, r"W2D_x.csv:3: the key has no group 'W2D-77'"),
        ({"option": "z"}, r"W2D_x.csv:3: group W2D-01 has no option 'z'"),
        ({"option": "a"}, r"W2D_x.csv:3: option a of W2D-01 stands in line 2 too"),
    ],
)
def test_wrong_sheets_are_named_with_their_line(
    change: dict[str, str], message: str, folder: Path, key: pl.DataFrame, tmp_path: Path
) -> None:
    rows = filled(folder, "W2D", in_order)
    rows[1] |= change
    with pytest.raises(GlossemeError, match=message):
        read_sheet(written(tmp_path / "W2D_x.csv", rows), key)


def test_sheets_that_are_not_whole_or_none(folder: Path, key: pl.DataFrame, tmp_path: Path) -> None:
    rows = filled(folder, "W2D", backwards)
    gone = written(tmp_path / "gone.csv", rows[:-2])
    with pytest.raises(GlossemeError, match=r"gone.csv: option \w of W2D-06 is gone \(and 1 more\)"):
        read_sheet(gone, key)
    with pytest.raises(GlossemeError, match=r"no.csv:1: there is no column 'group'"):
        read_sheet(written(tmp_path / "no.csv", [{"a": "b"}]), key)
    (tmp_path / "empty.csv").write_text("group,option,rank\n", encoding="utf-8")
    with pytest.raises(GlossemeError, match="the sheet has no rows"):
        read_sheet(tmp_path / "empty.csv", key)
    with pytest.raises(GlossemeError, match="can't be read"):
        read_sheet(tmp_path / "missing.csv", key)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": 9}', '{"format": 1, "groups": [{}]}', '{"format": 1, "groups": 3}']
)
def test_wrong_keys(text: str, tmp_path: Path) -> None:
    path = tmp_path / "key.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(GlossemeError, match="key") as caught:
        read_key(path)
    assert str(path) in str(caught.value)


def test_krippendorff_of_the_published_example() -> None:
    """Ordinal alpha is .815 in the example of four observers in Krippendorff 2011, Computing Krippendorff's Alpha."""
    none = np.nan
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, none, none, none],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, none, 3],
        [none, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, none],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, none],
    ]
    assert krippendorff_ordinal(np.array(observers).T) == pytest.approx(0.815, abs=5e-4)
    assert krippendorff_ordinal(np.array([[1.0, 1.0], [1.0, 1.0]])) is None
    assert krippendorff_ordinal(np.array([[1.0, none], [2.0, none]])) is None


@given(st.integers(2, 9).flatmap(lambda n: st.tuples(*(st.permutations(range(1, n + 1)),) * 3)))
def test_agreement_is_the_mean_of_pairs(rankings: tuple[list[int], ...]) -> None:
    """Spearman's correlation as scipy has it, and the share of pairs with the same first choice."""
    rows = [
        {"rater": rater, "task": "W2D", "group": "W2D-01", "option": f"{place:02d}", "rank": rank}
        for rater, ranking in zip("abc", rankings, strict=True)
        for place, rank in enumerate(ranking)
    ]
    found = agreement(pl.DataFrame(rows)).row(0, named=True)
    pairs = [(rankings[a], rankings[b]) for a, b in ((0, 1), (0, 2), (1, 2))]
    assert found["spearman"] == pytest.approx(np.mean([stats.spearmanr(a, b).statistic for a, b in pairs]))
    assert found["equal_first"] == pytest.approx(np.mean([a.index(1) == b.index(1) for a, b in pairs]))


def test_one_rater_agrees_with_nobody() -> None:
    one = pl.DataFrame({"rater": "a", "task": "W2D", "group": "g", "option": ["a", "b"], "rank": [1, 2]})
    assert agreement(one).height == 0
