"""Networks, tokenizers and identities of saved folders."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from glosseme.errors import GlossemeError
from glosseme.models import open_model
from small_models import WORDS, save, saved_bert, saved_gpt2, small_bert, small_gpt2, small_tokenizer

IDS = torch.tensor([[1, 5, 6, 8, 10, 2]])


@pytest.fixture
def gpt2(tmp_path: Path) -> Path:
    return saved_gpt2(tmp_path / "gpt2")


@pytest.fixture
def bert(tmp_path: Path) -> Path:
    return saved_bert(tmp_path / "bert")


def edit_json(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_saved_model_answers_as_the_one_that_was_saved(gpt2: Path, bert: Path) -> None:
    for folder, kind, auto in (
        (gpt2, "causal", transformers.GPT2LMHeadModel),
        (bert, "masked", transformers.BertForMaskedLM),
    ):
        model = open_model(str(folder), device="cpu")
        assert (model.kind, model.max_length, model.dtype, model.device) == (kind, 32, "float32", "cpu")
        network = model.network()
        assert not network.training
        assert not any(p.requires_grad for p in network.parameters())
        assert torch.equal(network(input_ids=IDS).logits, auto.from_pretrained(folder).eval()(input_ids=IDS).logits)
        assert model.network() is network


def test_tokenizer_and_record_load_no_weights(gpt2: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glosseme.models.opened.load_network", lambda *a, **k: pytest.fail("weights were loaded"))
    model = open_model(str(gpt2))
    [encoding] = model.tokenizer(["the cat"], add_special_tokens=False).encodings
    assert [WORDS[i] for i in encoding.ids] == ["the", "cat"]
    record = model.record()
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert record["weights_sha256"] == model.identity.weights
    assert record["attention"] is None
    assert record["versions"]["torch"] == torch.__version__


def test_the_record_tells_the_attention_of_the_loaded_network(gpt2: Path) -> None:
    model = open_model(str(gpt2))
    model.network()
    assert model.record()["attention"] == "sdpa"


def test_nothing_is_written_on_the_screen(gpt2: Path, capfd: pytest.CaptureFixture[str]) -> None:
    model = open_model(str(gpt2))
    assert model.tokenizer.is_fast
    model.network()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_weights_are_converted_exactly(gpt2: Path, dtype: str) -> None:
    stored = load_file(gpt2 / "model.safetensors")["transformer.wte.weight"]
    loaded = open_model(str(gpt2), dtype=dtype, device="cpu").network().get_parameter("transformer.wte.weight")
    assert torch.equal(loaded, stored.to(getattr(torch, dtype)))


def test_a_bfloat16_file_is_read_as_float32(tmp_path: Path) -> None:
    made = transformers.GPT2LMHeadModel(small_gpt2()).to(torch.bfloat16)
    network = open_model(str(save(made, tmp_path / "m")), device="cpu").network()
    assert all(p.dtype == torch.float32 for p in network.parameters())
    assert torch.equal(network.get_parameter("transformer.wte.weight"), made.transformer.wte.weight.float())


@pytest.mark.parametrize(
    ("made", "architecture", "missing"),
    [
        (transformers.BertModel, "BertForMaskedLM", r"cls\.predictions"),
        (transformers.DebertaV2Model, "DebertaV2ForMaskedLM", r"cls\.predictions|lm_predictions"),
        (transformers.ElectraForPreTraining, "ElectraForPreTraining", r"generator_"),
    ],
)
def test_a_checkpoint_without_its_masked_head_is_refused(
    tmp_path: Path, made: Callable[..., torch.nn.Module], architecture: str, missing: str
) -> None:
    settings = {k: v for k, v in small_bert().to_dict().items() if k in ("vocab_size", "hidden_size")}
    sizes = {
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 16,
        "max_position_embeddings": 32,
    }
    config = made.config_class(**settings, **sizes)  # type: ignore[attr-defined]
    folder = save(made(config), tmp_path / "m")
    edit_json(folder / "config.json", architectures=[architecture])
    model = open_model(str(folder))
    with pytest.raises(GlossemeError, match=missing) as caught:
        model.network()
    assert "would be random" in str(caught.value)


def test_weights_of_another_shape_are_refused(gpt2: Path) -> None:
    edit_json(gpt2 / "config.json", n_positions=16)
    with pytest.raises(GlossemeError, match=r"transformer\.wpe\.weight is \(32, 16\) and should be \(16, 16\)"):
        open_model(str(gpt2)).network()


def test_a_missing_layer_is_refused(gpt2: Path) -> None:
    edit_json(gpt2 / "config.json", n_layer=2)
    with pytest.raises(GlossemeError, match=r"transformer\.h\.1\..* and \d+ more"):
        open_model(str(gpt2)).network()


def test_pickled_weights_are_never_loaded(gpt2: Path) -> None:
    torch.save(load_file(gpt2 / "model.safetensors"), gpt2 / "pytorch_model.bin")
    (gpt2 / "model.safetensors").unlink()
    model = open_model(str(gpt2))
    for ask in (model.network, lambda: model.identity):
        with pytest.raises(GlossemeError, match=r"pickled weights \(pytorch_model\.bin\).*save_pretrained"):
            ask()


def test_no_weights_at_all_are_one_line(gpt2: Path) -> None:
    (gpt2 / "model.safetensors").unlink()
    with pytest.raises(GlossemeError, match="safetensors weights are needed and there are none"):
        open_model(str(gpt2)).network()


def test_broken_weights_are_one_line(gpt2: Path) -> None:
    (gpt2 / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(GlossemeError, match="can't be loaded") as caught:
        open_model(str(gpt2)).network()
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 1


def test_a_broken_configuration_is_one_line(gpt2: Path) -> None:
    (gpt2 / "config.json").write_text("{")
    with pytest.raises(GlossemeError, match=r"config\.json can't be read"):
        open_model(str(gpt2))


def test_a_configuration_nested_too_deeply_is_one_line(gpt2: Path) -> None:
    (gpt2 / "config.json").write_text('{"a":' + "[" * 100_000 + "]" * 100_000 + "}")
    with pytest.raises(GlossemeError, match=r"config\.json can't be read \(nested too deeply\)"):
        open_model(str(gpt2))


def test_a_class_without_a_name_is_one_line(gpt2: Path) -> None:
    edit_json(gpt2 / "config.json", architectures=[None])
    with pytest.raises(GlossemeError, match=r"config\.json: architectures can't be \[null\]"):
        open_model(str(gpt2))


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("n_embd", "thirty", "n_embd.*thirty"),
        ("n_layer", None, "n_layer.*None"),
        ("dtype", "foo", "foo"),
        ("model_type", "nope", "nope"),
    ],
)
def test_a_wrong_value_blames_the_configuration(gpt2: Path, name: str, value: object, says: str) -> None:
    edit_json(gpt2 / "config.json", **{name: value})
    model = open_model(str(gpt2))
    with pytest.raises(GlossemeError, match=rf"config\.json can't be used: .*{says}") as caught:
        _ = model.tokenizer, model.network()
    assert "tokenizer" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("index", [{"weight_map": ["a"]}, {"weight_map": {"a": 1}}, {"a": 1}, {"weight_map": {}}])
def test_a_broken_list_of_shards_is_one_line(gpt2: Path, index: dict[str, Any]) -> None:
    (gpt2 / "model.safetensors").rename(gpt2 / "model-00001-of-00001.safetensors")
    (gpt2 / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(GlossemeError, match=r"model\.safetensors\.index\.json (has no|names no)") as caught:
        _ = open_model(str(gpt2)).identity
    assert caught.value.exit_code == 2


MAMBA_CALLED = """
import sys, torch
from glosseme.models import open_model
open_model(sys.argv[1], device="cpu").network()(input_ids=torch.tensor([[1, 2, 3]]))
"""


def test_a_network_says_nothing_when_it_is_first_called(tmp_path: Path) -> None:
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "state_size": 4, "vocab_size": len(WORDS)}
    folder = save(transformers.MambaForCausalLM(transformers.MambaConfig(**sizes)), tmp_path / "mamba")
    # In a process of its own: transformers says such things once.
    command = [sys.executable, "-c", MAMBA_CALLED, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_model_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    folder = save(transformers.GPT2LMHeadModel(small_gpt2()), tmp_path / "m", tokenizer=False)
    with pytest.raises(GlossemeError, match="no tokenizer beside the model"):
        _ = open_model(str(folder)).tokenizer


def test_a_tokenizer_without_offsets_is_refused(gpt2: Path) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (gpt2 / name).unlink()
    (gpt2 / "vocab.json").write_text(json.dumps({"<unk>": 0, "a</w>": 1}))
    (gpt2 / "merges.txt").write_text("#version: 0.2\n")
    transformers.CTRLTokenizer(gpt2 / "vocab.json", gpt2 / "merges.txt").save_pretrained(gpt2)
    with pytest.raises(GlossemeError, match="the tokenizer has no fast version"):
        _ = open_model(str(gpt2)).tokenizer


def test_an_adapter_is_refused(gpt2: Path) -> None:
    (gpt2 / "adapter_config.json").write_text('{"base_model_name_or_path": "gpt2"}')
    with pytest.raises(GlossemeError, match="adapter"):
        open_model(str(gpt2))


def test_a_sharded_model_is_one_model(tmp_path: Path) -> None:
    torch.manual_seed(0)
    folder = save(transformers.GPT2LMHeadModel(small_gpt2()), tmp_path / "m", shard="4KB")
    model = open_model(str(folder), device="cpu")
    shards = {n for n in model.identity.files if n.endswith(".safetensors")}
    assert len(shards) > 1
    assert torch.equal(
        model.network()(input_ids=IDS).logits,
        open_model(str(saved_gpt2(tmp_path / "whole")), device="cpu").network()(input_ids=IDS).logits,
    )
    (folder / min(shards)).unlink()
    with pytest.raises(GlossemeError, match=f"'{min(shards)}' is missing"):
        open_model(str(folder)).network()


def test_unknown_dtypes_and_devices_are_refused(gpt2: Path) -> None:
    with pytest.raises(GlossemeError, match=r"dtype 'float64'.*float32, bfloat16, float16"):
        open_model(str(gpt2), dtype="float64")
    with pytest.raises(GlossemeError, match="the device 'cuda:99' is not on this machine"):
        _ = open_model(str(gpt2), device="cuda:99").device
    for model in (str(gpt2), "fake:random", "fake:constant-masked"):
        for device in ("banana", "meta", "cuda:", "cuda:x", ""):
            with pytest.raises(GlossemeError, match=f"device '{device}' is not known; choose auto, cpu, cuda, cuda:N,"):
                open_model(model, device=device)


MODELING = """
from transformers import GPT2Config, GPT2LMHeadModel
class OwnConfig(GPT2Config):
    model_type = "my-own"
