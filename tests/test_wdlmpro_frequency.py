"""Word frequencies: the numbers of groups in each band, the rules of the bands, counts of one's own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from glosseme.errors import GlossemeError
from glosseme.suites.wdlmpro.counts import read_counts
from glosseme.suites.wdlmpro.frequency import band, counts_used, frequencies
from glosseme.suites.wdlmpro.groups import groups
from glosseme.suites.wdlmpro.wordnet import load


@pytest.fixture(scope="module")
def targets() -> pl.DataFrame:
    """The targets of all groups: pos, word."""
    wordnet = load()
    return groups(wordnet).groups.join(wordnet.synsets.select("id", "word"), left_on="target", right_on="id")


def found(words: list[str], counts: Path | None = None) -> dict[str, float | None]:
    """Return the occurrences of words."""
    return dict(frequencies(pl.Series(words), counts).select("word", "occurrences").rows())


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("pos", "rare", "medium", "frequent"), [("noun", 8_697, 7_876, 34_687), ("verb", 543, 610, 7_334)]
)
def test_bands_have_the_known_numbers_of_groups(
    targets: pl.DataFrame, pos: str, rare: int, medium: int, frequent: int
) -> None:
    """With wordfreq 3.1's large English list, words of more than three parts between spaces rare."""
    words = targets.filter(pl.col("pos") == pos)
    bands = words.join(frequencies(words["word"]), on="word")["band"].value_counts()
    assert dict(bands.rows()) == {"rare": rare, "medium": medium, "frequent": frequent}


def test_there_is_one_row_a_word_in_the_order_of_the_words() -> None:
    table = frequencies(pl.Series(["dog", "cat", "dog", None, "jack of all trades"]))
    assert table.schema == {"word": pl.String, "n_tokens": pl.Int64, "occurrences": pl.Float64, "band": pl.String}
    assert table["word"].to_list() == ["dog", "cat", "jack of all trades"]
    assert table["n_tokens"].to_list() == [1, 1, 4]


def test_frequencies_are_wordfreqs_per_billion() -> None:
    """wordfreq rounds to three digits: 1e-7 is 100 exactly, and unknown words are 0."""
    from wordfreq import word_frequency, zipf_frequency

    assert found(["dog"])["dog"] == pytest.approx(word_frequency("dog", "en", wordlist="large") * 1e9)
    assert found(["dog"])["dog"] == pytest.approx(10 ** zipf_frequency("dog", "en", wordlist="large"), rel=0.02)
    assert found(["omeprazole", "qqqqzzzz"]) == {"omeprazole": 100.0, "qqqqzzzz": 0.0}


def test_words_of_more_than_three_tokens_are_rare_without_counting(tmp_path: Path) -> None:
    counts = write(tmp_path / "counts.csv", "cat of nine tails,500\ncat of nine,500\n")
    for file in (None, counts):
        table = frequencies(pl.Series(["cat of nine tails", "cat of nine"]), file)
        assert table["band"].to_list() == ["rare", "frequent"]
        assert table["occurrences"].is_null().to_list() == [True, False]


def test_tokens_may_be_nltks() -> None:
    """NLTK parts the possessive from its noun."""
    words = pl.Series(["no man's land", "man's land"])
    by_spaces, by_nltk = frequencies(words), frequencies(words, tokens="nltk")
    assert (by_spaces["n_tokens"].to_list(), by_nltk["n_tokens"].to_list()) == ([3, 2], [4, 3])
    assert (by_spaces["band"].to_list(), by_nltk["band"].to_list()) == (["frequent"] * 2, ["rare", "frequent"])


@pytest.mark.parametrize(
    ("occurrences", "expected"),
    [(0, "rare"), (9, "rare"), (10, "medium"), (99, "medium"), (100, "frequent"), (10**9, "frequent"), (None, "rare")],
)
def test_bands_are_the_papers(occurrences: int | None, expected: str) -> None:
    table = pl.DataFrame({"n": [occurrences]}, schema={"n": pl.Float64})
    assert table.select(band(pl.col("n"))).item() == expected


def test_a_language_that_wordfreq_lacks_is_named() -> None:
    with pytest.raises(GlossemeError, match="no frequencies of the language 'tlh'; give counts"):
        frequencies(pl.Series(["qapla"]), language="tlh")


def test_a_language_is_that_of_its_region() -> None:
    words = pl.Series(["hund"])
    assert frequencies(words, language="de-AT").equals(frequencies(words, language="de"))


def test_the_note_names_the_counts() -> None:
    assert counts_used().startswith("wordfreq 3.")
    assert counts_used("/far/away/westbury.tsv") == "counts of westbury.tsv"


@pytest.mark.parametrize(
    "text",
    [
        "word,count\ndog,12\n\nhot dog,3\n",
        'dog,12\r\n"hot dog",3\r\n',
        "word\tcount\ndog\t12\nhot dog\t3\n",
        "\ufeffdog\t12.0\nhot dog\t3\n",
        "Dog,10\ndog,2\nhot dog,3\ncat,99\n",
    ],
)
def test_counts_of_a_file_are_read(tmp_path: Path, text: str) -> None:
    """With or without a header, commas or tabs; counts of words that differ in case add up."""
    counts = write(tmp_path / "counts.txt", text)
    assert found(["dog", "hot dog", "newt"], counts) == {"dog": 12.0, "hot dog": 3.0, "newt": 0.0}
    assert read_counts(counts, ["Hot Dog"]) == {"Hot Dog": 3.0}


def test_words_with_commas_and_quotation_marks_are_read(tmp_path: Path) -> None:
    assert read_counts(write(tmp_path / "a.csv", '"one, two",5\n'), ["one, two"]) == {"one, two": 5.0}
    assert read_counts(write(tmp_path / "a.tsv", '"\t7\ndog"\t8\n'), ['"', 'dog"']) == {'"': 7.0, 'dog"': 8.0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dog,12\ncat\n", r"counts\.csv:2: a line has two columns and this one 1; give each line a word and a count"),
        ("dog,12\n\ncat,1,2\n", r"counts\.csv:3: a line has two columns and this one 3"),
        ("dog,many\n", r"counts\.csv:1: 'many' is no count"),
        ("word\tcount\ndog\t-1\n", r"counts\.csv:2: '-1' is no count"),
        ("dog,nan\n", r"counts\.csv:1: 'nan' is no count"),
        ("dog,12\n ,3\n", r"counts\.csv:2: there is no word"),
        ("dog,12\ncat,1\ndog,12\n", r"counts\.csv:3: 'dog' stands in line 1 too; keep one line a word"),
    ],
)
def test_a_bad_line_of_counts_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(GlossemeError, match=message):
        read_counts(write(tmp_path / "counts.csv", text), ["dog", "cat"])


def test_counts_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(GlossemeError, match=r"no\.csv: the counts can't be read \(No such file"):
        read_counts(tmp_path / "no.csv", ["dog"])
    (tmp_path / "counts.csv").write_bytes(b"dog,1\n\xff,2\n")
    with pytest.raises(GlossemeError, match=r"counts\.csv: this is no CSV or TSV file in UTF-8"):
        read_counts(tmp_path / "counts.csv", ["dog"])


def test_what_takes_long_to_import_is_not_imported_with_the_modules() -> None:
    names = ("wordnet", "groups", "depth", "frequency")
    code = "import sys; " + "; ".join(f"import glosseme.suites.wdlmpro.{name}" for name in names)
    code += "; sys.exit(sorted({'nltk', 'wordfreq', 'wn', 'torch', 'transformers'} & set(sys.modules)) != [])"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
