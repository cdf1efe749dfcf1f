"""Tables in five formats, read back where they can be."""

from __future__ import annotations

import csv
import io
import json
import re

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glosseme.errors import GlossemeError
from glosseme.report.cells import counted
from glosseme.report.tables import FORMATS, as_csv, as_json, as_latex, as_markdown, as_text, render

ROW = {
    "model": "EleutherAI/pythia-14m",
    "revision": "main",
    "suite": "paired-focus/semantics",
    "data": "core",
    "dtype": "float32",
    "options": "",
    "construction": "let alone",
    "metric": "accuracy",
    "estimate": 0.635,
    "low": 0.5801,
    "high": 0.6899,
    "n": 3546,
    "dropped": 0,
    "ties": 2,
    "chance": 0.5,
    "n_clusters": 198,
}
UNDEFINED = {"estimate": None, "low": None, "high": None, "n": 0, "ties": None, "chance": None, "n_clusters": 0}


def table(*rows: dict[str, object]) -> pl.DataFrame:
    return pl.DataFrame([ROW | row for row in rows], infer_schema_length=None)


def test_text_prints_proportions_without_a_leading_zero():
    lines = as_text(table({})).splitlines()
    assert lines[0] == "EleutherAI/pythia-14m@main  paired-focus/semantics  (data core)"
    assert lines[1].split() == ["construction", "accuracy", "95%", "n", "ties", "chance", "clusters"]
    assert re.sub(" {2,}", "|", lines[2].strip()) == "let alone|.635|[.58, .69]|3546|2|.500|198"


def test_text_has_a_row_a_group_with_further_metrics_as_columns():
    rows = table({}, {"metric": "delta_treated", "estimate": 1.5}, {"construction": "much less", "estimate": 0.25})
    lines = as_text(rows).splitlines()[1:4]
    assert lines[0].split()[-1] == "delta_treated"
    assert [line.split()[-1] for line in lines[1:]] == ["1.500", "-"]
    assert as_markdown(rows).count("let alone") == as_latex(rows).count("let alone") == 1


@pytest.mark.parametrize("format_", ["text", "markdown", "latex"])
def test_two_runs_of_the_same_are_two_rows(format_):
    assert render(table({}, {"estimate": 0.25}), format_).count("let alone") == 2


def test_text_aligns_numbers_at_their_end():
    rows = table({}, {"construction": "not to mention", "estimate": 1.0, "n": 7}, {"metric": "mean", "estimate": -12.5})
    lines = as_text(rows).splitlines()[1:4]
    ends = [m.end() for line in lines[1:] for m in [re.search(r"-?\d*\.\d{3}", line)] if m]
    assert set(ends) == {lines[0].index("accuracy") + len("accuracy")}
    assert len({len(line) for line in lines}) == 1


def test_text_has_a_block_for_each_model_revision_and_suite():
    text = as_text(table({}, {"revision": "step1"}, {"metric": "delta"}, {"suite": "blimp", "data": None}))
    heads = [line for line in text.splitlines() if line.startswith("EleutherAI")]
    assert heads == [
        "EleutherAI/pythia-14m@main  paired-focus/semantics  (data core)",
        "EleutherAI/pythia-14m@step1  paired-focus/semantics  (data core)",
        "EleutherAI/pythia-14m@main  blimp",
    ]


def test_text_says_what_is_unusual_once_or_in_each_row():
    once = as_text(table({"dtype": "bfloat16"}, {"dtype": "bfloat16"}))
    assert "(data core; dtype bfloat16)" in once.splitlines()[0]
    mixed = as_text(table({"dtype": "bfloat16"}, {"dtype": "float32"})).splitlines()
    assert "dtype" in mixed[1].split()
    assert mixed[2].split()[0] == "bfloat16"


def test_text_shows_items_that_were_dropped_only_where_there_are():
    assert "dropped" not in as_text(table({}))
    assert "dropped" in as_text(table({"dropped": 3})).splitlines()[1]


def test_text_leaves_out_the_factors_that_a_suite_has_not():
    other = pl.DataFrame([ROW | {"suite": "blimp", "field": "syntax"}]).drop("construction")
    both = pl.concat([table({}), other], how="diagonal")
    first, second = as_text(both).split("\n\n")[:2]
    assert "field" not in first
    assert "construction" not in second
    assert "syntax" in second


def test_narrow_intervals_have_more_digits():
    assert "[.634, .636]" in as_text(table({"low": 0.6341, "high": 0.6361}))
    assert "[.6345, .6355]" in as_text(table({"low": 0.6345, "high": 0.6355}))


@pytest.mark.parametrize("format_", ["text", "markdown", "latex"])
def test_undefined_is_a_dash_and_never_a_number(format_):
    shown = render(table(UNDEFINED, {"estimate": float("nan"), "low": float("inf"), "high": 1.0}), format_)
    assert not re.search(r"nan|inf|None|null", shown)


def test_notes_stand_below_the_text():
    text = render(table({}), "text", notes=["3,546 items\nof core", "x"])
    assert text.splitlines()[-2:] == ["3,546 items of core", "x"]


