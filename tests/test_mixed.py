"""Mixed models against lme4 and statsmodels, facts of models, and what is said where a fit can't be had."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from statsmodels.regression.mixed_linear_model import MixedLM

from glosseme.analysis.facts import Facts, facts_of_run, read_facts
from glosseme.analysis.finals import final_runs, of_same_items
from glosseme.analysis.logistic import fit_items
from glosseme.analysis.mixed import mixed_fits, observations
from glosseme.analysis.random_intercept import Fit, fit_random_intercept
from glosseme.errors import GlossemeError
from glosseme.report.analyse import mixed_of_runs
from test_curves import items, run_of

SLEEP = Path(__file__).parent / "data" / "sleepstudy.csv"
CONSTRUCTIONS = ["let alone", "much less", "never mind", "not to mention"]


def sleepstudy() -> Fit:
    table = pl.read_csv(SLEEP)
    x = np.column_stack([np.ones(table.height), table["Days"].to_numpy()])
    return fit_random_intercept(table["Reaction"].to_numpy(), x, table["Subject"].to_list(), ["(Intercept)", "Days"])


def test_sleepstudy_is_what_lme4_says():
    """lmer(Reaction ~ Days + (1 | Subject), sleepstudy), REML."""
    fit = sleepstudy()
    intercept, days = fit.terms
    assert [round(v, 3) for v in (intercept.estimate, days.estimate)] == [251.405, 10.467]
    assert [round(v, 3) for v in (intercept.se, days.se)] == [9.747, 0.804]
    assert [round(v, 3) for v in (fit.sd_group, fit.sd_residual)] == [37.124, 30.991]
    assert [round(v, 2) for v in (intercept.statistic, days.statistic)] == [25.79, 13.02]
    assert (fit.n, fit.n_groups, fit.converged, fit.singular) == (180, 18, True, False)


def test_degrees_of_freedom_are_those_of_lmertest():
    """summary(lmerTest::lmer(...)) prints 22.81 and 161."""
    intercept, days = sleepstudy().terms
    assert intercept.df == pytest.approx(22.81, abs=0.005)
    assert days.df == pytest.approx(161, abs=0.005)
    assert days.low == pytest.approx(10.467 - 1.97481 * 0.80422, abs=1e-3)


def simulated(seed: int, sd: float, groups: int = 12, size: int = 4, *, slope: float = 1.0, uneven: bool = False):
    rng = np.random.default_rng(seed)
    index = np.repeat(np.arange(groups), size)
    if uneven:
        index = index[rng.random(len(index)) < 0.8]
    between = rng.normal(size=groups)[index]
    y = 50 + slope * between + sd * rng.normal(size=groups)[index] + rng.normal(size=len(index))
    return y, np.column_stack([np.ones(len(index)), between]), [f"g{i}" for i in index]


@pytest.mark.parametrize("seed", range(4))
def test_uneven_groups_are_fitted_as_by_statsmodels(seed):
    y, x, groups = simulated(seed, sd=2.0, uneven=True)
    fit = fit_random_intercept(y, x, groups, ["one", "slope"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = MixedLM(y, x, groups=groups).fit(reml=True)
    assert [t.estimate for t in fit.terms] == pytest.approx(list(peer.fe_params), rel=1e-3)
    assert [t.se for t in fit.terms] == pytest.approx(list(peer.bse_fe), rel=1e-3)
    assert (fit.sd_group, fit.sd_residual) == pytest.approx((peer.cov_re[0, 0] ** 0.5, peer.scale**0.5), rel=1e-3)


def test_what_differs_between_groups_only_has_the_degrees_of_freedom_of_group_means():
    """In a balanced design the t test of a predictor of groups is the regression of the group means on it."""
    y, x, groups = simulated(5, sd=2.0)
    fit = fit_random_intercept(y, x, groups, ["one", "slope"])
    means, at = y.reshape(12, 4).mean(axis=1), x[::4]
    beta, rss = np.linalg.lstsq(at, means, rcond=None)[:2]
    se = np.sqrt(np.diag(np.linalg.inv(at.T @ at)) * rss[0] / 10)
    assert [t.estimate for t in fit.terms] == pytest.approx(list(beta))
    assert [t.se for t in fit.terms] == pytest.approx(list(se), rel=1e-5)
    assert [t.df for t in fit.terms] == pytest.approx([10, 10], rel=1e-3)


def test_groups_that_do_not_differ_are_said_to_be_singular_and_fitted_by_least_squares():
    y, x, groups = simulated(1, sd=0.0)
    y -= np.repeat((y - x[:, 1]).reshape(12, 4).mean(axis=1), 4)
    fit = fit_random_intercept(y, x, groups, ["one", "slope"])
    beta, rss = np.linalg.lstsq(x, y, rcond=None)[:2]
    assert fit.singular
    assert fit.converged
    assert fit.sd_group == 0
    assert [t.estimate for t in fit.terms] == pytest.approx(list(beta))
    assert fit.sd_residual == pytest.approx((rss[0] / 46) ** 0.5)
    assert {t.df for t in fit.terms} == {46}


def test_a_predictor_without_effect_is_significant_in_one_of_twenty():
    """Wald's z would say so in about one of ten with 8 groups."""
    fits = [fit_random_intercept(*simulated(s, sd=1.5, groups=8, slope=0.0), ["one", "x"]) for s in range(300)]
    share = np.mean([fit.terms[1].p < 0.05 for fit in fits])
    z = np.mean([abs(fit.terms[1].statistic) > 1.96 for fit in fits])
    # Three standard errors of 300 draws beside .05.
    assert 0.012 <= share <= 0.088
    assert z > share


