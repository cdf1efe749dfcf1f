"""Figures: what is in them, that text stays text, and that the same runs give the same bytes."""

import json
import re
from dataclasses import replace
from html import unescape
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

from glosseme.cli import main
from glosseme.errors import GlossemeError
from glosseme.report.charts.bands import bands_chart
from glosseme.report.charts.changes import changes_chart, first_differences
from glosseme.report.charts.deltas import binned, histograms_chart, quantiles, quantiles_chart
from glosseme.report.charts.dots import models_chart
from glosseme.report.charts.estimates import about, condition_of, final_runs
from glosseme.report.charts.learning import figures_of_curves
from glosseme.report.charts.names import interval, labels
from glosseme.report.charts.sizes import sizes_chart
from glosseme.report.charts.theme import finished, log_ticks, pixels
from glosseme.report.charts.trajectories import panels_chart, trajectory_chart
from glosseme.report.figure import Figure
from glosseme.report.figures import figures_of_runs, png, svg, write_figures
from glosseme.runs.folder import read_run

NASTY = "<script>alert(1)</script>"
QUOTED = "a\"b'c"
NESTED = "v1.5[0]\\x"
SVG = "{http://www.w3.org/2000/svg}"
MOST = 150_000


def drawn(chart, title="A title", caption="A caption."):
    """The SVG of a chart of whatever kind, which is valid Vega-Lite: drawing doesn't check that."""
    whole = finished(chart, title, caption)
    assert whole.to_dict(validate=True)["$schema"].startswith("https://vega.github.io/schema/vega-lite/")
    return svg(Figure("x", title, caption, whole, (), ()))


def tree(source):
    return ElementTree.fromstring(source)  # noqa: S314  # drawn a moment ago


def texts(source):
    """The texts of an SVG, as they are read."""
    return ["".join(node.itertext()) for node in tree(source).iter(f"{SVG}text")]


def marks(source, role="point"):
    """The labels of an SVG's marks for screen readers."""
    nodes = tree(source).iter()
    return [n.get("aria-label") for n in nodes if n.get("aria-roledescription") == role and n.get("aria-label")]


def size(source):
    root = tree(source)
    return float(root.get("width")), float(root.get("height"))


def models(names, panels=("plausible", "implausible"), **columns):
    rows = [
        {
            **{"name": name, "panel": panel, "objective": ("causal", "masked")[i % 2], "n": 96, "chance": 0.5},
            **{"estimate": 0.3 + 0.6 * i / max(1, len(names)) - 0.05 * k, "parameters": 10 ** (7 + i % 4) * (1 + i)},
            **{"tokens": 10**9 * (i + 1) if i % 3 else None},
        }
        for i, name in enumerate(names)
        for k, panel in enumerate(panels)
    ]
    table = pl.DataFrame(rows).with_columns(low=pl.col("estimate") - 0.04, high=pl.col("estimate") + 0.04)
    return about(table.with_columns(**columns), "name", "panel")


def curves(names=("semantics plausible", "semantics implausible", "syntax", "ewok"), steps=(1, 8, 64, 512), **columns):
    rows = [
        {
            **{"curve": name, "suite": "paired-focus/" + name.split()[0], "model": "m", "revision": f"step{step}"},
            **{"step": step, "estimate": 0.3 + 0.01 * (k + 1) * ((i * 7) % 5 + i), "n": 10},
            **{"chance": 0.25 if name == "ewok" else 0.5},
        }
        for k, name in enumerate(names)
        for i, step in enumerate(steps)
    ]
    table = pl.DataFrame(rows).with_columns(low=pl.col("estimate") - 0.1, high=pl.col("estimate") + 0.1)
    return table.with_columns(**columns)


