"""The page: all there is to say of runs, as text that stays text, in a file that needs nothing else."""

import base64
import hashlib
import json
import re
import unicodedata
from html.parser import HTMLParser
from itertools import pairwise, product
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glosseme.cli import main
from glosseme.errors import GlossemeError
from glosseme.report.page import write_page
from glosseme.report.page.drawings import inline
from glosseme.report.page.text import visible
from glosseme.runs.trajectory_file import Step, write_trajectory
from page_runs import HOSTILE, make_run

VOID = {"meta", "link", "input", "br", "wbr", "img", "hr"}


class Page(HTMLParser):
    """Elements with their attributes, text by element, and whether everything that opens also closes."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def all(self, name):
        return [attributes for tag, attributes in self.elements if tag == name]

    def text(self):
        return " ".join(" ".join(data for tag, data in self.texts if tag not in {"style", "script"}).split())


def page_of(root: Path, out: Path, **options) -> tuple[str, Page]:
    source = write_page([root], out, **options).read_text(encoding="utf-8")
    return source, Page(source)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two models on two suites, one of them with three checkpoints."""
    root = tmp_path_factory.mktemp("runs")
    make_run(root, "org/small", "pairs")
    make_run(root, "org/small", "other", deltas=(None, 0.0, -1.0))
    for step in (1, 2, 1000):
        make_run(root, "toy-lm", "pairs", revision=f"step{step}", deltas=(1.0, -0.25 * step, -0.5, 2.0))
    return root


@pytest.fixture(scope="module")
def made(runs, tmp_path_factory):
    return page_of(runs, tmp_path_factory.mktemp("page") / "page.html")


def test_it_says_what_was_run_and_how(made):
    """Model, revision, commit, kind, suite, data, items, device, attention, versions, time, tokens, notes."""
    _, page = made
    text = page.text()
    for expected in ("2 models, 4 checkpoints, 2 suites, 5 runs, 19 items", "org/small", "step1000", "0123456789ab"):
        assert expected in text
    for expected in ("causal", "sdpa", "cpu", "torch 2.9.0", "1 min 2 s", "1,000", "3,000 (75%)", "a note of the run"):
        assert expected in text
    assert "Run on 2026-01-02." in text


def test_its_estimates_are_those_of_the_tables(made, runs, capsys):
    """The raw values of cells are the numbers that `table` gives, to the last digit."""
    _, page = made
    assert main(["table", str(runs), "--format", "json"]) == 0
    raw = {attributes.get("data-v") for attributes in page.all("td")}
    rows = json.loads(capsys.readouterr().out)
    for row in rows:
        for name in ("estimate", "low"):
            assert row[name] is None or repr(row[name]) in raw
    assert len(rows) > 10


def test_the_worst_items_have_their_texts_and_only_of_the_last_checkpoint(made):
    """Each judged run has a list, the most negative delta first, a tie is not wrong."""
    _, page = made
    lists = [attributes["id"] for attributes in page.all("details") if attributes.get("class") == "list"]
    assert lists == ["items-other-org-small-main", "items-pairs-org-small-main", "items-pairs-toy-lm-step1000"]
    text = page.text()
    assert "1 of 2 items wrong" in text
    of_last = text[text.index("toy-lm@step1000 2 of 4 items wrong") :]
    assert of_last.index("delta −250.000") < of_last.index("delta −.500")
    assert "A context. bad text 1" in text
    assert "Of a trajectory only the last checkpoint is shown." in text


