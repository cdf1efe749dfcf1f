"""The reader of the published files: round trips, the counts of the release, bad files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glosseme.errors import GlossemeError
from glosseme.suites.paired_focus import SUITES
from glosseme.suites.paired_focus.frames import CONSTRUCTIONS, first_sentence, follow_up, frames
from glosseme.suites.paired_focus.published import COLUMNS, MASK, PATTERN, read_published
from glosseme.suites.paired_focus.semantics import SEMANTICS
from glosseme.suites.paired_focus.syntax import SYNTAX

PARTS = ["verb", "gerund", "noun", "pronoun", "modal", "x", "y"]


def published(table: pl.DataFrame, construction: str = "let alone") -> list[str]:
    """Return the lines of a file of these frames, in the published form."""
    conditions = pl.DataFrame([tuple(p) for p in PATTERN], schema=list(COLUMNS[:3]), orient="row")
    rows = table.join(conditions, how="cross", maintain_order="left_right")
    order = pl.when(pl.col("Swapped_Condition") == "0").then(pl.lit("xy")).otherwise(pl.lit("yx"))
    mention = pl.when(pl.col("Swapped_Stimulus") == "0").then(pl.lit("xy")).otherwise(pl.lit("yx"))
    connective = pl.when(pl.col("Let-Alone") == "1").then(pl.lit(construction)).otherwise(pl.lit("or"))
    made = rows.select(
        *COLUMNS[:3],
        pl.format("{} {}", first_sentence(order, connective), follow_up(mention, pl.lit(MASK))).alias("sentence"),
        *("verb", "noun", "pronoun", "modal"),
    )
    return ["\t".join(COLUMNS), *("\t".join(row) for row in made.rows())]


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def lines() -> list[str]:
    """Two frames: a head and sixteen rows."""
    return published(frames("core").head(2))


@pytest.fixture(scope="module")
def release() -> Path:
    path = Path(__file__).parents[2] / "shared" / "reference" / "paired-focus" / "let_alone.tsv"
    if not path.exists():
        pytest.skip("the authors' let_alone.tsv is not beside the repository")
    return path


def test_the_release_has_its_frames_and_its_flaws(release: Path) -> None:
    """1,773 frames, 108 of them repeated, one adjective misspelt."""
    read, construction, notes = read_published(release)
    assert construction == "let alone"
    assert read.height == 1773
    assert notes[0].startswith("1,773 frames read, 108 of them repeat")
    assert "'georgeous'" in notes[1]
    assert notes[1].count("'") == 2
    assert read["frame"][0] == "frame-0001"
    assert read["frame"].is_unique().all()
    misspelt = (pl.col("x") == "georgeous") | (pl.col("y") == "georgeous")
    assert read.filter(pl.col("scale").is_null()).equals(read.filter(misspelt))
    assert set(read["scale"].drop_nulls()) == {"size", "quality", "beauty", "brightness"}
    assert read.filter(pl.col("noun") == "lamp").select("x", "y").unique().rows() == [("bright", "dim")]


def test_the_release_gives_the_paper_its_number_of_pairs(release: Path) -> None:
    items = SEMANTICS.build("causal", str(release), {}).requests.unique("item")
    counts = dict(items.group_by("plausibility").len().rows())
    assert counts == {"plausible": 3546, "implausible": 3546}


def test_the_sentences_of_the_suite_are_those_of_the_release(release: Path) -> None:
    requests = SEMANTICS.build("masked", str(release), {}).requests
    made = set(requests["context"].str.replace("___", MASK, literal=True))
    rows = [line.split("\t") for line in release.read_text(encoding="utf-8").splitlines()[1:]]
    assert made == {row[3] for row in rows}


@pytest.mark.parametrize("name", ["core", "extended"])
def test_every_frame_written_is_read_again(name: str, tmp_path: Path) -> None:
    table = frames(name).sample(1500, seed=1)
    read, construction, notes = read_published(write(tmp_path / "some.tsv", published(table)))
    assert construction == "let alone"
    assert read.select(PARTS).equals(table.select(PARTS))
    assert read["template"].equals(table["template"])
    assert read["scale"].equals(table["scale"])
    assert notes == ("1,500 frames read, 0 of them repeat an earlier frame (kept as they are)",)


@given(
    rows=st.lists(st.integers(0, frames("extended").height - 1), min_size=1, max_size=6),
    name=st.sampled_from(CONSTRUCTIONS),
)
@settings(max_examples=25, deadline=None)
def test_reading_undoes_writing(rows: list[int], name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    table = frames("extended")[rows]
    path = write(tmp_path_factory.mktemp("tsv") / "a.tsv", published(table, name))
    read, construction, notes = read_published(path)
    assert construction == name
    assert read.select(PARTS).equals(table.select(PARTS))
    assert f"{len(rows) - len(set(rows))} of them repeat" in notes[0]


def test_a_file_runs_with_its_own_construction_in_every_suite(lines: list[str], tmp_path: Path) -> None:
    path = str(write(tmp_path / "mine.tsv", published(frames("core").head(2), "never mind")))
    for suite in SUITES:
        for kind in suite.kinds:
            built = suite.build(kind, path, {})
            assert set(built.requests["construction"]) == {"never mind"}
            assert built.notes[0].startswith("2 frames read")


def test_a_repeated_frame_stays_with_an_item_of_its_own(tmp_path: Path) -> None:
    one = frames("core").head(1)
    path = str(write(tmp_path / "twice.tsv", published(pl.concat([one, one]))))
    built = SYNTAX.build("causal", path, {})
    assert built.requests.height == 2 * 5 * 4
    assert not built.requests.select(pl.struct("item", "role").is_duplicated().any()).item()
    assert "2 frames read, 1 of them repeat" in built.notes[0]


def test_windows_line_ends_and_a_byte_order_mark_do_no_harm(lines: list[str], tmp_path: Path) -> None:
    path = tmp_path / "windows.tsv"
    path.write_bytes(("\ufeff" + "\r\n".join(lines) + "\r\n").encode())
    assert read_published(path)[0].height == 2


def swap(lines: list[str], a: int, b: int) -> list[str]:
    lines[a], lines[b] = lines[b], lines[a]
    return lines


def replace(lines: list[str], at: int, old: str, new: str) -> list[str]:
    assert old in lines[at]
    lines[at] = lines[at].replace(old, new)
    return lines


BAD: dict[str, tuple[Callable[[list[str]], list[str]], str]] = {
    "missing column": (
        lambda rows: replace(replace(rows, 0, "Sentence", "Text"), 0, "Modal", "Aux"),
        r":1: no column 'Sentence', 'Modal'; its columns are: Swapped_Condition, .*Text",
    ),
    "head only": (lambda rows: rows[:1], r"bad\.tsv: the file has a head and no rows"),
    "short row": (lambda rows: replace(rows, 3, "\tcouldn't", ""), r":4: the row does not have 8 columns"),
    "blank row": (lambda rows: [*rows[:9], "", *rows[9:]], r":10: the row does not have 8 columns"),
    "no mask": (lambda rows: replace(rows, 5, MASK, "easier"), r":6: the sentence has no <MASK>"),
    "other sentence": (
        lambda rows: replace(rows, 2, "You couldn't lift a small rock, let alone a large one. ", ""),
        r":3: the sentence is none of a paired-focus frame",
    ),
    "other modal": (
        lambda rows: replace(rows, 1, "\tcouldn't", "\tcould"),
        r":2: unknown modal 'could'; did you mean \"couldn't\"",
    ),
    "order of conditions": (lambda rows: swap(rows, 2, 3), r":3: the conditions are '101' where .* wants 011"),
    "part of a frame": (lambda rows: rows[:-3], r":14: 13 rows are no whole number of frames"),
    "other construction": (
        lambda rows: [line.replace("let alone", "much more") for line in rows],
        r":2: 'much more' is no paired-focus construction; did you mean 'much less'",
    ),
    "two constructions": (
        lambda rows: replace(rows, 9, "let alone", "never mind"),
        r":10: the file's construction is 'let alone'",
    ),
    "other control": (
        lambda rows: replace(rows, 5, ", or ", ", nor "),
        r":6: word 7 of the sentence is 'nor'; its frame makes 'or' there",
    ),
    "wrong article": (
        lambda rows: replace(rows, 4, "than lifting a small", "than lifting an small"),
        r":5: word 20 of the sentence is 'an'; its frame makes 'a' there",
    ),
    "other noun": (
        lambda rows: replace(rows, 7, "\trock\t", "\tbox\t"),
        r":8: 'Noun' changes inside a frame",
    ),
    "other adjective": (
        lambda rows: replace(rows, 3, "large", "huge"),
        r":4: word 5 of the sentence is 'huge'; its frame makes 'large' there",
    ),
}


@pytest.mark.parametrize(("spoil", "message"), BAD.values(), ids=BAD.keys())
def test_a_bad_file_is_told_with_file_and_line(
    spoil: Callable[[list[str]], list[str]], message: str, lines: list[str], tmp_path: Path
) -> None:
    path = write(tmp_path / "bad.tsv", spoil(lines))
    with pytest.raises(GlossemeError, match=message) as raised:
        read_published(path)
    assert str(path) in str(raised.value)


def test_an_empty_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "empty.tsv"
    path.write_text(" \n\n", encoding="utf-8")
    with pytest.raises(GlossemeError, match=r"empty\.tsv: the file is empty"):
        read_published(path)


def test_a_file_in_another_encoding_is_told_with_its_line(lines: list[str], tmp_path: Path) -> None:
    path = tmp_path / "latin.tsv"
    path.write_bytes("\n".join(replace(lines, 4, "rock", "r\xf6ck")).encode("latin-1"))
    with pytest.raises(GlossemeError, match=r"latin\.tsv:5: is not UTF-8"):
        read_published(path)


def test_a_missing_file_and_a_folder_are_told(tmp_path: Path) -> None:
    with pytest.raises(GlossemeError, match="there is no set and no file"):
        SEMANTICS.build("causal", str(tmp_path / "none.tsv"), {})
    with pytest.raises(GlossemeError, match="cannot be read"):
        read_published(tmp_path)
    with pytest.raises(GlossemeError, match="cannot be read"):
        read_published(tmp_path / "none.tsv")