def models(n: int = 12, *, seed: int = 0, unknown: int = 0, objective: bool = True) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        parameters, tokens = 10 ** rng.uniform(7, 10), 10 ** rng.uniform(9, 12)
        own = 6 * np.log10(parameters) + 2 * rng.normal()
        kind = "masked" if objective and i % 2 else "causal"
        facts = {"tokens": None if i < unknown else tokens, "parameters": parameters, "objective": kind}
        rows += [{"model": f"m{i}", "level": c, "accuracy": own + rng.normal(), "n": 9, **facts} for c in CONSTRUCTIONS]
    return pl.DataFrame(rows, schema_overrides={"tokens": pl.Float64})


def test_there_is_a_fit_of_all_predictors_and_one_of_each():
    together, *alone = mixed_fits(models(unknown=2))
    assert together.formula == "accuracy ~ log10 tokens + log10 parameters + objective + (1 | model)"
    assert [found.predictors for found in alone] == [("tokens",), ("parameters",), ("objective",)]
    names = ["intercept", "log10 tokens", "log10 parameters", "objective masked (not causal)"]
    assert [term.term for term in together.fit.terms] == names
    assert together.left_out == alone[0].left_out == ("m0", "m1")
    assert alone[1].left_out == ()
    assert (together.fit.n, together.fit.n_groups, alone[1].fit.n) == (40, 10, 48)
    slope = alone[1].fit.terms[1]
    assert slope.low < 6 < slope.high


def test_a_predictor_that_does_not_differ_is_left_out_and_said():
    together, *alone = mixed_fits(models(objective=False))
    assert together.formula == "accuracy ~ log10 tokens + log10 parameters + (1 | model)"
    assert together.notes == ("objective does not differ between the models and is left out",)
    assert alone[2].fit is None
    assert alone[2].notes == ("the models don't differ in objective",)


def test_what_has_too_few_models_is_not_fitted():
    fits = mixed_fits(models(4))
    assert fits[0].fit is None
    assert fits[0].notes == ("tokens, parameters, objective: known of 4 models, and a fit needs 5",)
    assert fits[1].fit is not None
    with pytest.raises(GlossemeError, match="known of 2 models, and a fit needs 3") as caught:
        mixed_fits(models(2), ["parameters"])
    assert caught.value.exit_code == 1
    with pytest.raises(GlossemeError, match="no predictor 'size'"):
        mixed_fits(models(), ["size"])


def test_predictors_that_tell_the_same_cannot_be_told_apart():
    table = models().with_columns(tokens=20 * pl.col("parameters"))
    assert mixed_fits(table)[0].notes == ("the models don't tell tokens and parameters and objective apart",)
    equal = models().with_columns(accuracy=50.0)
    with pytest.raises(GlossemeError, match="all accuracies are equal"):
        mixed_fits(equal)