def test_it_is_one_file_without_requests(made):
    """No address of anything, and a policy that lets only its own script run."""
    source, page = made
    addresses = [
        a.get(name) for _, a in page.elements for name in ("src", "href", "action", "data", "srcset") if name in a
    ]
    assert all(address.startswith(("#", "data:,")) for address in addresses)
    assert not re.search(r"url\((?!#)|@import|https?://(?!www\.w3\.org/2000/svg)", source)
    policy = next(a["content"] for a in page.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    script = re.search(r"<script>(.*?)</script>", source, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert len(page.all("script")) == 1
    assert not [name for _, a in page.elements for name in a if name.startswith("on")]


def test_anchors(made):
    """Ids occur once, every link inside the page leads somewhere, every part has a link to itself."""
    _, page = made
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len(set(ids))
    targets = {a["href"][1:] for a in page.all("a")}
    assert targets <= set(ids)
    parts = {a["id"] for tag, a in page.elements if tag in {"figure", "details", "section"} and "id" in a}
    blocks = {a["id"] for a in page.all("div") if a.get("class") == "block"}
    assert parts | blocks <= targets
    assert {"table-pairs-field", "table-pairs-all", "suite-pairs", "overview", "runs"} <= ids_of(page)


def ids_of(page):
    return {a["id"] for _, a in page.elements if "id" in a}


def test_for_every_reader(made):
    """Language, viewport, one h1, headings in order, captions and scopes, a skip link."""
    source, page = made
    assert page.all("html") == [{"lang": "en"}]
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in page.all("meta")
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert len(page.all("caption")) == len(page.all("table"))
    assert all("scope" in a for a in page.all("th"))
    assert page.all("a")[0] == {"class": "skip", "href": "#main"}
    assert "@media print" in source
    assert "prefers-reduced-motion" in source


def test_the_same_runs_make_the_same_bytes(runs, made, tmp_path):
    """Whatever the order of the folders and wherever the page lies."""
    again = write_page([runs, runs], tmp_path / "deep" / "er.html").read_text(encoding="utf-8")
    assert again == made[0]


def test_text_stays_text(tmp_path):
    """Markup in names, texts, factors and notes is shown as such, and control characters are visible."""
    make_run(tmp_path, HOSTILE, texts=(HOSTILE, HOSTILE), context=HOSTILE, notes=[HOSTILE], suite="pairs")
    source, page = page_of(tmp_path, tmp_path / "page.html", title=HOSTILE)
    assert len(page.all("script")) == 1
    assert not page.all("b") or "evil" not in "".join(data for tag, data in page.texts if tag == "b")
    assert "\u202e" not in source
    assert "[U+202E]evil" in page.text()
    assert "</script><script>document.title" in page.text()


@given(st.text())
def test_nothing_invisible_is_left(text):
    """What is shown prints on one line, reorders nothing and can be written as UTF-8."""
    shown = visible(text)
    shown.encode()
    assert len(shown) >= len(text)
    # What Unicode has no character for yet is not printable, and hides nothing.
    known = (char for char in shown if unicodedata.category(char) != "Cn")
    assert all(char.isprintable() or char.isspace() or char in "\u200c\u200d" or ord(char) > 0x2000 for char in known)
    assert not set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\n\r\x00") & set(shown)


@pytest.mark.parametrize("texts", [("secret", "secret"), (None, None)])
def test_private_texts_are_nowhere(tmp_path, texts):
    """A private suite's items are named only, whether the run holds texts or not."""
    make_run(tmp_path, suite="gated", texts=texts, context=texts[0], record={})
    record = next(tmp_path.rglob("run.json"))
    said = json.loads(record.read_text())
    said["suite"]["private"] = texts[0] is not None
    record.write_text(json.dumps(said))
    source, page = page_of(tmp_path, tmp_path / "page.html")
    assert "secret" not in source
    assert "item-2" in page.text()
    assert "items are named only" in page.text()


def test_unfinished_and_broken_runs_are_named(tmp_path):
    """Without the path above the folder of runs."""
    root = tmp_path / "runs"
    make_run(root)
    (make_run(root, "half", status="running") / "scores.parquet").unlink()
    broken = root / "broken" / "main" / "pairs"
    broken.mkdir(parents=True)
    (broken / "run.json").write_text("{")
    source, page = page_of(root, tmp_path / "page.html")
    assert "Not finished: half@main on pairs." in page.text()
    assert "Left out: runs/broken/main/pairs/run.json" in page.text()
    assert str(tmp_path) not in source


def test_checkpoints_that_are_missing_or_doubled_are_named(tmp_path):
    """As the trajectory beside the runs says."""
    make_run(tmp_path / "runs", "toy", revision="step1")
    steps = [Step("step1", 1, "there", weights="a"), Step("step2", 2, "missing", reason="no such revision")]
    last = Step("step4", 4, "there", weights="a")
    write_trajectory(tmp_path / "runs" / "toy", "toy", "a series", [*steps, last])
    _, page = page_of(tmp_path / "runs", tmp_path / "page.html")
    assert "Missing: toy@step2: no such revision." in page.text()
    assert "toy@step4 holds the weights of step1." in page.text()


def test_several_roots_and_a_single_run(tmp_path):
    """Folders of runs and the folder of one run make one page; a suite or a model may be chosen."""
    first, second = make_run(tmp_path / "a", "one"), make_run(tmp_path / "b", "two", "other")
    source = write_page([tmp_path / "a", second], tmp_path / "page.html").read_text()
    assert "2 models, 2 suites, 2 runs, 8 items" in source
    assert "1 model, 1 suite" in write_page([first, second], tmp_path / "page.html", suite="other").read_text()
    assert "1 model, 1 suite" in write_page([first, second], tmp_path / "page.html", model="one").read_text()


def test_errors(tmp_path, capsys):
    """What can't be done is said in one line with what to do."""
    with pytest.raises(GlossemeError, match="no folder of runs"):
        write_page([], tmp_path / "page.html")
    with pytest.raises(GlossemeError, match="no such folder"):
        write_page([tmp_path / "nothing"], tmp_path / "page.html")
    (tmp_path / "empty").mkdir()
    with pytest.raises(GlossemeError, match="no runs"):
        write_page([tmp_path / "empty"], tmp_path / "page.html")
    make_run(tmp_path / "runs")
    with pytest.raises(GlossemeError, match="this is a folder"):
        write_page([tmp_path / "runs"], tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(GlossemeError, match="can't be written"):
        write_page([tmp_path / "runs"], tmp_path / "file" / "page.html")
    assert main(["report", str(tmp_path / "runs"), "-o", str(tmp_path)]) == 2
    assert main(["report", str(tmp_path / "runs"), "-o", str(tmp_path / "page.html"), "--title", "Mine"]) == 0
    assert str(tmp_path / "page.html") in capsys.readouterr().out
    assert "<title>Mine</title>" in (tmp_path / "page.html").read_text()


def test_ids_of_figures_do_not_collide_and_nothing_in_them_runs():
    """Names are under the figure's own, in the order of the drawing, whatever the renderer counted from."""
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="5" onload="x()"><script>x()</script>'
        '<g clip-path="url(#clip{n})"><text>a &lt;b&gt; \u202e</text></g>'
        '<defs><clipPath id="clip{n}"><rect x="0.123456" width="1e1"/></clipPath></defs></svg>'
    )
    one, two = (inline(svg.replace("{n}", n), f"figure-{n}", 'A "title"') for n in "17")
    assert "url(#figure-1-1)" in one
    assert 'id="figure-7-1"' in two
    assert "script" not in one
    assert "onload" not in one
    assert "a &lt;b&gt; [U+202E]" in one
    assert 'viewBox="0 0 10 5"' in one
    assert 'x="0.12"' in one
    with pytest.raises(GlossemeError, match="can't be drawn"):
        inline("<svg", "figure-1", "A")


def test_a_page_of_many_checkpoints_is_small(tmp_path, monkeypatch):
    """Twenty checkpoints on six suites of fifty groups, without figures: the coarse tables have every checkpoint."""
    monkeypatch.setattr("glosseme.report.page.write.figures_of_runs", lambda runs: [])
    groups = [f"g{n}" for n in range(50)]
    for step, n in product(range(20), range(6)):
        deltas = [0.1 * (g - 20) for g in range(50)]
        folder = make_run(tmp_path, "toy", f"suite{n}", revision=f"step{2**step}", deltas=deltas)
        outcomes = folder / "outcomes.parquet"
        pl.read_parquet(outcomes).with_columns(field=pl.Series(groups)).write_parquet(outcomes)
    source, page = page_of(tmp_path, tmp_path / "page.html")
    assert len(source.encode()) < 1_500_000
    assert "step1" in page.text()
    assert "Of each trajectory the last checkpoint" in page.text()


def rows_of(page: Page, source: str, block: str) -> list[list[str]]:
    """The texts of a table's rows."""
    part = source[source.index(f'<div class="block" id="{block}"') :]
    body = part[part.index("<tbody>") : part.index("</tbody>")]
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in body.split("<tr")[1:]]
    return [[re.sub(r"<[^>]+>", "", cell).strip() for cell in row] for row in cells]


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [("limit", 2, "core; a sample of 2, seed None"), ("data", "mine", "mine"), ("dtype", "bfloat16", "core; bfloat16")],
)
def test_a_glance_marks_what_was_asked_in_another_way(tmp_path, key, value, said):
    """A sample beside whole suites of the same model has a mark and a note; the other numbers have none."""
    for model, suite in product(("one", "two", "three"), ("pairs", "other")):
        make_run(tmp_path, model, suite)
    path = next(p for p in tmp_path.rglob("run.json") if (p.parent.name, said_of(p)["model"]) == ("pairs", "two"))
    record = json.loads(path.read_text())
    record["identity"][key] = value
    path.write_text(json.dumps(record))
    source, page = page_of(tmp_path, tmp_path / "page.html")
    assert f"\u00b9 pairs: {said}." in page.text()
    marked = [row for row in rows_of(page, source, "table-overview") if any("\u00b9" in cell for cell in row)]
    assert [row[0] for row in marked] == ["two"]
    assert sum("\u00b9" in cell for cell in marked[0]) == 1


