"""Small models and a tokenizer, made without any download."""

from __future__ import annotations

from pathlib import Path

import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from glosseme.models.load import quiet

WORDS = ["[PAD]", "[CLS]", "[SEP]", "[MASK]", "[UNK]", "the", "cat", "dog", "sleeps", "barks", "."]


def small_tokenizer() -> transformers.PreTrainedTokenizerFast:
    vocabulary = {w: i for i, w in enumerate(WORDS)}
    backend = Tokenizer(models.WordLevel(vocabulary, "[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    special = [("[CLS]", 1), ("[SEP]", 2)]
    backend.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=special)
    named = {f"{w.strip('[]').lower()}_token": w for w in WORDS[:5]}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=backend, **named)


def small_bert(**changes: object) -> transformers.BertConfig:
    settings = {
        "vocab_size": len(WORDS),
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 16,
        "max_position_embeddings": 32,
    }
    return transformers.BertConfig(**(settings | changes))


def small_gpt2(**changes: object) -> transformers.GPT2Config:
    settings = {"vocab_size": len(WORDS), "n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": 32}
    return transformers.GPT2Config(**(settings | changes | {"bos_token_id": 1, "eos_token_id": 2}))


def save(network: torch.nn.Module, folder: Path, *, tokenizer: bool = True, shard: str = "1GB") -> Path:
    with quiet():
        network.save_pretrained(folder, max_shard_size=shard)
        if tokenizer:
            small_tokenizer().save_pretrained(folder)
    return folder


def saved_gpt2(folder: Path, seed: int = 0) -> Path:
    torch.manual_seed(seed)
    return save(transformers.GPT2LMHeadModel(small_gpt2()), folder)


def saved_bert(folder: Path, seed: int = 0) -> Path:
    torch.manual_seed(seed)
    return save(transformers.BertForMaskedLM(small_bert()), folder)