def test_items_find_the_slope_they_were_made_with():
    rng = np.random.default_rng(3)
    size, frame = rng.uniform(7, 10, size=20), rng.normal(size=30)
    model, of = np.repeat(np.arange(20), 120), np.tile(np.repeat(np.arange(30), 4), 20)
    logits = 0.8 * (size[model] - 8.5) + 0.3 * rng.normal(size=20)[model] + frame[of]
    right = (rng.random(len(model)) < 1 / (1 + np.exp(-logits))).astype(float)
    right[:5] = 0.5
    facts = {"tokens": None, "parameters": 10 ** size[model], "objective": "causal"}
    table = pl.DataFrame({"model": [f"m{i}" for i in model], "frame": [f"f{i}" for i in of], "correct": right, **facts})
    fit = fit_items(table, ["parameters"])
    assert fit == fit_items(table, ["parameters"])
    slope = fit.terms[1]
    assert slope.low < 0.8 < slope.high
    assert 0.03 < slope.sd < 0.2
    assert fit.sd["frame"] == pytest.approx(frame.std(), abs=0.25)
    assert (fit.n, fit.n_models, fit.n_frames, fit.ties) == (2395, 20, 30, 5)
    assert fit.formula == "logit P(correct) ~ log10 parameters + (1 | model) + (1 | frame)"


def test_facts_of_a_file_come_before_the_catalogue_and_the_record(tmp_path):
    path = tmp_path / "facts.csv"
    path.write_text("model,parameters,tokens,objective\nmine,4.1e8,300_000_000_000,Masked\nempty,,,\n")
    own = read_facts(path)
    assert own["mine"] == Facts(4.1e8, 3e11, "masked")
    table = items([1.0], construction=["let alone"])
    run = run_of(tmp_path, table, model="lab/Mine")
    recorded = run_of(tmp_path, table, model="lab/other")
    recorded.record["model"] = {"kind": "masked", "parameters": 7}
    assert facts_of_run(run, own) == Facts(4.1e8, 3e11, "masked")
    assert facts_of_run(recorded, own) == Facts(7, None, "masked")
    pythia = facts_of_run(run_of(tmp_path, table, model="EleutherAI/pythia-70m"))
    assert (pythia.parameters, pythia.objective) == (70426624, "causal")


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("", ":1", "no column 'model'"),
        ("model,size\n", ":1", "no fact 'size'"),
        ("model,tokens\na,1\nb\n", ":3", "the row has 1 cell for 2 columns"),
        ("model,tokens\n,1\n", ":2", "no name"),
        ("model,tokens\na,many\n", ":2", "tokens 'many' is no number above 0"),
        ("model,tokens\na,-1\n", ":2", "no number above 0"),
        ("model,tokens\na,1\n\na,2\n", ":4", "twice"),
        ("model,objective\na,causal\nb,casual\n", ":3", "'casual' is neither causal nor masked; did you mean 'causal'"),
        ("model,objective\na,Nonkers is Wibbly's friend.\n", ":2", "objective (a text of 27 characters) is neither"),
    ],
)
def test_a_wrong_file_of_facts_is_said_with_its_line(tmp_path, text, where, what):
    path = tmp_path / "facts.csv"
    path.write_text(text)
    with pytest.raises(GlossemeError) as caught:
        read_facts(path)
    assert str(caught.value).startswith(f"{path}{where}: ")
    assert what in str(caught.value)


def runs(folder: Path, n: int = 6) -> Path:
    """Models whose accuracy grows with their size, and a file of facts."""
    rng = np.random.default_rng(4)
    lines = ["model,parameters,tokens,objective"]
    for i in range(n):
        right = (rng.random(80) < 0.4 + 0.08 * i).astype(float).tolist()
        run_of(folder / "runs", items(right, construction=CONSTRUCTIONS * 20), model=f"m{i}", revision="main")
        lines.append(f"m{i},{10 ** (7 + i / 2)},{10 ** (9 + (i * 3) % 5)},{'masked' if i % 2 else 'causal'}")
    (folder / "facts.csv").write_text("\n".join(lines) + "\n")
    return folder / "runs"


def mixed(root: Path, format_: str = "json", **more: object) -> str:
    usual = {"suite": "paired-focus/semantics", "predictors": "tokens,parameters,objective", "by": "construction"}
    usual |= {"facts": root.parent / "facts.csv", "items": False}
    return mixed_of_runs(root, format_=format_, **(usual | more))


def test_one_run_for_each_model_and_levels_are_its_observations(tmp_path):
    root = runs(tmp_path)
    together, *alone = json.loads(mixed(root))
    assert (together["n"], together["n_models"], len(alone)) == (24, 6, 3)
    assert set(together) >= {"formula", "terms", "sd_model", "sd_residual", "converged", "singular", "notes"}
    assert alone[1]["terms"][1]["term"] == "log10 parameters"
    assert alone[1]["terms"][1]["estimate"] == pytest.approx(16, abs=6)
    text = mixed(root, "text")
    assert "percentage points for a factor of ten" in text
    assert "24 observations, 6 models" in text
    for format_ in ("csv", "markdown", "latex"):
        assert "log10 parameters" in mixed(root, format_)