def said_of(path: Path):
    return json.loads(path.read_text())["identity"]


def test_a_glance_has_both_of_two_runs_of_one_suite(tmp_path):
    """The usual one first, the sample in a row of its own."""
    make_run(tmp_path / "whole", "one")
    make_run(tmp_path / "whole", "two")
    folder = make_run(tmp_path / "sample", "one", deltas=(-1.0, -1.0, -1.0, 2.0))
    record = json.loads((folder / "run.json").read_text())
    record["identity"] |= {"limit": 4, "seed": 0}
    (folder / "run.json").write_text(json.dumps(record))
    source, page = page_of(tmp_path, tmp_path / "page.html")
    rows = rows_of(page, source, "table-overview")
    assert [(row[0], row[-1]) for row in rows] == [("one", ".500"), ("two", ".500"), ("one", ".250\u00b9")]


def test_a_glance_says_where_a_whole_suite_is_a_sample(tmp_path):
    for suite in ("pairs", "other"):
        folder = make_run(tmp_path, "one", suite)
        if suite == "pairs":
            record = json.loads((folder / "run.json").read_text())
            record["identity"] |= {"limit": 4, "seed": 0}
            (folder / "run.json").write_text(json.dumps(record))
    _, page = page_of(tmp_path, tmp_path / "page.html")
    assert "pairs: core; a sample of 4, seed 0." in page.text()


