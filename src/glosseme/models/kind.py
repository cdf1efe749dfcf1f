"""Which kind of model a configuration describes, and the longest input it takes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from glosseme.errors import GlossemeError
from glosseme.measures import Kind

__all__ = ["check_config", "kind_of", "max_length", "needs_remote_code"]

_CAUSAL_ENDINGS: Final = ("ForCausalLM", "LMHeadModel", "DoubleHeadsModel")
_OTHER_HEADS: Final = (
    "ForSequenceClassification",
    "ForTokenClassification",
    "ForQuestionAnswering",
    "ForQuestionAnsweringSimple",
    "ForMultipleChoice",
    "ForNextSentencePrediction",
)
_ENCODERS: Final = frozenset(
    {
        "albert",
        "bert",
        "big_bird",
        "camembert",
        "data2vec-text",
        "deberta",
        "deberta-v2",
        "distilbert",
        "electra",
        "ernie",
        "megatron-bert",
        "rembert",
        "roberta",
        "roberta-prelayernorm",
        "roc_bert",
        "roformer",
        "xlm-roberta",
        "xlm-roberta-xl",
        "xmod",
    }
)
# Permutation language models see what follows a token: neither question has its usual meaning.
_NEITHER: Final = frozenset({"xlnet"})
# Their class is named like a causal model's, however they were trained; `causal` in config.json decides.
_XLM: Final = frozenset({"xlm", "flaubert"})
_MEND: Final = "bring back the config.json that the model was saved with"


def check_config(config: Mapping[str, Any], *, where: str | None = None) -> None:
    """Raise `GlossemeError` where a value of config.json that is read here is of another type than it must be.

    >>> check_config({"architectures": ["GPT2LMHeadModel"], "n_positions": 24, "pad_token_id": None})
    """
    lengths = dict.fromkeys(_LENGTHS, (int, float))
    kinds = {"model_type": (str,), "auto_map": (Mapping,), "pad_token_id": (int,), "architectures": (list,), **lengths}
    for name, types in kinds.items():
        value = config.get(name)
        wrong = value is not None and (isinstance(value, bool) or not isinstance(value, types))
        if wrong or (isinstance(value, list) and not all(isinstance(v, str) for v in value)):
            raise GlossemeError(f"config.json: {name} can't be {_shown(value)}", where=where, todo=_MEND)
    if isinstance(config.get("text_config"), Mapping):
        check_config(config["text_config"], where=where)


def _shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def kind_of(config: Mapping[str, Any], *, where: str | None = None) -> Kind:
    """Return whether config.json describes a causal or a masked language model.

    The class in `architectures` decides; a class without a language head (`BertModel`, `BertForPreTraining`,
    `GPT2Model`) goes by `model_type`. Raises `GlossemeError` for encoder-decoders, classifiers and everything
    else that is neither.

    >>> kind_of({"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2"})
    'causal'
    >>> kind_of({"architectures": ["RobertaForMaskedLM"], "model_type": "roberta"})
    'masked'
    """
    model_type = str(config.get("model_type", ""))
    architecture = next(iter(config.get("architectures") or ()), "")
    kind = None if model_type in _NEITHER else _by_class(architecture, model_type, config)
    if kind is None and architecture.endswith("ForMaskedLM") and config.get("is_decoder"):
        raise GlossemeError(
            f"{architecture} with is_decoder: true in config.json sees nothing of what follows a mask",
            where=where,
            todo="choose another model, or take is_decoder out if it was trained without",
        )
    if kind is None:
        raise GlossemeError(
            f"{architecture or model_type or 'the model'} is neither a causal nor a masked language model",
            where=where,
            todo="choose another model",
        )
    return kind


def _by_class(architecture: str, model_type: str, config: Mapping[str, Any]) -> Kind | None:
    if config.get("is_encoder_decoder") or architecture.endswith(_OTHER_HEADS):
        return None
    if model_type in _XLM:
        return "causal" if config.get("causal") else "masked"
    if architecture.endswith("ForMaskedLM"):
        return None if config.get("is_decoder") else "masked"
    if architecture.endswith(_CAUSAL_ENDINGS):
        return _causal_unless_it_sees_ahead(model_type, config)
    return _by_type(model_type, config) or _by_auto_map(config)


def _causal_unless_it_sees_ahead(model_type: str, config: Mapping[str, Any]) -> Kind | None:
    # BertLMHeadModel and its like attend to both sides unless the configuration says that they are decoders.
    bidirectional = model_type in _ENCODERS and not config.get("is_decoder")
    return None if bidirectional else "causal"


def _by_type(model_type: str, config: Mapping[str, Any]) -> Kind | None:
    # Imported late: transformers' names of classes come with torch, which takes seconds.
    from transformers.models.auto import modeling_auto as auto

    masked = auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES.get(model_type, "")
    if masked and not masked.endswith("ForConditionalGeneration") and not config.get("is_decoder"):
        return "masked"
    return "causal" if model_type in auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES else None


def _by_auto_map(config: Mapping[str, Any]) -> Kind | None:
    auto_map = config.get("auto_map") or {}
    if "AutoModelForMaskedLM" in auto_map and not config.get("is_decoder"):
        return "masked"
    return "causal" if "AutoModelForCausalLM" in auto_map else None


def needs_remote_code(config: Mapping[str, Any]) -> bool:
    """Return whether the model runs only with Python code from its own repository."""
    if not config.get("auto_map"):
        return False
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    return config.get("model_type") not in CONFIG_MAPPING_NAMES


# Positions are counted from the padding token's id upwards, fairseq's habit: the table's first rows are lost.
_COUNT_FROM_PADDING: Final = frozenset(
    {
        "roberta",
        "roberta-prelayernorm",
        "camembert",
        "xlm-roberta",
        "xlm-roberta-xl",
        "xmod",
        "data2vec-text",
        "longformer",
        "ibert",
        "luke",
        "mpnet",
        "esm",
    }
)
# ALiBi and recurrent models have no table of positions and no length that they were cut to.
_ANY_LENGTH: Final = frozenset({"bloom", "mamba", "mamba2", "falcon_mamba", "rwkv", "xlstm"})
_LENGTHS: Final = ("max_position_embeddings", "n_positions", "max_seq_len", "n_ctx")


def max_length(config: Mapping[str, Any]) -> int | None:
    """Return the longest input in tokens, special tokens included; None where positions set no limit.

    With rotary positions a longer input would run, at lengths that the model was not made for: the stated
    length counts.

    >>> max_length({"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 1})
    512
    >>> max_length({"model_type": "bloom", "seq_length": 2048}) is None
    True
    """
    text = config.get("text_config")
    if isinstance(text, Mapping):
        return max_length(text)
    model_type = str(config.get("model_type", ""))
    if model_type in _ANY_LENGTH or _has_alibi(model_type, config):
        return None
    stated = next((config[k] for k in _LENGTHS if isinstance(config.get(k), int)), None)
    if stated is None:
        return _length_by_default(model_type, config)
    if model_type in _COUNT_FROM_PADDING:
        padding = config.get("pad_token_id")
        return int(stated) - (1 if padding is None else int(padding)) - 1
    return int(stated)


def _has_alibi(model_type: str, config: Mapping[str, Any]) -> bool:
    # MPT has it too, in a table of `max_seq_len` columns that does not grow.
    return model_type == "falcon" and bool(config.get("alibi"))


def _length_by_default(model_type: str, config: Mapping[str, Any]) -> int | None:
    """Return the length that the configuration class gives where the file leaves it out."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    if model_type not in CONFIG_MAPPING:
        return None
    defaults = CONFIG_MAPPING[model_type]().to_dict()
    stated = {k: defaults[k] for k in _LENGTHS if isinstance(defaults.get(k), int)}
    return max_length({**config, **stated}) if stated else None
