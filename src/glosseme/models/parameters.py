"""How many parameters a saved model has, read off the headers of its weight files."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from glosseme.errors import GlossemeError
from glosseme.models.source import read_config, weight_files

__all__ = ["parameters_of"]

_Shapes = dict[str, tuple[int, ...]]

_LONGEST_HEADER: Final = 100_000_000
"""In bytes: the limit of safetensors itself."""
# What networks keep beside their weights: positions, rotary frequencies, masks with a row for each position.
_BUFFER: Final = re.compile(r"(^|\.)(position_ids|token_type_ids|inv_freq|masked_bias|num_batches_tracked)$")
_MASK: Final = re.compile(r"\.(attn|attention|self_attn)\.bias$")
# Heads that BERT and its like were trained with too, which a language model is loaded without.
_OTHER_HEAD: Final = re.compile(r"(^|\.)(pooler|seq_relationship)\.")
_OUTPUT: Final = re.compile(r"(^|\.)(lm_head|embed_out|decoder|vocab_projector|generator_lm_head)\.weight$")
_INPUT: Final = re.compile(r"(^|\.)(wte|embed_tokens|embed_in|word_embeddings?|tok_embeddings|embeddings)\.weight$")
_OUTPUT_BIAS: Final = re.compile(r"(.*\.)?decoder\.bias$")


def parameters_of(folder: Path) -> int | None:
    """Return the number of parameters of the language model saved in a folder, None where it can't be told.

    Every weight counts, embeddings, positions and head included, and tied weights once, also where the files hold
    them twice. Buffers (masks, position numbers), poolers and heads for the next sentence don't. No tensor is loaded.
    None stands for quantised weights, whose shapes aren't those of the parameters, and for files that can't be read.
    """
    try:
        config = read_config(folder, where=folder.name)
        shapes = {n: s for file in weight_files(folder, where=folder.name) for n, s in _weights(folder / file)}
    except (GlossemeError, OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    if config.get("quantization_config"):
        return None
    total = sum(map(math.prod, shapes.values()))
    return total - sum(math.prod(shapes[name]) for name in _stored_twice(shapes, config))


def _weights(path: Path) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield name and shape of each weight in a safetensors file: its header is a length in 8 bytes and JSON."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > _LONGEST_HEADER:
            raise ValueError(f"a header of {length} bytes")
        header = json.loads(file.read(length))
    for name, tensor in header.items():
        if name == "__metadata__" or "F" not in tensor["dtype"]:  # whole numbers and truth values are no weights
            continue
        shape = tuple(tensor["shape"])
        mask = len(shape) > 1 and _MASK.search(name)
        if not (mask or _BUFFER.search(name) or _OTHER_HEAD.search(name)):
            yield name, shape


def _stored_twice(shapes: _Shapes, config: Mapping[str, Any]) -> Iterator[str]:
    """Yield the weights that are a tied weight's second copy: the head, and the bias of a masked model's head."""
    inputs = {shape for name, shape in shapes.items() if _INPUT.search(name)}
    heads = [name for name, shape in shapes.items() if _OUTPUT.search(name) and shape in inputs]
    if heads and _ties(config):
        yield from heads
    for name, shape in shapes.items():
        found = _OUTPUT_BIAS.fullmatch(name)
        if found and shapes.get(f"{found.group(1) or ''}bias") == shape:
            yield name


def _ties(config: Mapping[str, Any]) -> bool:
    """Return whether the head's weights are those of the input embeddings."""
    text = config.get("text_config")
    for stated in (config, text if isinstance(text, Mapping) else {}):
        if isinstance(stated.get("tie_word_embeddings"), bool):
            return bool(stated["tie_word_embeddings"])
    # Imported late: it comes with torch. What config.json doesn't say is the default of its type.
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    model_type = config.get("model_type")
    default = CONFIG_MAPPING[model_type]() if model_type in CONFIG_MAPPING else None
    return bool(getattr(default, "tie_word_embeddings", True))
