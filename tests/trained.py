"""Small models trained for real on the text of the tests, saved as trainers save them: one folder a checkpoint."""

from __future__ import annotations

import shutil
from pathlib import Path

import torch
import transformers

from glosseme.models.load import quiet
from small_tokenizers import TEXT, tokenizer_of

__all__ = ["STEPS", "train"]

STEPS = (1, 2, 4, 8, 16, 32, 48, 64)
"""Eight checkpoints."""

_LENGTH = 48
_BATCH = 8


def train(folder: Path, *, masked: bool, twin: int | None = None, broken: int | None = None) -> Path:
    """Train a model on `TEXT` and save it after each of `STEPS`; the tokenizer lies in the folder above them.

    The checkpoint of step `twin` gets the weights of the one before it, that of `broken` none, as public series of
    checkpoints have had.
    """
    torch.manual_seed(0)
    tokenizer = tokenizer_of("bert" if masked else "gpt2")
    network = _bert(len(tokenizer)) if masked else _gpt2(len(tokenizer))
    optimiser = torch.optim.AdamW(network.parameters(), lr=3e-3)
    ids = tokenizer(TEXT.replace("\n", " "), add_special_tokens=False)["input_ids"]
    random = torch.Generator().manual_seed(1)
    tokenizer.save_pretrained(folder)
    for step in range(1, STEPS[-1] + 1):
        loss = network(**_batch(torch.tensor(ids), tokenizer, random, masked=masked)).loss
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        if step in STEPS:
            with quiet():
                network.save_pretrained(folder / f"checkpoint-{step}")
    if twin is not None:
        before = STEPS[STEPS.index(twin) - 1]
        shutil.copy(folder / f"checkpoint-{before}/model.safetensors", folder / f"checkpoint-{twin}")
    if broken is not None:
        (folder / f"checkpoint-{broken}/model.safetensors").unlink()
    return folder


def _gpt2(vocabulary: int) -> transformers.GPT2LMHeadModel:
    config = transformers.GPT2Config(
        vocab_size=vocabulary, n_embd=32, n_layer=2, n_head=4, n_positions=128, bos_token_id=0, eos_token_id=0
    )
    return transformers.GPT2LMHeadModel(config)


def _bert(vocabulary: int) -> transformers.BertForMaskedLM:
    config = transformers.BertConfig(
        vocab_size=vocabulary,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=128,
    )
    return transformers.BertForMaskedLM(config)


def _batch(
    ids: torch.Tensor, tokenizer: transformers.PreTrainedTokenizerFast, random: torch.Generator, *, masked: bool
) -> dict[str, torch.Tensor]:
    starts = torch.randint(0, len(ids) - _LENGTH, (_BATCH,), generator=random)
    chunk = torch.stack([ids[start : start + _LENGTH] for start in starts.tolist()])
    if not masked:
        return {"input_ids": chunk, "labels": chunk}
    hidden = torch.rand(chunk.shape, generator=random) < 0.15
    return {
        "input_ids": chunk.masked_fill(hidden, tokenizer.mask_token_id),
        "labels": chunk.masked_fill(~hidden, -100),
    }
