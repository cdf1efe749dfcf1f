"""The catalogue of models: its figures against published ones, its families, and what the command line makes of it."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import polars as pl
import pytest
import torch
import transformers

from glosseme.cli import main
from glosseme.errors import GlossemeError
from glosseme.models import parse_reference
from glosseme.models.catalogue import catalogue, expand, facts_of, families, family
from glosseme.models.hub import WELL_KNOWN
from glosseme.models.steps import step_of
from glosseme.report.models import list_models

T = 10**12

# Families of the specification, with the sizes that it names.
SPECIFIED = {
    "pythia": ("14m", "31m", "70m", "160m", "410m", "1b", "1.4b", "2.8b", "6.9b", "12b"),
    "ettin-encoder": ("17m", "32m", "68m", "150m", "400m", "1b"),
    "ettin-decoder": ("17m", "32m", "68m", "150m", "400m", "1b"),
    "bert": ("base", "large"),
    "roberta": ("base", "large"),
    "modernbert": ("base", "large"),
    "multiberts": tuple(f"seed_{n}" for n in range(25)),  # Sellam et al. 2022: 25 seeds
    "opt": ("125m", "350m", "1.3b", "2.7b", "6.7b", "13b", "30b", "66b"),
    "gpt2": ("gpt2", "medium", "large", "xl"),
    "olmo2": ("1B", "7B", "13B", "32B"),
    "olmo3": ("7B", "32B"),
    "babylm-10m": ("2023", "2024", "10M"),
    "babylm-100m": ("2023", "2024", "100M"),
}
# Model cards of Pythia ("total params"), of GPT-2 (124M, 355M, 774M, 1.5B) and of OLMo 2 and 3.
PRINTED = {
    "pythia-70m": 70_426_624,
    "pythia-160m": 162_322_944,
    "pythia-410m": 405_334_016,
    "pythia-1b": 1_011_781_632,
    "pythia-1.4b": 1_414_647_808,
    "pythia-2.8b": 2_775_208_960,
    "pythia-6.9b": 6_857_302_016,
    "pythia-12b": 11_846_072_320,
    "Olmo-3-1025-7B": 7_298_011_136,
}
# As papers and model cards round them, in millions.
ROUNDED = {
    "gpt2": 124,
    "gpt2-medium": 355,
    "gpt2-large": 774,
    "bert-base-uncased": 110,
    "bert-large-uncased": 335,
    "roberta-base": 125,
    "roberta-large": 355,
    "ettin-encoder-32m": 32,
    "ettin-decoder-150m": 150,
    "baby-llama-58m": 58,
    "gpt-bert-babylm-base": 119,  # GPT or BERT, 2024
    "gpt-bert-babylm-small": 30,
    "ELC_BERT_baby_100M": 98,  # ELC-BERT, 2023
    "ELC_BERT_small_baby_10M": 24,
}
TOKENS = {
    "pythia-12b": 143_000 * 2_097_152,  # Biderman et al. 2023: steps and tokens a step
    "multiberts-seed_3": 2_000_000 * 256 * 512,  # Sellam et al. 2022
    "ModernBERT-large": 2 * T,  # Warner et al. 2024
    "ettin-encoder-400m": 2 * T,  # Weller et al. 2025
    "bert-base-uncased": 1_000_000 * 128_000,  # Devlin et al. 2019, A.2
}
OLMO2_TOKENS = {"OLMo-2-1124-7B": 4.05, "OLMo-2-1124-13B": 5.6, "OLMo-2-0325-32B": 6.6}  # trillions, arXiv 2501.00656


def test_the_families_of_the_specification_are_there() -> None:
    for name, sizes in SPECIFIED.items():
        models = family(name)
        for size in sizes:
            assert any(re.search(rf"(^|[-_/]){re.escape(size)}($|[-_])", model) for model in models), (name, size)


def test_there_are_at_least_as_many_models_as_the_paper_tests() -> None:
    assert catalogue().height >= 36
    assert set(catalogue()["kind"]) == {"causal", "masked"}


@pytest.mark.parametrize(("name", "count"), PRINTED.items())
def test_parameters_are_those_printed(name: str, count: int) -> None:
    facts = facts_of(name)
    assert facts is not None
    assert facts["parameters"] == count


@pytest.mark.parametrize(("name", "millions"), ROUNDED.items())
def test_parameters_agree_with_rounded_ones(name: str, millions: int) -> None:
    facts = facts_of(name)
    assert facts is not None
    assert abs(facts["parameters"] / 1e6 - millions) < 0.6


@pytest.mark.parametrize(
    ("name", "class_name", "config"),
    [
        ("pythia-14m", "GPTNeoXForCausalLM", transformers.GPTNeoXConfig(
            vocab_size=50304, hidden_size=128, num_hidden_layers=6, num_attention_heads=4, intermediate_size=512,
            tie_word_embeddings=False)),
        ("gpt2-xl", "GPT2LMHeadModel", transformers.GPT2Config(n_layer=48, n_embd=1600, n_head=25)),
        ("opt-350m", "OPTForCausalLM", transformers.OPTConfig(
            vocab_size=50272, hidden_size=1024, num_hidden_layers=24, ffn_dim=4096, num_attention_heads=16,
            word_embed_proj_dim=512, do_layer_norm_before=False)),
        ("multiberts-seed_0", "BertForMaskedLM", transformers.BertConfig()),
        ("ettin-decoder-17m", "ModernBertDecoderForCausalLM", transformers.ModernBertDecoderConfig(
            hidden_size=256, num_hidden_layers=7, intermediate_size=384, num_attention_heads=4)),
        ("OLMo-2-0425-1B", "Olmo2ForCausalLM", transformers.Olmo2Config(
            vocab_size=100352, hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=16,
            tie_word_embeddings=False)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_parameters_are_those_of_the_published_architecture(name: str, class_name: str, config: object) -> None:
    with torch.device("meta"):
        network = getattr(transformers, class_name)(config)
    facts = facts_of(name)
    assert facts is not None
    assert facts["parameters"] == sum(p.numel() for p in network.parameters())


@pytest.mark.parametrize(("name", "tokens"), TOKENS.items())
def test_tokens_are_those_published(name: str, tokens: int) -> None:
    facts = facts_of(name)
    assert facts is not None
    assert facts["tokens"] == tokens


@pytest.mark.parametrize(("name", "trillions"), OLMO2_TOKENS.items())
def test_tokens_agree_with_rounded_ones(name: str, trillions: float) -> None:
    facts = facts_of(name)
    assert facts is not None
    assert facts["tokens"] / T == pytest.approx(trillions, abs=0.05)


def test_what_was_never_published_is_null() -> None:
    assert catalogue().filter(family="gpt2")["tokens"].null_count() == 4
    assert catalogue().filter(family="babylm")["tokens"].null_count() == len(family("babylm"))


def test_every_row_says_where_it_is_from_and_no_figure_is_empty_text_or_zero() -> None:
    table = catalogue()
    assert table["source"].str.len_chars().min() > 40
    assert table.select(pl.selectors.integer().min() > 0).row(0) == (True, True, True)
    assert not table.select((pl.selectors.string() == "").any()).row(0).count(True)


def test_words_are_those_of_the_challenge() -> None:
    table = catalogue().filter(pl.col("words").is_not_null())
    assert set(table["family"]) == {"babylm"}
    assert set(table.filter(words=10**7)["name"]) == set(family("babylm-10m"))
    assert set(table.filter(words=10**8)["name"]) == set(family("babylm-100m"))


def test_names_are_hub_names_and_no_two_end_alike() -> None:
    names = catalogue()["name"].to_list()
    assert all(parse_reference(name).source == "hub" for name in names)
    assert len({name.rsplit("/", 1)[-1].lower() for name in names}) == len(names)


def test_patterns_of_checkpoints_tell_their_step() -> None:
    for pattern in catalogue()["checkpoints"].drop_nulls():
        if "/" not in pattern and not pattern.startswith("chck"):
            assert step_of(pattern.format(N=3000, T=7)) == 3000


@pytest.mark.parametrize(
    "spelling", ["EleutherAI/pythia-1.4b", "pythia-1.4b", "PYTHIA-1.4B", "lab/pythia-1.4b", "EleutherAI--pythia-1.4b"]
)
def test_facts_by_several_spellings(spelling: str) -> None:
    facts = facts_of(spelling)
    assert facts is not None
    assert (facts["name"], facts["kind"]) == ("EleutherAI/pythia-1.4b", "causal")
    assert set(facts) == set(catalogue().columns)


@pytest.mark.parametrize("name", ["", "pythia", "pythia-1", "fake:random", "/", "\x1b[31m"])
def test_there_are_no_facts_of_others(name: str) -> None:
    assert facts_of(name) is None


def test_families_nest() -> None:
    assert set(family("ettin")) == {*family("ettin-encoder"), *family("@ettin-decoder")}
    assert set(family("olmo")) == {*family("olmo2"), *family("olmo3")}
    assert {m for m in family("babylm") if m not in family("babylm-10m")} == set(family("babylm-100m"))
    assert len(families()["pythia"]) == 10


def test_names_expand_in_order_and_once() -> None:
    assert expand(["a/b@x", "@roberta", "FacebookAI/roberta-base", "@ROBERTA"]) == ["a/b@x", *family("roberta")]
    assert expand(["@ettin-encoder@step2999"]) == [f"{name}@step2999" for name in family("ettin-encoder")]
    assert expand([]) == []


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("@pyhtia", "no family '@pyhtia'; did you mean '@pythia'"),
        ("@", "no family '@'"),
        ("@pythia@", "revision after '@' is empty; write '@pythia'"),
        ("@\x1b[31m", "there is no family"),
    ],
)
def test_a_family_that_is_not_there_is_one_line(name: str, says: str) -> None:
    with pytest.raises(GlossemeError, match=says) as caught:
        expand([name])
    assert "\x1b" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_run_takes_a_family(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    rest = ["-s", "paired-focus", "-o", str(tmp_path / "runs"), "-q"]
    assert main(["run", "-m", "@roberta@step1", *rest]) == 2
    assert "FacebookAI/roberta-base@step1" in capsys.readouterr().err
    assert main(["run", "-m", "@robreta", *rest]) == 2
    assert "did you mean '@roberta'" in capsys.readouterr().err


def test_misspelt_names_are_helped_by_the_catalogue() -> None:
    assert set(catalogue()["name"]) < set(WELL_KNOWN)
    assert len(set(WELL_KNOWN)) == len(WELL_KNOWN)


def test_the_list_is_for_people() -> None:
    text = list_models("@pythia")
    row = next(line for line in text.splitlines() if "pythia-70m" in line)
    assert row.split() == ["EleutherAI/pythia-70m", "causal", "70M", "300B", "step{N}", "apache-2.0"]
    assert "10 models" in text
    assert "run -m @pythia" in text
    assert "Biderman et al. 2023" in text
    gpt2 = next(line for line in list_models("gpt2-xl").splitlines() if "gpt2-xl" in line)
    assert gpt2.split() == ["openai-community/gpt2-xl", "causal", "1.6B", "-", "-", "mit"]


def test_the_whole_list_names_every_family_and_no_line_is_endless() -> None:
    lines = list_models().splitlines()
    assert all(f"@{name} (" in "\n".join(lines) for name in families())
    assert sum(line.startswith("  ") for line in lines) == 1 + catalogue().height
    assert max(map(len, lines)) < 600


def test_models_are_chosen_by_part_of_a_name_and_by_kind() -> None:
    chosen = json.loads(list_models("ETTIN", kind="masked", format_="json"))
    assert [row["name"] for row in chosen] == family("ettin-encoder")
    assert {row["kind"] for row in json.loads(list_models(kind="causal", format_="json"))} == {"causal"}


def test_json_and_csv_have_full_figures() -> None:
    (row,) = json.loads(list_models("roberta-large", format_="json"))
    assert row == facts_of("roberta-large")
    read = list(csv.DictReader(io.StringIO(list_models("@gpt2", format_="csv"))))
    assert [r["parameters"] for r in read][:2] == ["124439808", "354823168"]
    assert [r["tokens"] for r in read] == [""] * 4


def test_markdown_and_latex_are_escaped() -> None:
    markdown, latex = (list_models("multiberts-seed_0", format_=f) for f in ("markdown", "latex"))
    assert markdown.splitlines()[2].startswith("| google/multiberts-seed_0 | masked | 110M |")
    assert r"google/multiberts-seed\_0 & masked & 110M & 262B &" in latex
    assert r"step\_\{N\}k" in latex
    assert "-- &" in list_models("@gpt2", format_="latex")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["@ettn"], "no family '@ettn'; did you mean '@ettin'"),
        (["pyhtia-70m"], "no model with 'pyhtia-70m' in its name; did you mean 'pythia-70m'"),
        (["zzz\x1b[31m"], "`glosseme models` lists them all"),
        (["--kind", "static"], "no kind of model 'static'"),
        (["@roberta", "--kind", "causal"], "no causal model of '@roberta'"),
        (["--format", "yaml"], "no format 'yaml'"),
    ],
)
def test_what_is_not_there_is_one_line(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", *arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert says in told.err
    assert "\x1b" not in told.err
    assert told.err.count("\n") == 1


def test_the_command_prints_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "@modernbert", "--format", "markdown"]) == 0
    assert capsys.readouterr().out.strip() == list_models("@modernbert", format_="markdown")
