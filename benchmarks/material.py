"""Models and items of the workloads: the offline model, and random weights in published configurations."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

from glosseme.models import OpenModel, open_model
from glosseme.suites.wdlmpro.choose import groups_of
from glosseme.suites.wdlmpro.wordnet import WORDNET_30, load

__all__ = ["FOLDER", "bert_base", "blimp_pairs", "checkpoints", "gpt2_small", "offline", "sisters"]

FOLDER = Path(tempfile.gettempdir()) / "glosseme-benchmarks"
_BLIMP = Path(__file__).parents[2] / "shared/reference/minimal-pairs"


@cache
def offline() -> OpenModel:
    """Return the pretrained model of the extra `offline`."""
    model = open_model("offline:gemma-3-270m", device="cpu")
    model.network()
    return model


@cache
def gpt2_small() -> OpenModel:
    """Return GPT-2 small with random weights and a byte-level BPE of its size."""
    tokenizer = _byte_level(50257)
    end = tokenizer.convert_tokens_to_ids("<|endoftext|>")
    config = transformers.GPT2Config(vocab_size=50257, bos_token_id=end, eos_token_id=end)
    return _opened("gpt2-small", lambda: transformers.GPT2LMHeadModel(config), tokenizer)


@cache
def bert_base() -> OpenModel:
    """Return BERT base with random weights and a WordPiece of its size."""
    config = transformers.BertConfig()
    return _opened("bert-base", lambda: transformers.BertForMaskedLM(config), _wordpiece(config.vocab_size))


@cache
def checkpoints(n: int = 8) -> Path:
    """Return a folder with `n` checkpoints of a network of the size of Pythia 14m, each with its own weights."""
    folder = FOLDER / "pythia-14m"
    tokenizer = _byte_level(50257)
    config = transformers.GPTNeoXConfig(
        vocab_size=50304, hidden_size=128, num_hidden_layers=6, num_attention_heads=4, intermediate_size=512
    )
    tokenizer.save_pretrained(folder)
    for step in range(n):
        torch.manual_seed(step)
        network = transformers.GPTNeoXForCausalLM(config)
        network.save_pretrained(folder / f"step{2**step}")
    return folder


def _opened(name: str, make, tokenizer) -> OpenModel:
    folder = FOLDER / name
    torch.manual_seed(0)
    make().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    model = open_model(str(folder), device="cpu")
    model.network()
    return model


def _definitions() -> list[str]:
    return load("wordnet-3.0").synsets["definition"].to_list()


@cache
def _byte_level(size: int) -> transformers.PreTrainedTokenizerFast:
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    backend.train_from_iterator(
        _definitions(),
        trainers.BpeTrainer(
            vocab_size=size, special_tokens=["<|endoftext|>"], initial_alphabet=alphabet, show_progress=False
        ),
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend, bos_token="<|endoftext|>", eos_token="<|endoftext|>", pad_token="<|endoftext|>"
    )


def _wordpiece(size: int) -> transformers.PreTrainedTokenizerFast:
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    backend = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer()
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=size, special_tokens=special, show_progress=False)
    backend.train_from_iterator(_definitions(), trainer)
    ends = [("[CLS]", backend.token_to_id("[CLS]")), ("[SEP]", backend.token_to_id("[SEP]"))]
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends
    )
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), special, strict=True))
    return transformers.BertTokenizerFast(tokenizer_object=backend, **names)


def sisters(n: int) -> Path:
    """Return a file of at least n noun targets: whole sets of sisters, drawn at random."""
    wordnet, found = groups_of(WORDNET_30)
    nouns = found.groups.filter(pl.col("pos") == "noun")["target"].sort()
    order = np.random.default_rng(0).permutation(len(nouns))
    chosen, targets = set[int](), set(nouns.to_list())
    for target in nouns.gather(order).to_list():
        if len(chosen) >= n:
            break
        chosen |= targets & set(found.members.filter(pl.col("target") == target)["candidate"].to_list())
    names = wordnet.synsets.filter(pl.col("id").is_in(sorted(chosen)))["synset"]
    path = FOLDER / f"sisters-{n}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(names.to_list()) + "\n", encoding="utf-8")
    return path


def blimp_pairs(n: int) -> list[dict[str, object]]:
    """Return n pairs as BLiMP's files have them, spread over the four files."""
    files = sorted(_BLIMP.glob("*.jsonl"))
    if not files:
        raise SystemExit(f"the four files of BLiMP are expected in {_BLIMP}")
    lines = [path.read_text(encoding="utf-8").splitlines() for path in files]
    return [json.loads(lines[place % len(lines)][place // len(lines)]) for place in range(n)]