class OwnForCausalLM(GPT2LMHeadModel):
    config_class = OwnConfig
"""


@pytest.fixture
def own_code(gpt2: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model whose code lies beside its weights."""
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    (gpt2 / "modeling_own.py").write_text(MODELING)
    auto_map = {"AutoConfig": "modeling_own.OwnConfig", "AutoModelForCausalLM": "modeling_own.OwnForCausalLM"}
    edit_json(gpt2 / "config.json", model_type="my-own", architectures=["OwnForCausalLM"], auto_map=auto_map)
    return gpt2


def test_code_of_its_own_is_refused_without_a_prompt(own_code: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("asked a question"))
    with pytest.raises(GlossemeError, match=r"code of its own repository.*--trust-remote-code"):
        open_model(str(own_code))


def test_trusted_code_is_run_and_part_of_the_identity(own_code: Path) -> None:
    model = open_model(str(own_code), device="cpu", trust_remote_code=True)
    assert type(model.network()).__name__ == "OwnForCausalLM"
    assert "modeling_own.py" in model.identity.files
    (own_code / "modeling_own.py").write_text(MODELING + "\n# changed\n")
    assert open_model(str(own_code), trust_remote_code=True).identity.weights != model.identity.weights


def test_the_identity_is_of_the_contents_not_of_the_place(gpt2: Path, tmp_path: Path) -> None:
    shutil.copytree(gpt2, tmp_path / "elsewhere" / "copy")
    copied = open_model(str(tmp_path / "elsewhere" / "copy")).identity
    assert copied == open_model(str(gpt2)).identity
    assert copied.commit is None
    assert {"model.safetensors", "config.json", "tokenizer.json"} <= set(copied.files)


