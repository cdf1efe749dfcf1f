"""Models that answer without a network: a constant, or a hash of the question."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from math import log
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from glosseme.measures import Kind
from glosseme.models.identity import Identity, identity_of_hashes
from glosseme.models.reference import Reference
from glosseme.scoring.hashes import Words, mixed

__all__ = ["Fake", "fake_of", "fake_tokenizer"]

Ints = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.float32]

_LOWEST: Final = 15.0
_ODD: Final = np.uint64(0x9E3779B97F4A7C15)
_MASK64: Final = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Fake:
    """Answers to reads that depend on nothing but the read: not on order, batch or neighbours.

    Sequences lie one after another in `ids`, sequence `s` at `ids[starts[s]:starts[s + 1]]`. A causal answer
    depends on the ids up to the position and on the token, a masked one on all ids of the sequence, the
    position and the token.
    """

    kind: Kind
    seed: int | None
    """None for the constant fake."""

    def logprobs(self, ids: Ints, starts: Ints, sequence: Ints, position: Ints, token: Ints) -> Floats:
        """Return a log-probability for each read, shape (reads,), nats.

        The constant fake answers 0, probability 1: the one constant that stays the same under sums and means
        of any length, so that every comparison is a tie. The random fake answers in (-15, 0], uniformly; its
        probabilities do not sum to one over the vocabulary.
        """
        if self.seed is None:
            return np.zeros(len(sequence), np.float32)
        hashes = self._places(ids, starts, sequence, position) ^ mixed(token.astype(np.uint64) + _ODD)
        return (-_LOWEST * _uniform(mixed(hashes))).astype(np.float32)

    def divergences(
        self,
        ids: Ints,
        starts: Ints,
        sequence: Ints,
        position: Ints,
        other_sequence: Ints,
        other_position: Ints,
    ) -> Floats:
        """Return a divergence of two distributions for each read, shape (reads,), nats, in [0, ln 2].

        Symmetric, and 0 for a distribution and itself; always 0 of the constant fake.
        """
        if self.seed is None:
            return np.zeros(len(sequence), np.float32)
        one = self._places(ids, starts, sequence, position)
        other = self._places(ids, starts, other_sequence, other_position)
        values = log(2) * _uniform(mixed(mixed(one) + mixed(other)))
        return np.where(one == other, 0.0, values).astype(np.float32)

    def _places(self, ids: Ints, starts: Ints, sequence: Ints, position: Ints) -> Words:
        """Return a hash of what each read may depend on apart from the token, shape (reads,)."""
        ends = starts[sequence] + position + 1 if self.kind == "causal" else starts[sequence + 1]
        seed = mixed(np.full(1, (self.seed or 0) & _MASK64, np.uint64))
        spans = _span_hashes(ids, starts[sequence], ends)
        return mixed(spans ^ seed) ^ mixed(position.astype(np.uint64) + np.uint64(1))


def _span_hashes(ids: Ints, starts: Ints, ends: Ints) -> Words:
    """Return a hash of each `ids[start:end]`, shape (spans,): a polynomial modulo 2**64 of mixed ids."""
    powers = np.cumprod(np.full(len(ids), _ODD, np.uint64), dtype=np.uint64)
    terms = mixed(ids.astype(np.uint64) + np.uint64(1)) * powers
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)])
    # Divided by the power of its start a span's hash is the same wherever it lies; odd numbers have inverses.
    inverse = np.uint64(pow(int(_ODD), -1, 2**64))
    shifts = np.concatenate([np.ones(1, np.uint64), np.cumprod(np.full(len(ids), inverse, np.uint64), dtype=np.uint64)])
    hashes: Words = (sums[ends] - sums[starts]) * shifts[starts]
    return hashes


def _uniform(x: Words) -> npt.NDArray[np.float64]:
    """Return the upper 24 bits as a number in [0, 1) that float32 holds exactly."""
    return (x >> np.uint64(40)).astype(np.float64) / 2**24


def fake_of(reference: Reference) -> Fake:
    """Return the fake that a reference names.

    >>> fake_of(Reference("fake:random-masked", "7", "fake"))
    Fake(kind='masked', seed=7)
    """
    kind: Kind = "masked" if reference.name.endswith("-masked") else "causal"
    return Fake(kind, int(reference.revision) if reference.name.startswith("fake:random") else None)


def fake_identity(reference: Reference, tokenizer: Any) -> Identity:
    """Return an identity made of the fake's name, its seed and its tokenizer."""
    name = sha256(f"{reference.name}@{reference.revision}".encode()).hexdigest()
    vocabulary = sha256(tokenizer.backend_tokenizer.to_str().encode()).hexdigest()
    return identity_of_hashes(None, {"name": name}, {"tokenizer.json": vocabulary})


def fake_tokenizer(kind: Kind) -> Any:
    """Return a tokenizer with a token for each byte; masked models get CLS, SEP and a mask token."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    special = (
        {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
        if kind == "masked"
        else {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>"}
    )
    names = dict.fromkeys(special.values())
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: i for i, token in enumerate([*names, *alphabet])}
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    if kind == "masked":
        backend.post_processor = _framing(vocabulary)
    return PreTrainedTokenizerFast(tokenizer_object=backend, clean_up_tokenization_spaces=False, **special)


def _framing(vocabulary: dict[str, int]) -> Any:
    from tokenizers import processors

    return processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B [SEP]",
        special_tokens=[(t, vocabulary[t]) for t in ("[CLS]", "[SEP]")],
    )
