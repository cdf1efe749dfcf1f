"""Train a small GPT-2 on WordNet's definitions and save checkpoints, for a trajectory that needs no model hub.

    python examples/train_small.py checkpoints        # some minutes on two cores
    glosseme trajectory -m checkpoints/wordnet-gpt2 -s paired-focus -s wdlmpro --limit 240 -o runs
    glosseme report runs -o report.html

The model reads sentences such as "a small domesticated carnivorous mammal is called cat." once, in random order.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from glosseme.suites.wdlmpro.wordnet import load

STEPS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
LENGTH, BATCH = 64, 16


def sentences() -> list[str]:
    """Return a sentence for each synset, in an order that depends on a seed alone."""
    synsets = load("wordnet-3.0").synsets.sample(fraction=1, shuffle=True, seed=0)
    return [f"{definition} is called {word}." for definition, word in synsets.select("definition", "word").iter_rows()]


def tokenizer_of(texts: list[str]) -> transformers.PreTrainedTokenizerFast:
    """Return a byte-level BPE of 8,000 tokens."""
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=8000, special_tokens=["<|end|>"], initial_alphabet=alphabet)
    backend.train_from_iterator(texts, trainer)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<|end|>", eos_token="<|end|>")


def main(folder: Path) -> None:
    """Train and save."""
    torch.manual_seed(0)
    texts = sentences()
    tokenizer = tokenizer_of(texts)
    ids = [i for text in texts for i in (tokenizer.bos_token_id, *tokenizer(text)["input_ids"])]
    rows = torch.tensor(ids[: len(ids) // LENGTH * LENGTH]).view(-1, LENGTH)
    network = transformers.GPT2LMHeadModel(
        transformers.GPT2Config(
            vocab_size=len(tokenizer),
            n_embd=256,
            n_layer=4,
            n_head=4,
            n_positions=256,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
        )
    )
    optimiser = torch.optim.AdamW(network.parameters(), lr=1e-3)
    tokenizer.save_pretrained(folder)
    for step in range(1, STEPS[-1] + 1):
        batch = rows[(step * BATCH + torch.arange(BATCH)) % len(rows)]
        loss = network(input_ids=batch, labels=batch).loss
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        if step in STEPS:
            network.save_pretrained(folder / f"step_{step}")
            sys.stderr.write(f"step {step}: loss {loss.item():.2f} nats a token\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "checkpoints") / "wordnet-gpt2")