def make_run(root, model, revision, suite="paired-focus/semantics", *, seed=0, data="core", parameters=None, n=48):
    """A run folder as `glosseme run` leaves it, with outcomes drawn at random."""
    rng = np.random.default_rng(seed)
    delta = rng.normal(0.4, 1, n)
    factors = {
        "construction": [("let alone", "much less", "not to mention", "never mind")[i % 4] for i in range(n)],
        "plausibility": [("plausible", "implausible")[i // 4 % 2] for i in range(n)],
        "template": [f"t{i // 8}" for i in range(n)],
    }
    outcomes = pl.DataFrame(
        {
            **{"suite": suite, "item": [f"i{i}" for i in range(n)], "correct": (delta > 0).astype(float)},
            **{"delta": delta, "tie": False, "chance": 0.5, "delta_treated": delta, "delta_control": 0.0},
            **factors,
        }
    )
    folder = root / re.sub(r"\W+", "-", model) / revision / suite
    folder.mkdir(parents=True)
    outcomes.write_parquet(folder / "outcomes.parquet")
    pl.DataFrame({"item": ["i0"], "measure": ["continuation"]}).write_parquet(folder / "scores.parquet")
    said = {"name": suite, "design": "contrast", "reduction": "sum", "options": {}, "cluster": "template"}
    said |= {"by": ["construction", "plausibility"], "also": [["plausibility"], []], "where": {}, "apart": []}
    identity = {"model": model, "revision": revision, "suite": suite, "data": data, "dtype": "float32", "options": {}}
    record = {
        **{"format": 1, "status": "finished", "identity": identity, "suite": said, "notes": []},
        "model": {"name": model, "kind": "causal", "parameters": parameters},
    }
    (folder / "run.json").write_text(json.dumps(record), encoding="utf-8")
    return read_run(folder)


def test_models_have_a_row_each_with_labels_chance_and_intervals():
    """Every model and panel is named, and a point says its numbers."""
    source = drawn(models_chart(models(["lab/one", "lab/two"])))
    said = texts(source)
    assert {"one", "two", "plausible", "implausible", "accuracy (share of items)", "causal", "masked"} <= set(said)
    labels_ = marks(source)
    assert len(labels_) == 4
    assert "lab/two, plausible: .60 [.56, .64], n = 96" in labels_
    assert source.count('stroke-dasharray="3,3"') == 2


def test_one_model_needs_no_legend():
    said = texts(drawn(models_chart(models(["one"], ("all items",)))))
    assert "one" in said
    assert "causal" not in said


def test_without_an_interval_a_point_stands_alone():
    none = pl.lit(None, pl.Float64)
    source = drawn(models_chart(models(["one", "two"], low=none, high=none)))
    assert len(marks(source)) == 4
    assert any(label.endswith("two, plausible: .60, n = 96") for label in marks(source))


def test_without_any_estimate_rows_stay_and_points_go():
    none = pl.lit(None, pl.Float64)
    source = drawn(models_chart(models(["one", "two"], estimate=none, low=none, high=none)))
    assert {"one", "two"} <= set(texts(source))
    assert "NaN" not in source


def test_forty_models_with_long_names_stay_in_the_column():
    names = [f"organisation/{'a-long-name-' * 5}{i:02}" for i in range(40)]
    source = drawn(models_chart(models(names)))
    width, height = size(source)
    assert 450 < width <= 560
    assert height > 40 * 15
    assert len(source) < MOST
    assert len({text for text in texts(source) if "…" in text}) == 40


@pytest.mark.parametrize("name", [NASTY, QUOTED, NESTED, "$x^2$ & <b>", "名前", "a.b.c"])
def test_names_stay_text(name):
    """Neither markup nor what means nesting in a field's name does anything."""
    for chart in (
        models_chart(models([name, "other"], (name, "panel"))),
        sizes_chart(models([name, "other"], (name,)), ["parameters"]),
        trajectory_chart(curves((name, "syntax"))),
        panels_chart(curves((name, "syntax"))),
    ):
        source = drawn(chart, name, name)
        assert "<script" not in source
        said = unescape(" ".join([*texts(source), *marks(source)]))
        assert name in said or name.rsplit("/", 1)[-1] in said


def test_sizes_have_logarithmic_axes_in_round_numbers():
    rows = models(["one", "two", "three", "four"], ("all items",))
    source = drawn(sizes_chart(rows, ["parameters", "tokens"]))
    said = texts(source)
    assert {"parameters", "training tokens", "10M", "100M", "1B", "10B", "one", "causal", "masked"} <= set(said)
    # Two of four models have a known number of tokens: the others are in one panel only.
    assert len(marks(source)) == 4 + rows["tokens"].count()


def test_ticks_are_few_and_round():
    for low, high in ((1, 1), (1, 143_000), (14e6, 12e9), (300e9, 3e12), (997, 1003)):
        ticks = log_ticks(low, high)
        assert 1 <= len(ticks) <= 6
        assert all(low <= tick <= high for tick in ticks)


def test_curves_are_named_beside_their_ends_and_no_names_collide():
    source = drawn(trajectory_chart(curves()))
    said = texts(source)
    names = ["semantics plausible", "semantics implausible", "syntax", "ewok", "chance (.25, ewok)", "chance (.50)"]
    assert set(names) <= set(said)
    assert len(marks(source)) == 16
    assert size(source)[0] <= 540
    heights = []
    for name in names:
        node = next(n for n in tree(source).iter(f"{SVG}text") if n.text == name)
        heights.append(float(re.search(r",(-?[\d.]+)\)", node.get("transform"))[1]))
    gaps = np.diff(sorted(heights))
    assert gaps.min() > 12


def test_step_zero_has_a_place_of_its_own():
    source = drawn(trajectory_chart(curves(steps=(0, 1, 10, 100))))
    assert {"0", "1", "10", "100"} <= set(texts(source))
    assert "NaN" not in source
    assert "Infinity" not in source
    assert len(marks(source)) == 16


@pytest.mark.parametrize("steps", [(0,), (512,), (0, 5)])
def test_one_checkpoint_is_a_point(steps):
    source = drawn(trajectory_chart(curves(("syntax",), steps=steps)))
    assert len(marks(source)) == len(steps)
    assert "NaN" not in source


def line_parts(source):
    return [n for n in tree(source).iter() if "mark-line" in (n.get("class") or "")]


def test_a_missing_checkpoint_breaks_the_line_and_has_a_cross():
    """No line runs through a checkpoint that isn't there."""
    whole, broken = (drawn(trajectory_chart(curves(("syntax",)), missing)) for missing in ((), (16,)))
    assert "×" in texts(broken)
    assert "×" not in texts(whole)
    assert len(line_parts(broken)) == len(line_parts(whole)) + 1


def test_a_null_estimate_breaks_the_line():
    estimate = pl.when(pl.col("step") != 8).then("estimate")
    source = drawn(trajectory_chart(curves(("syntax",), estimate=estimate)))
    assert len(marks(source)) == 3
    assert len(line_parts(source)) == 2


def test_many_curves_have_small_panels():
    names = tuple(f"ewok domain-{i}" for i in range(11))
    source = drawn(panels_chart(curves(names)))
    assert set(names) <= set(texts(source))
    assert size(source)[0] <= 540
    assert len(source) < MOST


def test_figures_of_curves_are_of_the_papers():
    """Main benchmarks, constructions, first differences; missing checkpoints and equal weights are said."""
    names = ("semantics", "semantics plausible", "semantics implausible", "semantics let alone", "semantics much less")
    table = curves((*names, "syntax"), steps=(0, 1, 2, 4, 8, 16))
    known = [
        {"revision": "step32", "step": 32, "status": "missing", "same_as": None},
        {"revision": "step4", "step": 4, "status": "there", "same_as": "step2"},
    ]
    found = {figure.name: figure for figure in figures_of_curves(table, known)}
    assert list(found) == ["trajectory-benchmarks-m", "trajectory-semantics-m", "differences-m"]
    caption = found["trajectory-benchmarks-m"].caption
    assert "step 32" in caption
    assert "step4 those of step2" in caption
    assert "semantics let alone" not in texts(svg(found["trajectory-benchmarks-m"]))


def test_first_differences_are_of_shared_neighbours():
    """Of n shared checkpoints there are n - 1 differences."""
    one = pl.DataFrame({"step": [1, 2, 4, 8], "estimate": [0.5, 0.6, None, 0.9]})
    other = pl.DataFrame({"step": [2, 1, 8, 16], "estimate": [0.4, 0.5, 0.5, 0.1]})
    rows = first_differences(one, other)
    assert rows["step"].to_list() == [2, 8]
    assert rows["y"].to_list() == pytest.approx([0.1, 0.3])
    assert rows["x"].to_list() == pytest.approx([-0.1, 0.1])
    source = drawn(changes_chart([("syntax", "ρ = .47", rows)], "semantics plausible"))
    assert {"ρ = .47", "change in syntax", "change in semantics plausible"} <= set(texts(source))
    assert len(marks(source)) == 2


def items(n, delta, name="m"):
    rows = {"name": name, "row": "let alone", "column": "plausible", "delta": delta}
    return pl.DataFrame({**rows, "correct": (np.asarray(delta) > 0) + 0.5 * (np.asarray(delta) == 0)}).head(n)


def test_the_dark_part_of_a_histogram_is_the_accuracy():
    """Zero is an edge, ties stand on both sides, shares add up to one, what is far off is in the last bins."""
    delta = np.random.default_rng(0).normal(0.3, 2, 5000)
    delta[:500] = 0
    delta[-1] = 1e6
    bins = binned(items(5000, delta))
    assert bins["share"].sum() == pytest.approx(1)
    assert bins.filter(pl.col("start") >= 0)["share"].sum() == pytest.approx(bins["above"][0])
    assert bins["end"].max() < 100
    assert 0.0 in bins["start"].to_list()
    assert bins.height < 60


def test_histograms_of_thousands_of_items_are_small():
    delta = np.random.default_rng(0).normal(0.3, 2, 20_000)
    table = pl.concat(
        items(20_000, delta).with_columns(row=pl.lit(f"level {i}"), column=pl.lit(c)) for i in range(5) for c in "ab"
    )
    source = drawn(histograms_chart(binned(table), "nats", [f"level {i}" for i in range(5)], ["a", "b"]))
    assert len(source) < MOST
    assert "delta (nats)" in texts(source)
    assert sum(text.endswith("right of zero") for text in texts(source)) == 10


def test_panels_without_items_stay_where_they_are():
    """Levels that are in one column only don't move into another."""
    table = pl.concat(
        [items(50, [1.0] * 50), items(50, [-1.0] * 50).with_columns(row=pl.lit("x"), column=pl.lit("implausible"))]
    )
    source = drawn(histograms_chart(binned(table), "nats", ["let alone", "x"], ["plausible", "implausible"]))
    assert sorted(text for text in texts(source) if text.endswith("right of zero")) == [
        ".00 right of zero",
        "1.00 right of zero",
    ]


def test_only_ties_are_half_dark():
    bins = binned(items(10, [0.0] * 10))
    assert bins["share"].to_list() == [0.5, 0.5]
    assert not binned(items(2, [0.0, 1.0]).with_columns(delta=pl.lit(None, pl.Float64))).height


def test_quantiles_have_a_row_a_model():
    table = pl.concat(items(200, np.linspace(-i, 3, 200), f"m{i}") for i in range(6))
    order = [f"m{i}" for i in range(6)]
    source = drawn(quantiles_chart(quantiles(table), "nats", order, ["plausible"]))
    assert set(order) <= set(texts(source))
    assert len(marks(source)) == 6


def test_bands_have_a_chance_of_their_own():
    rows = [
        {
            **{"name": f"m{k}", "panel": panel, "metric": metric, "band": band, "n": 9},
            **{"estimate": 0.5, "low": 0.4, "high": 0.6, "chance": 0.1 * (b + 1)},
        }
        for k in range(2)
        for panel in ("W2D noun", "D2W noun")
        for metric in ("accuracy", "rank_score")
        for b, band in enumerate(("rare", "medium", "frequent"))
    ]
    table = about(pl.DataFrame(rows), "name", "panel", "band")
    source = drawn(bands_chart(table, "band", "frequency", ["rare", "medium", "frequent"]))
    assert {"W2D noun", "D2W noun", "P@1 (share of items)", "rank score", "rare", "m0", "m1"} <= set(texts(source))
    assert len(marks(source)) == 24


def test_labels_are_short_and_never_shared():
    names = ["a/x", "b/x", "long-" * 20 + "1", "long-" * 20 + "2", "", "/"]
    found = labels(names)
    assert len(set(found.values())) == len(set(found))
    assert pixels(labels(["w" * 100])["w" * 100]) < 320


def test_figures_of_runs_by_models_and_steps(tmp_path):
    """One checkpoint a model stands beside others; all of them make its trajectory."""
    runs = [make_run(tmp_path, "EleutherAI/pythia-70m", f"step{s}", seed=s) for s in (1, 8, 64, 512)]
    runs += [make_run(tmp_path, "EleutherAI/pythia-160m", "main", seed=9)]
    runs += [make_run(tmp_path, "lab/mine", "main", seed=10, parameters=123_456_789), make_run(tmp_path, NASTY, "main")]
    found = {figure.name: figure for figure in figures_of_runs(runs)}
    assert list(found)[:4] == [
        *("size-paired-focus-semantics", "models-paired-focus-semantics", "groups-paired-focus-semantics"),
        "trajectory-benchmarks-eleutherai-pythia-70m",
    ]
    kept = final_runs(runs)
    assert [run.record["identity"]["revision"] for run in kept] == ["step512", "main", "main", "main"]
    size_ = found["size-paired-focus-semantics"]
    assert "EleutherAI/pythia-70m@step512" in size_.models
    assert NASTY not in size_.models
    assert "1 model left out" in size_.caption
    for figure in found.values():
        figure.chart.to_dict(validate=True)
        source = svg(figure)
        assert "<script" not in source
        assert len(source) < MOST
        assert size(source)[0] <= 560
        assert "data:" not in source
        assert figure.title
        assert figure.caption


def test_runs_on_other_data_have_figures_of_their_own(tmp_path):
    runs = [make_run(tmp_path, "a", "main"), make_run(tmp_path, "b", "main"), make_run(tmp_path, "c", "main", data="x")]
    assert condition_of(runs[2]) == "x"
    names = [figure.name for figure in figures_of_runs(runs)]
    assert "models-paired-focus-semantics" in names
    assert "groups-paired-focus-semantics-2" in names


def test_the_same_runs_give_the_same_bytes(tmp_path):
    runs = [make_run(tmp_path, m, "main", seed=i) for i, m in enumerate(("a", "b"))]
    first, second = ([svg(figure) for figure in figures_of_runs(runs)[:2]] for _ in range(2))
    assert first == second


def test_a_figure_is_an_altair_chart_that_can_be_changed(tmp_path):
    figure = figures_of_runs([make_run(tmp_path, "a", "main")])[0]
    before = svg(figure)
    other = replace(figure, chart=figure.chart.properties(title="Another title").configure_axis(labelFontSize=8))
    assert "Another title" in texts(svg(other))
    assert "Another title" not in texts(svg(other, titled=False))
    assert svg(figure) == before


def test_png_is_larger_by_its_scale(tmp_path):
    figure = figures_of_runs([make_run(tmp_path, "a", "main")])[0]
    one, two = (png(figure, scale) for scale in (1.0, 2.0))
    widths = [int.from_bytes(data[16:20], "big") for data in (one, two)]
    assert one.startswith(b"\x89PNG")
    assert widths[1] == pytest.approx(2 * widths[0], abs=2)


def test_write_figures_in_the_formats_asked_for(tmp_path):
    make_run(tmp_path / "runs", "a", "main")
    written = [path.name for path in write_figures(tmp_path / "runs", tmp_path / "out", "svg, json")]
    assert "groups-paired-focus-semantics.svg" in written
    spec = json.loads((tmp_path / "out" / "groups-paired-focus-semantics.json").read_text(encoding="utf-8"))
    assert spec["$schema"].startswith("https://vega.github.io/schema/vega-lite/")
    assert not [name for name in written if name.endswith(".png")]
    captions = json.loads((tmp_path / "out" / "captions.json").read_text(encoding="utf-8"))
    assert "95% intervals" in captions["groups-paired-focus-semantics"]["caption"]


def test_mistakes_are_said(tmp_path):
    """An unknown format, a folder that is a file, runs that allow no figure."""
    make_run(tmp_path / "runs", "a", "main")
    with pytest.raises(GlossemeError, match=r"no format 'svgg'; did you mean 'svg'"):
        list(write_figures(tmp_path / "runs", tmp_path / "out", "svgg"))
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(GlossemeError, match="can't be written"):
        list(write_figures(tmp_path / "runs", tmp_path / "file", "svg"))
    folder = tmp_path / "none" / "m" / "main" / "s"
    folder.mkdir(parents=True)
    run = make_run(tmp_path / "none", "value", "main")
    nothing = run.outcomes().with_columns(correct=pl.lit(None, pl.Float64), delta=pl.lit(None, pl.Float64))
    nothing.write_parquet(run.folder / "outcomes.parquet")
    with pytest.raises(GlossemeError, match="allow no figure"):
        list(write_figures(tmp_path / "none", tmp_path / "out", "svg"))


def test_tables_need_no_charts():
    """Altair is imported by figures and the page alone."""
    root = Path(finished.__code__.co_filename).parents[1]
    users = {p.relative_to(root).parts[0] for p in root.rglob("*.py") if "import altair" in p.read_text("utf-8")}
    assert users <= {"charts", "figures.py", "page"}


def trajectory(root, model, steps, *, twins=(), listed=True, suites=("paired-focus/semantics", "paired-focus/syntax")):
    """Runs of a trajectory, of which `twins` hold the weights of the checkpoint before, and its list."""
    runs = [
        make_run(root, model, step, suite, seed=i + 9 * (step not in twins))
        for i, step in enumerate(steps)
        for suite in suites
    ]
    if listed:
        before = dict(pairwise(steps))
        rows = [
            {
                "revision": s,
                "status": "there",
                "same_as": next((a for a, b in before.items() if b == s and s in twins), None),
            }
            for s in steps
        ]
        record = {"format": 1, "model": model, "steps": rows}
        (root / re.sub(r"\W+", "-", model) / "trajectory.json").write_text(json.dumps(record), encoding="utf-8")
    return runs


STEPS = ("step1", "step2", "step4", "step8", "step16", "step32")


def test_changes_are_those_of_the_analysis(tmp_path, capsys):
    """A checkpoint that holds another's weights counts in neither: the same n and rho, and a point on the lines."""
    runs = trajectory(tmp_path, "m", STEPS, twins=("step8",))
    found = {figure.name: figure for figure in figures_of_runs(runs)}
    assert main(["analyse", "differences", str(tmp_path), "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    ours = next(row for row in rows if {row["a"], row["b"]} == {"semantics plausible", "syntax"})
    assert ours["n"] == 4
    said = texts(svg(found["differences-m"]))
    assert f"ρ = {interval(ours['rho'], ours['low'], ours['high'])}, n = 4" in said
    lines = found["trajectory-benchmarks-m"]
    assert len([mark for mark in marks(svg(lines)) if mark.startswith("syntax, step ")]) == 6
    assert "have points all the same: step8 those of step4" in lines.caption


def test_three_checkpoints_of_their_own_have_no_changes(tmp_path):
    """As the analysis has none."""
    runs = trajectory(tmp_path, "m", STEPS[:4], twins=("step8",))
    assert "differences-m" not in {figure.name for figure in figures_of_runs(runs)}


def test_fakes_are_checkpoints_where_a_list_says_so(tmp_path):
    runs = trajectory(tmp_path, "fake:random", ("1", "2", "4", "8"))
    names = {figure.name for figure in figures_of_runs(runs)}
    assert {"trajectory-benchmarks-fake-random", "differences-fake-random"} <= names


def test_fakes_with_other_seeds_are_other_models(tmp_path):
    runs = trajectory(tmp_path, "fake:random", ("0", "7", "8", "9"), listed=False)
    found = {figure.name: figure for figure in figures_of_runs(runs)}
    assert not [name for name in found if name.startswith(("trajectory", "differences"))]
    every = {f"fake:random@{seed}" for seed in (0, 7, 8, 9)}
    for name in ("models-paired-focus-semantics", "groups-paired-focus-semantics"):
        assert set(found[name].models) == every


def test_what_is_right_of_zero_is_said_so_where_accuracies_have_even_weights(tmp_path):
    """The number in a panel is of its bars, whatever the averages of tables are."""
    run = make_run(tmp_path, "a", "main")
    record = json.loads((run.folder / "run.json").read_text("utf-8"))
    record["suite"]["macro"] = "template"
    (run.folder / "run.json").write_text(json.dumps(record), encoding="utf-8")
    figure = next(f for f in figures_of_runs([read_run(run.folder)]) if f.name.startswith("deltas"))
    assert [text for text in texts(svg(figure)) if re.fullmatch(r"1?\.\d\d right of zero", text)]
    assert "Each item counts the same here, in accuracies each template." in figure.caption


@pytest.mark.parametrize("sign", [1, -1])
def test_zero_is_in_the_picture_where_all_deltas_are_on_one_side(sign):
    delta = sign * np.linspace(400, 420, 200)
    table = pl.concat([items(200, delta), items(200, delta).with_columns(column=pl.lit("implausible"))])
    columns = ["plausible", "implausible"]
    for chart in (
        histograms_chart(binned(table), "nats", ["let alone"], columns),
        quantiles_chart(quantiles(table), "nats", ["m"], columns),
    ):
        source = drawn(chart)
        assert size(source)[0] <= 560
        assert "0" in texts(source)


def test_a_point_alone_after_a_gap_has_an_interval_to_see():
    """A band of one point has no width."""
    for draw in (trajectory_chart, panels_chart):
        table = curves(("syntax",), steps=(1, 2, 4, 16))
        spec = [json.dumps(finished(draw(table, missing), "t", "c").to_dict(validate=True)) for missing in ((), (8,))]
        assert "low" in spec[0]
        bars = [text.count('"type": "rule"') for text in spec]
        assert bars[1] == bars[0] + 1


def test_labels_of_deltas_do_not_touch():
    """In two narrow panels side by side."""
    delta = np.linspace(-1234.5, 1321, 400)
    table = pl.concat([items(400, delta), items(400, delta).with_columns(column=pl.lit("implausible"))])
    for chart in (
        histograms_chart(binned(table), "nats", ["let alone", "x" * 40], ["plausible", "implausible"]),
        quantiles_chart(quantiles(table), "nats", ["m"], ["plausible", "implausible"]),
    ):
        ticks = [
            float(n.get("transform").split("(")[1].split(",")[0])
            for n in tree(drawn(chart)).iter(f"{SVG}text")
            if re.fullmatch(r"−?[\d,]+", n.text or "")
        ]
        assert len(ticks) >= 4
        per_panel = [b - a for a, b in pairwise(ticks) if b > a]
        assert min(per_panel) > 30


def test_ticks_of_sizes_have_three_digits_at_most():
    rows = models(["one", "two"], ("all items",)).with_columns(parameters=pl.Series([29_725, 41_300]))
    said = texts(drawn(sizes_chart(rows, ["parameters"])))
    assert {"30k", "35k", "40k"} <= set(said)
    same = rows.with_columns(parameters=pl.Series([29_725, 29_725]))
    assert "29.7k" in texts(drawn(sizes_chart(same, ["parameters"])))
    for low, high in ((29_725, 29_726), (1.21e9, 1.3e9), (124_439_808, 125_000_000)):
        shown = [f"{tick:.3g}" for tick in log_ticks(low, high)]
        assert len(shown) == len(set(shown))


def test_coarse_parts_come_before_fine_ones(tmp_path):
    """Fields, then phenomena."""
    runs = trajectory(tmp_path, "m", STEPS[:3], suites=("mine",))
    for run in runs:
        record = json.loads((run.folder / "run.json").read_text("utf-8"))
        record["suite"] |= {"by": ["construction"], "also": [["plausibility"], []]}
        (run.folder / "run.json").write_text(json.dumps(record), encoding="utf-8")
    figure = next(f for f in figures_of_runs([read_run(r.folder) for r in runs]) if f.name == "trajectory-mine-m")
    order = figure.chart.to_dict()["layer"][2]["encoding"]["color"]["scale"]["domain"]
    assert order[:2] == ["mine implausible", "mine plausible"]


def test_more_models_than_can_be_told_apart_are_said(tmp_path):
    runs = [make_run(tmp_path, f"m{i}", "main", seed=i) for i in range(8)]
    found = {figure.name: figure for figure in figures_of_runs(runs)}
    assert "groups-paired-focus-semantics" not in found
    caption = found["models-paired-focus-semantics"].caption
    assert "by construction and plausibility are drawn for up to 7 models, and these are 8" in caption


def test_files_of_an_earlier_call_go_and_nothing_else(tmp_path):
    """What captions.json lists, whatever else lies there or it says."""
    out = tmp_path / "out"
    make_run(tmp_path / "runs", "a", "main")
    before = {path.name for path in write_figures(tmp_path / "runs", out, "svg,json")}
    mine = out / "mine.svg"
    mine.write_text("mine", encoding="utf-8")
    outside = tmp_path / "outside.svg"
    outside.write_text("mine", encoding="utf-8")
    captions = json.loads((out / "captions.json").read_text("utf-8"))
    captions |= {
        "../outside": {"files": ["../outside.svg"]},
        "x": {"files": ["mine.svg"]},
        "captions": {"files": ["captions.json"]},
    }
    (out / "captions.json").write_text(json.dumps(captions), encoding="utf-8")
    make_run(tmp_path / "others", "b", "main")
    after = {path.name for path in write_figures(tmp_path / "others", out, "svg")}
    assert {path.name for path in out.iterdir()} == {*after, "mine.svg"}
    assert before - after
    assert outside.is_file()
    (out / "captions.json").write_text("[1]", encoding="utf-8")
    list(write_figures(tmp_path / "runs", out, "svg"))
    assert after <= {path.name for path in out.iterdir()}