def test_one_byte_of_the_weights_changes_the_identity(gpt2: Path) -> None:
    before = open_model(str(gpt2)).identity
    raw = bytearray((gpt2 / "model.safetensors").read_bytes())
    raw[-1] ^= 1
    (gpt2 / "model.safetensors").write_bytes(raw)
    after = open_model(str(gpt2)).identity
    assert after.weights != before.weights
    assert after.tokenizer == before.tokenizer


def test_another_configuration_changes_the_identity(gpt2: Path) -> None:
    before = open_model(str(gpt2)).identity
    edit_json(gpt2 / "config.json", layer_norm_epsilon=1e-3)
    assert open_model(str(gpt2)).identity.weights != before.weights


def test_another_tokenizer_changes_its_part_of_the_identity(gpt2: Path) -> None:
    before = open_model(str(gpt2)).identity
    tokenizer = small_tokenizer()
    tokenizer.add_tokens(["mouse"])
    tokenizer.save_pretrained(gpt2)
    after = open_model(str(gpt2)).identity
    assert after.weights == before.weights
    assert after.tokenizer != before.tokenizer


def test_files_beside_the_model_do_not_change_the_identity(gpt2: Path) -> None:
    before = open_model(str(gpt2)).identity
    (gpt2 / "README.md").write_text("notes")
    save_file({"x": torch.zeros(1)}, gpt2 / "optimizer.safetensors")
    assert open_model(str(gpt2)).identity == before