def test_items_of_runs_have_a_logistic_model(tmp_path):
    root = runs(tmp_path)
    [found] = json.loads(mixed(root, items=True, predictors="parameters"))
    assert (found["n"], found["n_models"], found["unit"]) == (480, 6, "log odds")
    assert found["terms"][1]["estimate"] > 0
    assert "a Bayesian approximation" in mixed(root, "text", items=True, predictors="parameters")


def test_what_is_asked_of_the_command_is_checked(tmp_path):
    root = runs(tmp_path)
    for wrong, what in (
        ({"format_": "yaml"}, "no format"),
        ({"by": "verb"}, "no factor 'verb'"),
        ({"predictors": "size"}, "no predictor"),
        ({"suite": "blimp"}, "no run of suite"),
        ({"facts": tmp_path / "none.csv"}, "can't be read"),
    ):
        with pytest.raises(GlossemeError, match=what):
            mixed(root, **wrong)


def test_the_last_revision_stands_for_a_model_and_other_samples_are_left_out(tmp_path):
    table = items([1.0, 0.0], construction=["let alone", "much less"])
    found = [run_of(tmp_path, table, revision=r) for r in ("step10", "step9")]
    [last], notes = final_runs(found)
    assert last.record["identity"]["revision"] == "step10"
    assert notes == ["m@step10 stands for 2 revisions of the model"]
    found.append(run_of(tmp_path, table, revision="main"))
    assert final_runs(found)[0][0].record["identity"]["revision"] == "main"
    other = run_of(tmp_path, table, model="other", identity={"limit": 5, "seed": 0})
    kept, notes = of_same_items([*found, other])
    assert (kept, notes) == (found, ["left out, with other data, options or sample than the rest: other@step1"])


def test_observations_are_percentages(tmp_path):
    table = items([1.0, 0.5, None, 0.0], construction=["let alone", "let alone", "let alone", "much less"])
    found = observations([run_of(tmp_path, table)], "construction", {"m": Facts(1e8, 1e9)})
    rows = found.select("level", "accuracy", "n", "tokens", "objective").rows()
    assert rows == [("let alone", 75.0, 2, 1e9, "causal"), ("much less", 0.0, 1, 1e9, "causal")]


def test_facts_of_a_model_that_was_not_run_are_said(tmp_path):
    root = runs(tmp_path)
    facts = root.parent / "facts.csv"
    facts.write_text(facts.read_text() + "m77,1e8,1e9,causal\nlab/m0,,,\n")
    notes = json.loads(mixed(root))[0]["notes"]
    assert "--facts: no run here is of m77, lab/m0" in notes
    assert "no run here is of m77" in mixed(root, "text", items=True, predictors="parameters")


@pytest.mark.parametrize("noise", [0.0, 1e-12])
def test_without_a_residual_nothing_is_fitted(noise):
    """Levels that don't differ within a model leave no residual variance: errors and df would be made of rounding."""
    rng = np.random.default_rng(0)
    table = models().with_columns(accuracy=pl.col("accuracy").first().over("model") + noise * rng.random(48))
    with pytest.raises(GlossemeError, match="not fitted: a model's accuracies don't differ from each other"):
        mixed_fits(table, ["parameters"])
    exact = pl.col("level").replace_strict({c: float(i) for i, c in enumerate(CONSTRUCTIONS)})
    for fit in mixed_fits(models().with_columns(accuracy=pl.col("accuracy") + 5 * exact)):
        assert all(term.se > 0 and 0 < term.df < 48 for term in fit.fit.terms)


def test_one_fit_without_a_residual_is_said_beside_the_others():
    flat = models(6).with_columns(accuracy=pl.col("accuracy").first().over("model"))
    flat = flat.with_columns(tokens=pl.when(pl.col("model") == "m0").then(None).otherwise(pl.col("tokens")))
    apart = pl.int_range(pl.len()) * (pl.col("model") == "m0").cast(pl.Float64)
    fits = mixed_fits(flat.with_columns(accuracy=pl.col("accuracy") + apart), ["tokens", "parameters"])
    assert [found.fit is None for found in fits] == [True, True, False]
    assert "without a residual" in fits[1].notes[0]
