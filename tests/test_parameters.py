"""The number of parameters in run.json: what the network itself has, read without loading it."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from glosseme.models import open_model
from glosseme.models.parameters import parameters_of
from small_models import save, saved_bert, saved_gpt2, small_bert, small_gpt2
from zoo import CAUSAL, MASKED, network_of


def counted(network: torch.nn.Module) -> int:
    return sum(p.numel() for p in network.parameters())


@pytest.mark.parametrize("name", [*CAUSAL, *MASKED])
def test_the_count_is_the_networks_own(name: str, tmp_path: Path) -> None:
    network = network_of(name)
    assert parameters_of(save(network, tmp_path, tokenizer=False)) == counted(network)


def test_shards_are_added_up(tmp_path: Path) -> None:
    network = transformers.GPT2LMHeadModel(small_gpt2())
    folder = save(network, tmp_path, shard="4KB")
    assert len(list(folder.glob("*.safetensors"))) > 1
    assert parameters_of(folder) == counted(network)


def added(folder: Path, **tensors: torch.Tensor) -> Path:
    """Write further tensors into a saved model's file, as old checkpoints have them."""
    file = folder / "model.safetensors"
    save_file({**load_file(file), **{k.replace("__", "."): v for k, v in tensors.items()}}, file)
    return folder


def test_a_tied_head_that_is_stored_twice_counts_once(tmp_path: Path) -> None:
    network = transformers.GPT2LMHeadModel(small_gpt2())
    folder = added(save(network, tmp_path), lm_head__weight=network.lm_head.weight.clone())
    assert parameters_of(folder) == counted(network)


def test_a_tied_head_counts_once_where_config_json_does_not_say_that_it_is_tied(tmp_path: Path) -> None:
    network = transformers.GPT2LMHeadModel(small_gpt2())
    folder = added(save(network, tmp_path), lm_head__weight=network.lm_head.weight.clone())
    config = json.loads((folder / "config.json").read_text())
    config.pop("tie_word_embeddings", None)
    (folder / "config.json").write_text(json.dumps(config))
    assert parameters_of(folder) == counted(network)


def test_a_head_of_its_own_counts(tmp_path: Path) -> None:
    network = transformers.GPT2LMHeadModel(small_gpt2(tie_word_embeddings=False))
    assert parameters_of(save(network, tmp_path)) == counted(network)
    assert counted(network) == counted(transformers.GPT2LMHeadModel(small_gpt2())) + 11 * 16


def test_masks_and_positions_of_old_files_are_no_parameters(tmp_path: Path) -> None:
    """The files of GPT-2, Pythia and BERT on the hub hold these."""
    folder = saved_gpt2(tmp_path / "gpt2")
    before = parameters_of(folder)
    extra = {
        "transformer__h__0__attn__bias": torch.ones(1, 1, 32, 32),
        "transformer__h__0__attn__masked_bias": torch.tensor(-1e4),
        "gpt_neox__layers__0__attention__bias": torch.ones(1, 1, 8, 8, dtype=torch.bool),
        "gpt_neox__layers__0__attention__rotary_emb__inv_freq": torch.ones(8),
    }
    assert parameters_of(added(folder, **extra)) == before
    folder = saved_bert(tmp_path / "bert")
    before = parameters_of(folder)
    assert parameters_of(added(folder, bert__embeddings__position_ids=torch.arange(32)[None])) == before


def test_what_bert_was_trained_with_besides_its_language_head_does_not_count(tmp_path: Path) -> None:
    """The file of BERT on the hub is of BertForPreTraining; scoring loads BertForMaskedLM."""
    pretrained, masked = (c(small_bert()) for c in (transformers.BertForPreTraining, transformers.BertForMaskedLM))
    folder = save(pretrained, tmp_path)
    assert counted(pretrained) > counted(masked)
    assert parameters_of(folder) == counted(masked)
    bias = pretrained.cls.predictions.bias.clone()
    weight = pretrained.cls.predictions.decoder.weight.clone()
    twice = {"cls__predictions__decoder__bias": bias, "cls__predictions__decoder__weight": weight}
    assert parameters_of(added(folder, **twice)) == counted(masked)


@pytest.mark.parametrize("content", [b"", b"\x00", struct.pack("<Q", 2**60), struct.pack("<Q", 9) + b'{"a": [1]}'])
def test_a_file_that_cannot_be_read_has_no_count(content: bytes, tmp_path: Path) -> None:
    folder = saved_gpt2(tmp_path)
    (folder / "model.safetensors").write_bytes(content)
    assert parameters_of(folder) is None


def test_quantised_weights_and_empty_folders_have_no_count(tmp_path: Path) -> None:
    assert parameters_of(tmp_path) is None
    folder = saved_gpt2(tmp_path / "model")
    config: dict[str, Any] = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"quantization_config": {"bits": 4}}))
    assert parameters_of(folder) is None


def test_a_run_records_it(tmp_path: Path) -> None:
    folder = saved_gpt2(tmp_path)
    assert open_model(str(folder)).record()["parameters"] == counted(transformers.GPT2LMHeadModel(small_gpt2()))
    assert open_model("fake:random").record()["parameters"] is None
