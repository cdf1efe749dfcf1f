"""Models: what a name means, which files it stands for, and the network and tokenizer made of them.

    reference = parse_reference("EleutherAI/pythia-160m@step1000")  # fails at once, imports nothing heavy
    model = open_model("gpt2", dtype="float32", device="auto", trust_remote_code=False)

    model.reference   Reference(name, revision, source); .label and .revision_label name folders,
                      .display names it in tables
    model.kind        "causal" | "masked" | "static"
    model.identity    Identity(weights, tokenizer, commit, files); computed when first asked for
    model.tokenizer   a fast tokenizer; `model.tokenizer(texts, add_special_tokens=False).encodings`
    model.max_length  the longest input in tokens, special tokens included; None where there is no limit
    model.dtype       "float32" | "bfloat16" | "float16"
    model.device      "cpu", "cuda", ...
    model.network()   torch.nn.Module in eval mode without gradients, loaded when first asked for
    model.fake        None, or a `Fake`, which has no network and answers the arrays of `scoring.reads.Reads`:
                      .logprobs(ids, starts, sequence, position, token) -> float32, shape (reads,)
                      .divergences(ids, starts, sequence, position, other_sequence, other_position)
    model.record()    a JSON-ready dict for run.json: names, commit, hashes, dtype, device, versions
    model.close()     lets go of the network

Static embeddings are a `StaticModel`: no tokenizer, network or fake, but `model.embed(texts)` (`models.static`).

`notice(reference)` gives the terms to show once, or None; `needs_conversion(reference)` says whether opening
it will take a minute. Nothing here scores anything.
"""

from __future__ import annotations

from glosseme.models.fake import Fake
from glosseme.models.identity import Identity
from glosseme.models.offline import needs_conversion, notice
from glosseme.models.opened import Model, OpenModel, open_model
from glosseme.models.reference import Reference, parse_reference
from glosseme.models.static import StaticModel

__all__ = [
    "Fake",
    "Identity",
    "Model",
    "OpenModel",
    "Reference",
    "StaticModel",
    "needs_conversion",
    "notice",
    "open_model",
    "parse_reference",
]