def test_what_is_the_same_in_every_row_is_said_once(tmp_path):
    """Above the table; the column is there, unseen, for the file of values."""
    make_run(tmp_path, "one")
    make_run(tmp_path, "two", deltas=(1.0, 1.0, 1.0, 1.0))
    source, _ = page_of(tmp_path, tmp_path / "page.html")
    part = source[source.index('<div class="block" id="table-pairs-all"') :]
    assert "In every row: n 4; ties 0; chance .500." in part[: part.index("<table>")]
    heads = re.findall(r"<th scope=\"col\"([^>]*)>(.*?)</th>", part[: part.index("</thead>")])
    assert {name for attributes, name in heads if "hidden" in attributes} == {"n", "ties", "chance"}


@pytest.mark.parametrize(
    "names",
    [[f"a-long-name-{'x' * 40}-that-ends-in-{n}" for n in range(4)], [f"{'x' * 30}-{n}-{'y' * 30}" for n in range(4)]],
)
def test_long_names_are_told_apart(tmp_path, names):
    """What is seen of them, their two ends or all, differs; the text is whole."""
    for name in names:
        make_run(tmp_path, name)
    source, page = page_of(tmp_path, tmp_path / "page.html")
    assert [row[0] for row in rows_of(page, source, "table-overview")] == names
    part = source[source.index('id="table-overview"') :]
    cut = re.findall(
        r'<span class="name" title="(.*?)"><span>(.*?)</span><span>(.*?)</span>', part[: part.index("</tbody>")]
    )
    whole = re.findall(r'<span class="long">(.*?)</span>', part[: part.index("</tbody>")])
    assert len({(start[:14], end) for _, start, end in cut} | set(whole)) == 4
    assert all(title == start + end for title, start, end in cut)


def test_fakes_with_other_seeds_are_models_of_their_own(tmp_path):
    """Seeds are no steps, of which only the last would be shown."""
    for seed in range(4):
        make_run(tmp_path, "fake:random", revision=str(seed))
    source, page = page_of(tmp_path, tmp_path / "page.html")
    assert [row[1] for row in rows_of(page, source, "table-overview")] == ["0", "1", "2", "3"]
    assert "Of a trajectory" not in page.text()
