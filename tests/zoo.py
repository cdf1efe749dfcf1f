"""Small models of real architectures, with weights that make every mistake visible.

Three layers, random, one seed each. The usual initialisation is so small that all tokens are about equally likely
whatever stands before them; here weights are scaled so that logits have a standard deviation of 1.5 to 2.
Windows are 8 tokens, so that they matter at almost every position.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import torch
import transformers
from transformers.pytorch_utils import Conv1D

from glosseme.models.load import quiet
from small_tokenizers import tokenizer_of

__all__ = ["CAUSAL", "MASKED", "network_of", "tokenizer_for"]

torch.set_num_threads(1)

WINDOW = 8
LENGTH = 512
WIDTH = 32

_N_STYLE = {"n_embd": WIDTH, "n_layer": 3, "n_head": 4}
_BERT = {
    "hidden_size": WIDTH,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 2 * WIDTH,
    "max_position_embeddings": LENGTH,
}
_LLAMA = _BERT | {"num_key_value_heads": 2}
_MIXED = ["sliding_attention", "sliding_attention", "full_attention"]
_GEMMA = _LLAMA | {"head_dim": 8, "query_pre_attn_scalar": 8, "sliding_window": WINDOW}
_MODERN = _BERT | {"global_attn_every_n_layers": 3}
_DEBERTA = _BERT | {
    "relative_attention": True,
    "position_buckets": 8,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "pos_att_type": "p2c|c2p",
    "position_biased_input": False,
    "max_relative_positions": -1,
    "conv_kernel_size": 0,
    "type_vocab_size": 0,
}

# name: (class, configuration, tokenizer, settings)
_Row = tuple[str, str, str, dict[str, Any]]
CAUSAL: dict[str, _Row] = {
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", "gpt2", _N_STYLE | {"n_positions": LENGTH}),
    "gpt-neox": ("GPTNeoXForCausalLM", "GPTNeoXConfig", "gpt2", _BERT),
    "opt": ("OPTForCausalLM", "OPTConfig", "llama3", _BERT | {"ffn_dim": 64, "word_embed_proj_dim": 16}),
    "llama": ("LlamaForCausalLM", "LlamaConfig", "llama2", _LLAMA),
    "qwen2": ("Qwen2ForCausalLM", "Qwen2Config", "gpt2", _LLAMA),
    "qwen3": ("Qwen3ForCausalLM", "Qwen3Config", "gpt2", _LLAMA | {"head_dim": 8}),
    "gemma2": (
        "Gemma2ForCausalLM",
        "Gemma2Config",
        "gemma",
        _GEMMA | {"attn_logit_softcapping": 5.0, "final_logit_softcapping": 3.0},
    ),
    "gemma3": ("Gemma3ForCausalLM", "Gemma3TextConfig", "gemma", _GEMMA | {"layer_types": _MIXED}),
    "mistral": ("MistralForCausalLM", "MistralConfig", "llama2", _LLAMA | {"sliding_window": WINDOW}),
    "olmo2": ("Olmo2ForCausalLM", "Olmo2Config", "gpt2", _LLAMA),
    "bloom": ("BloomForCausalLM", "BloomConfig", "gpt2", {"hidden_size": WIDTH, "n_layer": 3, "n_head": 4}),
    "mpt": (
        "MptForCausalLM",
        "MptConfig",
        "gpt2",
        {"d_model": WIDTH, "n_heads": 4, "n_layers": 3, "max_seq_len": LENGTH},
    ),
    "falcon": ("FalconForCausalLM", "FalconConfig", "gpt2", _BERT | {"alibi": False}),
    "falcon-alibi": (
        "FalconForCausalLM",
        "FalconConfig",
        "gpt2",
        _BERT | {"alibi": True, "multi_query": False},
    ),
    "gpt-j": ("GPTJForCausalLM", "GPTJConfig", "gpt2", _N_STYLE | {"n_positions": LENGTH, "rotary_dim": 4}),
    "gpt-neo": (
        "GPTNeoForCausalLM",
        "GPTNeoConfig",
        "gpt2",
        {
            "hidden_size": WIDTH,
            "num_layers": 3,
            "num_heads": 4,
            "attention_types": [[["global", "local", "local"], 1]],
            "window_size": WINDOW,
            "max_position_embeddings": LENGTH,
            "intermediate_size": 2 * WIDTH,
        },
    ),
    "mamba": (
        "MambaForCausalLM",
        "MambaConfig",
        "gpt2",
        {"hidden_size": WIDTH, "num_hidden_layers": 3, "state_size": 8},
    ),
    "modernbert-decoder": (
        "ModernBertDecoderForCausalLM",
        "ModernBertDecoderConfig",
        "modernbert",
        _MODERN | {"local_attention": 2 * WINDOW},
    ),
}
MASKED: dict[str, _Row] = {
    "bert": ("BertForMaskedLM", "BertConfig", "bert", _BERT),
    "roberta": ("RobertaForMaskedLM", "RobertaConfig", "roberta", _BERT),
    "distilbert": (
        "DistilBertForMaskedLM",
        "DistilBertConfig",
        "bert",
        {"dim": WIDTH, "n_layers": 3, "n_heads": 4, "hidden_dim": 64, "max_position_embeddings": LENGTH},
    ),
    "albert": ("AlbertForMaskedLM", "AlbertConfig", "albert", _BERT | {"embedding_size": 16}),
    "electra": ("ElectraForMaskedLM", "ElectraConfig", "bert", _BERT | {"embedding_size": 16}),
    "xlm-roberta": ("XLMRobertaForMaskedLM", "XLMRobertaConfig", "xlm_roberta", _BERT),
    "mpnet": ("MPNetForMaskedLM", "MPNetConfig", "mpnet", _BERT),
    "deberta-v2": ("DebertaV2ForMaskedLM", "DebertaV2Config", "deberta", _DEBERTA),
    "convbert": ("ConvBertForMaskedLM", "ConvBertConfig", "bert", _BERT | {"embedding_size": 16}),
    "mobilebert": (
        "MobileBertForMaskedLM",
        "MobileBertConfig",
        "bert",
        _BERT | {"embedding_size": 16, "intra_bottleneck_size": 16},
    ),
    "modernbert": (
        "ModernBertForMaskedLM",
        "ModernBertConfig",
        "modernbert",
        _MODERN | {"local_attention": WINDOW},
    ),
}


def tokenizer_for(name: str) -> Any:
    """Return the tokenizer that a model of the zoo is read with."""
    return tokenizer_of((CAUSAL | MASKED)[name][2])


@cache
def network_of(name: str) -> torch.nn.Module:
    """Return a model of the zoo in eval mode, without gradients, made the first time it is asked for."""
    class_name, config_name, tokenizer_name, settings = (CAUSAL | MASKED)[name]
    tokenizer = tokenizer_of(tokenizer_name)
    names = ("pad_token_id", "bos_token_id", "eos_token_id", "cls_token_id", "sep_token_id")
    ids = {k: getattr(tokenizer, k) for k in names}
    if name in CAUSAL and ids["bos_token_id"] is None:
        ids |= {"bos_token_id": ids["cls_token_id"], "eos_token_id": ids["sep_token_id"]}
    config = getattr(transformers, config_name)(vocab_size=len(tokenizer), **settings, **ids)
    torch.manual_seed(0)
    with quiet():
        network: torch.nn.Module = getattr(transformers, class_name)(config)
    _rescale(network, torch.Generator().manual_seed(1))
    return network.eval().requires_grad_(False)


@torch.no_grad()
def _rescale(network: torch.nn.Module, random: torch.Generator) -> None:
    def draw(weight: torch.Tensor, std: float) -> None:
        weight.copy_(torch.randn(weight.shape, generator=random) * std)

    done: set[int] = set()  # tied weights are drawn once
    for module in network.modules():
        weight = getattr(module, "weight", None)
        if not isinstance(weight, torch.Tensor) or id(weight) in done:
            continue
        if isinstance(module, torch.nn.Linear | Conv1D):
            fan_in = weight.shape[1] if isinstance(module, torch.nn.Linear) else weight.shape[0]
            draw(weight, 1.8 / math.sqrt(fan_in))
        elif isinstance(module, torch.nn.Embedding):
            draw(weight, 0.25)
        else:
            continue
        done.add(id(weight))
    for name, parameter in network.named_parameters():
        if parameter.ndim == 1 and not any(part in name for part in ("A_log", "dt_bias")):
            parameter.add_(torch.randn(parameter.shape, generator=random) * 0.1)
