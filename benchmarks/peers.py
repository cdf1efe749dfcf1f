"""The peers, called as their users call them, and the plain loops of the papers' authors."""

from __future__ import annotations

from copy import deepcopy
from functools import cache, lru_cache
from typing import Any

import numpy as np
import polars as pl
import torch

from glosseme.models import OpenModel
from glosseme.scoring.encode import frame_of

__all__ = ["lm_eval_sums", "minicons_conditional", "minicons_pll", "plain_causal", "plain_masked"]


def minicons_conditional(network: Any, tokenizer: Any, contexts: list[str], texts: list[str]) -> tuple[np.ndarray, int]:
    """Return sums of log-probabilities of texts after contexts, in batches of 64, and the tokens forwarded."""
    scorer = _incremental(network, tokenizer)
    values: list[float] = []
    for start in range(0, len(texts), 64):
        part = slice(start, start + 64)
        values += scorer.conditional_score(contexts[part], texts[part], reduction=lambda x: x.sum(0).item())
    joined = [f"{context} {text}" for context, text in zip(contexts, texts, strict=True)]
    return np.asarray(values), _tokens(tokenizer, joined)


@lru_cache(maxsize=1)
def _incremental(network: Any, tokenizer: Any) -> Any:
    """Return minicons' scorer of a model, made once for all that it is asked."""
    from minicons.scorer import IncrementalLMScorer

    return IncrementalLMScorer(network, device="cpu", tokenizer=deepcopy(tokenizer))


def minicons_pll(network: Any, tokenizer: Any, texts: list[str]) -> tuple[np.ndarray, int]:
    """Return pseudo-log-likelihoods (within_word_l2r), a sentence's copies together, and the tokens forwarded."""
    from minicons.scorer import MaskedLMScorer

    own = deepcopy(tokenizer)
    own.batch_encode_plus = own.__call__
    scorer = MaskedLMScorer(network, device="cpu", tokenizer=own)
    values: list[float] = []
    for start in range(0, len(texts), 10):
        part = texts[start : start + 10]
        values += scorer.sequence_score(part, reduction=lambda x: x.sum(0).item(), PLL_metric="within_word_l2r")
    lengths = [len(ids) for ids in tokenizer(texts)["input_ids"]]
    return np.asarray(values), sum(n * (n - 2) for n in lengths)


def lm_eval_sums(model: OpenModel, texts: list[str]) -> tuple[np.ndarray, int]:
    """Return sums of log-probabilities of sentences by lm-eval's hf model, batch 64, and the tokens forwarded."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    network = model.network()
    peer = HFLM(pretrained=network, tokenizer=deepcopy(model.tokenizer), batch_size=64, add_bos_token=True)
    asked = [
        Instance(request_type="loglikelihood", doc={}, arguments=("", text), idx=i) for i, text in enumerate(texts)
    ]
    found = peer.loglikelihood(asked, disable_tqdm=True)
    return np.asarray([value for value, _ in found]), _tokens(model.tokenizer, texts)


def _tokens(tokenizer: Any, texts: list[str]) -> int:
    return _counted(tokenizer, tuple(texts))


@cache
def _counted(tokenizer: Any, texts: tuple[str, ...]) -> int:
    # Once, so that it weighs on one round only.
    return sum(len(ids) for ids in tokenizer(list(texts))["input_ids"])


@torch.inference_mode()
def plain_causal(model: OpenModel, rows: pl.DataFrame) -> tuple[np.ndarray, int]:
    """Return log-probabilities of the first `n_tokens` tokens of `text` after `context`, each row a forward pass."""
    network, encoder = model.network(), frame_of(model.tokenizer, "causal")
    values, tokens = [], 0
    for context, text, n in rows.select("context", "text", "n_tokens").iter_rows():
        [encoded] = encoder.encode([f"{context} {text}"])
        ids, before = encoder.framed(encoded.ids)
        first = before + int(np.searchsorted(encoded.starts, len(context), side="left"))
        logprobs = network(torch.tensor(ids[None].astype(np.int64))).logits[0].log_softmax(-1)
        targets = torch.tensor(ids[first:].astype(np.int64))
        values.append(float(logprobs[first - 1 : -1].gather(1, targets[:, None])[:n].sum()))
        tokens += len(ids)
    return np.asarray(values), tokens


@torch.inference_mode()
def plain_masked(model: OpenModel, rows: pl.DataFrame, slot: str) -> tuple[np.ndarray, int]:
    """Return log-probabilities of `text` in the slot of `context`, all its tokens masked, a forward pass each."""
    network, encoder = model.network(), frame_of(model.tokenizer, "masked")
    values, tokens = [], 0
    for context, text in rows.select("context", "text").iter_rows():
        filled = context.replace(slot, text)
        start = context.index(slot)
        [encoded] = encoder.encode([filled])
        ids, before = encoder.framed(encoded.ids)
        inside = np.flatnonzero((encoded.starts >= start) & (encoded.ends <= start + len(text))) + before
        masked = ids.astype(np.int64).copy()
        masked[inside] = encoder.mask_id
        logprobs = network(torch.tensor(masked[None])).logits[0].log_softmax(-1)
        values.append(float(sum(logprobs[i, int(ids[i])] for i in inside)))
        tokens += len(ids)
    return np.asarray(values), tokens