def test_units_are_said_by_those_who_know_them():
    """A metric's name doesn't tell its unit: nats, nats per token, probabilities or cosines."""
    assert "nats" not in as_text(table({"metric": "mean"}))


def test_json_is_strict_and_has_what_matters_first():
    shown = as_json(table({}, UNDEFINED, {"estimate": float("nan"), "low": float("-inf")}))
    rows = json.loads(shown, parse_constant=pytest.fail)
    first = ["model", "revision", "suite", "metric", "construction", "estimate", "low", "high", "n", "ties", "chance"]
    assert list(rows[0])[:11] == first
    assert rows[0]["construction"] == "let alone"
    assert rows[0]["estimate"] == 0.635
    assert isinstance(rows[0]["n"], int)
    assert [rows[1][k] for k in ("estimate", "low", "ties", "chance")] == [None] * 4
    assert (rows[2]["estimate"], rows[2]["low"]) == (None, None)
    assert rows[0]["dtype"] == "float32"


def test_json_gives_each_suite_its_own_factors():
    other = pl.DataFrame([ROW | {"suite": "blimp", "field": None}, ROW | {"suite": "blimp", "field": "syntax"}])
    both = pl.concat([table({}), other.drop("construction")], how="diagonal")
    factors = [{k: row[k] for k in row if k in {"construction", "field"}} for row in json.loads(as_json(both))]
    assert factors == [{"construction": "let alone"}, {"field": None}, {"field": "syntax"}]


def test_csv_reads_back_in_full_precision():
    rows = table({"estimate": 1 / 3}, UNDEFINED | {"construction": 'a,"b"\nc'})
    back = pl.read_csv(io.StringIO(as_csv(rows)))
    assert back["estimate"].to_list() == [1 / 3, None]
    assert back["construction"].to_list() == ["let alone", 'a,"b"\nc']
    assert back.columns[:6] == ["model", "revision", "suite", "data", "construction", "metric"]
    assert as_csv(table({"estimate": float("nan")})).splitlines()[1].split(",")[6] == ""


def test_markdown_has_as_many_cells_in_every_row():
    shown = as_markdown(table({"construction": "a|b\n*c*"}, {}))
    cells = [re.split(r"(?<!\\)\|", line) for line in shown.splitlines()]
    assert len({len(row) for row in cells}) == 1
    assert r"a\|b \*c\*" in shown
    assert "delta_treated" in as_markdown(
        table({"metric": "delta_treated"})
    )  # an underscore inside a word is no markup


def test_latex_escapes_what_it_would_take_for_commands():
    shown = as_latex(table({"construction": r"a&b%c$d#e_f{g}h~i^j\k"}))
    wanted = r"a\&b\%c\$d\#e\_f\{g\}h\textasciitilde{}i\textasciicircum{}j\textbackslash{}k"
    assert wanted in shown
    assert shown.splitlines()[:2] == [r"\begin{tabular}{lllllrrrrrr}", r"\toprule"]
    assert shown.splitlines()[-2:] == [r"\bottomrule", r"\end{tabular}"]
    assert "$-$.250" in as_latex(table({"estimate": -0.25}))


def test_latex_rows_have_a_cell_for_each_column():
    lines = as_latex(table({}, {"construction": "a & b"})).splitlines()
    columns = len(re.search(r"\{([lr]+)\}$", lines[0])[1])
    for line in (lines[2], *lines[4:-2]):
        assert line.endswith(r" \\")
        assert len(re.split(r"(?<!\\)&", line)) == columns


@given(st.text(max_size=20), st.sampled_from(sorted(FORMATS)))
@settings(max_examples=150, deadline=None)
def test_any_name_stays_one_cell(name, format_):
    shown = render(table({"construction": name}, {}), format_)
    plain = render(table({"construction": "x"}, {}), format_)
    if format_ == "json":
        assert json.loads(shown)[0]["construction"] == name
    elif format_ == "csv":
        rows = list(csv.reader(io.StringIO(shown, newline="")))
        assert [row[4] for row in rows] == ["construction", name, "let alone"]
    else:
        assert len(shown.splitlines()) == len(plain.splitlines())


@pytest.mark.parametrize("format_", sorted(FORMATS))
def test_a_table_without_rows_is_no_fault(format_):
    assert isinstance(render(table({}).clear(), format_), str)


def test_an_unknown_format_is_answered_with_the_nearest():
    with pytest.raises(GlossemeError, match=r"'markdwn'.*did you mean 'markdown'"):
        render(table({}), "markdwn")


@pytest.mark.parametrize(("n", "text"), [(0, "0 runs"), (1, "1 run"), (2, "2 runs"), (1200, "1,200 runs")])
def test_one_is_singular(n, text):
    assert counted(n, "run") == text


def test_wide_characters_take_two_columns():
    lines = as_text(table({"construction": "更不用说"}, {})).splitlines()[1:4]
    assert lines[1].index(".635") + 4 == lines[2].index(".635")
