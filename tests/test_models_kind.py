"""The kind of a model and its longest input, from config.json alone, checked on networks that run."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers

from glosseme.errors import GlossemeError
from glosseme.models.kind import check_config, kind_of, max_length, needs_remote_code
from glosseme.models.load import quiet

CAUSAL = [
    ("GPT2Config", "GPT2LMHeadModel"),
    ("GPTNeoXConfig", "GPTNeoXForCausalLM"),
    ("OPTConfig", "OPTForCausalLM"),
    ("LlamaConfig", "LlamaForCausalLM"),
    ("Qwen2Config", "Qwen2ForCausalLM"),
    ("Qwen3Config", "Qwen3ForCausalLM"),
    ("Gemma2Config", "Gemma2ForCausalLM"),
    ("Gemma3TextConfig", "Gemma3ForCausalLM"),
    ("MistralConfig", "MistralForCausalLM"),
    ("Olmo2Config", "Olmo2ForCausalLM"),
    ("BloomConfig", "BloomForCausalLM"),
    ("MptConfig", "MptForCausalLM"),
    ("FalconConfig", "FalconForCausalLM"),
    ("GPTJConfig", "GPTJForCausalLM"),
    ("GPTNeoConfig", "GPTNeoForCausalLM"),
    ("MambaConfig", "MambaForCausalLM"),
    ("ModernBertDecoderConfig", "ModernBertDecoderForCausalLM"),
]
MASKED = [
    ("BertConfig", "BertForMaskedLM"),
    ("RobertaConfig", "RobertaForMaskedLM"),
    ("DistilBertConfig", "DistilBertForMaskedLM"),
    ("AlbertConfig", "AlbertForMaskedLM"),
    ("ElectraConfig", "ElectraForMaskedLM"),
    ("XLMRobertaConfig", "XLMRobertaForMaskedLM"),
    ("MPNetConfig", "MPNetForMaskedLM"),
    ("DebertaV2Config", "DebertaV2ForMaskedLM"),
    ("ModernBertConfig", "ModernBertForMaskedLM"),
    ("XLMConfig", "XLMWithLMHeadModel"),
]


def config_dict(name: str, architecture: str | None, **settings: Any) -> dict[str, Any]:
    config = getattr(transformers, name)(**settings).to_dict()
    return config | {"architectures": [architecture] if architecture else None}


@pytest.mark.parametrize(("name", "architecture"), CAUSAL)
def test_causal_architectures(name: str, architecture: str) -> None:
    assert kind_of(config_dict(name, architecture)) == "causal"
    assert kind_of(config_dict(name, None)) == "causal"


@pytest.mark.parametrize(("name", "architecture"), MASKED)
def test_masked_architectures(name: str, architecture: str) -> None:
    assert kind_of(config_dict(name, architecture)) == "masked"
    assert kind_of(config_dict(name, None)) == "masked"


@pytest.mark.parametrize(
    ("name", "architecture", "kind"),
    [
        ("BertConfig", "BertForPreTraining", "masked"),
        ("BertConfig", "BertModel", "masked"),
        ("ElectraConfig", "ElectraForPreTraining", "masked"),
        ("GPT2Config", "GPT2DoubleHeadsModel", "causal"),
        ("GPT2Config", "GPT2Model", "causal"),
        ("Gemma3Config", "Gemma3ForConditionalGeneration", "causal"),
    ],
)
def test_classes_without_a_language_head_go_by_the_type_of_model(name: str, architecture: str, kind: str) -> None:
    assert kind_of(config_dict(name, architecture)) == kind


def test_a_bert_that_is_a_decoder_is_causal() -> None:
    assert kind_of(config_dict("BertConfig", "BertLMHeadModel", is_decoder=True)) == "causal"


@pytest.mark.parametrize(
    ("name", "architecture"),
    [
        ("T5Config", "T5ForConditionalGeneration"),
        ("BartConfig", "BartForConditionalGeneration"),
        ("BertConfig", "BertForSequenceClassification"),
        ("GPT2Config", "GPT2ForTokenClassification"),
        ("ViTConfig", "ViTForImageClassification"),
        ("XLNetConfig", "XLNetLMHeadModel"),
        # it would see the tokens that it is to predict
        ("BertConfig", "BertLMHeadModel"),
    ],
)
def test_everything_else_is_refused(name: str, architecture: str) -> None:
    with pytest.raises(GlossemeError, match=f"here: {architecture} is neither a causal nor a masked"):
        kind_of(config_dict(name, architecture), where="here")


@pytest.mark.parametrize(("name", "architecture"), [m for m in MASKED if m[1].endswith("ForMaskedLM")])
def test_a_masked_class_that_is_a_decoder_is_refused(name: str, architecture: str) -> None:
    with pytest.raises(GlossemeError, match=f"here: {architecture} with is_decoder: true"):
        kind_of(config_dict(name, architecture) | {"is_decoder": True}, where="here")


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("architectures", [None], r"\[null\]"),
        ("architectures", "GPT2LMHeadModel", '"GPT2LMHeadModel"'),
        ("architectures", 3, "3"),
        ("model_type", ["gpt2"], r'\["gpt2"\]'),
        ("auto_map", 1, "1"),
        ("pad_token_id", "one", '"one"'),
        ("n_positions", "24", '"24"'),
        ("max_position_embeddings", True, "true"),
    ],
)
def test_a_value_of_another_type_is_named(name: str, value: object, shown: str) -> None:
    for config in ({name: value}, {"text_config": {name: value}}):
        with pytest.raises(GlossemeError, match=f"here: config.json: {name} can't be {shown};") as caught:
            check_config(config, where="here")
        assert caught.value.exit_code == 2


@pytest.mark.parametrize(("name", "architecture"), CAUSAL + MASKED)
def test_configurations_as_they_are_saved_pass(name: str, architecture: str) -> None:
    check_config(config_dict(name, architecture))


def test_an_empty_configuration_is_refused() -> None:
    with pytest.raises(GlossemeError, match="the model is neither"):
        kind_of({})


def test_code_of_its_own_is_needed_only_where_the_type_is_unknown() -> None:
    auto_map = {"AutoModelForCausalLM": "modeling_x.X"}
    assert needs_remote_code({"model_type": "my-own", "auto_map": auto_map})
    assert not needs_remote_code({"model_type": "falcon", "auto_map": auto_map})
    assert not needs_remote_code({"model_type": "my-own"})
    assert kind_of({"model_type": "my-own", "auto_map": auto_map}) == "causal"


BERT_LIKE = {
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "max_position_embeddings": 24,
}
LLAMA_LIKE = BERT_LIKE | {"num_key_value_heads": 2}
N_STYLE = {"n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": 24}

# (configuration, class, its settings, the longest input, whether one token more fails)
LENGTHS = [
    ("GPT2Config", "GPT2LMHeadModel", N_STYLE, 24, True),
    ("GPTJConfig", "GPTJForCausalLM", N_STYLE | {"rotary_dim": 4}, 24, True),
    (
        "OPTConfig",
        "OPTForCausalLM",
        BERT_LIKE | {"ffn_dim": 16, "word_embed_proj_dim": 16},
        24,
        True,
    ),
    (
        "GPTNeoConfig",
        "GPTNeoForCausalLM",
        {
            "hidden_size": 16,
            "num_layers": 1,
            "num_heads": 2,
            "attention_types": [[["global"], 1]],
            "max_position_embeddings": 24,
        },
        24,
        True,
    ),
    (
        "MptConfig",
        "MptForCausalLM",
        {"d_model": 16, "n_heads": 2, "n_layers": 1, "max_seq_len": 24},
        24,
        True,
    ),
    ("GPTNeoXConfig", "GPTNeoXForCausalLM", BERT_LIKE, 24, False),
    ("LlamaConfig", "LlamaForCausalLM", LLAMA_LIKE, 24, False),
    ("Gemma3TextConfig", "Gemma3ForCausalLM", LLAMA_LIKE | {"head_dim": 8}, 24, False),
    ("ModernBertConfig", "ModernBertForMaskedLM", BERT_LIKE | {"pad_token_id": 0}, 24, False),
    ("BertConfig", "BertForMaskedLM", BERT_LIKE, 24, True),
    ("AlbertConfig", "AlbertForMaskedLM", BERT_LIKE | {"embedding_size": 8}, 24, True),
    ("ElectraConfig", "ElectraForMaskedLM", BERT_LIKE | {"embedding_size": 8}, 24, True),
    (
        "DistilBertConfig",
        "DistilBertForMaskedLM",
        {"dim": 16, "n_layers": 1, "n_heads": 2, "hidden_dim": 16, "max_position_embeddings": 24},
        24,
        True,
    ),
    (
        "XLMConfig",
        "XLMWithLMHeadModel",
        {"emb_dim": 16, "n_layers": 1, "n_heads": 2, "max_position_embeddings": 24},
        24,
        True,
    ),
    ("RobertaConfig", "RobertaForMaskedLM", BERT_LIKE | {"pad_token_id": 1}, 22, True),
    ("RobertaConfig", "RobertaForMaskedLM", BERT_LIKE | {"pad_token_id": 0}, 23, True),
    ("XLMRobertaConfig", "XLMRobertaForMaskedLM", BERT_LIKE | {"pad_token_id": 1}, 22, True),
    ("CamembertConfig", "CamembertForMaskedLM", BERT_LIKE | {"pad_token_id": 1}, 22, True),
    ("MPNetConfig", "MPNetForMaskedLM", BERT_LIKE | {"pad_token_id": 1}, 22, True),
    ("Data2VecTextConfig", "Data2VecTextForMaskedLM", BERT_LIKE | {"pad_token_id": 1}, 22, True),
]


@pytest.mark.parametrize(("config", "network", "settings", "longest", "fails"), LENGTHS)
def test_the_longest_input_runs_and_one_token_more_does_not(
    config: str, network: str, settings: dict[str, Any], longest: int, fails: bool
) -> None:
    made = getattr(transformers, config)(vocab_size=50, **settings)
    assert max_length(made.to_dict()) == longest
    with quiet(), torch.no_grad():
        model = getattr(transformers, network)(made).eval()
        assert model(input_ids=torch.full((1, longest), 7)).logits.shape[1] == longest
        if fails:
            with pytest.raises((IndexError, RuntimeError)):
                model(input_ids=torch.full((1, longest + 1), 7))


@pytest.mark.parametrize(
    ("config", "network", "settings"),
    [
        ("BloomConfig", "BloomForCausalLM", {"hidden_size": 16, "n_layer": 1, "n_head": 2}),
        (
            "FalconConfig",
            "FalconForCausalLM",
            {
                "hidden_size": 16,
                "num_hidden_layers": 1,
                "num_attention_heads": 2,
                "alibi": True,
                "max_position_embeddings": 24,
            },
        ),
        ("MambaConfig", "MambaForCausalLM", {"hidden_size": 16, "num_hidden_layers": 1, "state_size": 4}),
        (
            "RwkvConfig",
            "RwkvForCausalLM",
            {"hidden_size": 16, "num_hidden_layers": 2, "attention_hidden_size": 16, "context_length": 24},
        ),
    ],
)
def test_alibi_and_recurrent_models_have_no_longest_input(config: str, network: str, settings: dict[str, Any]) -> None:
    made = getattr(transformers, config)(vocab_size=50, **settings)
    assert max_length(made.to_dict()) is None
    with quiet(), torch.no_grad():
        model = getattr(transformers, network)(made).eval()
        assert torch.isfinite(model(input_ids=torch.full((1, 40), 7)).logits).all()


def test_a_length_that_the_file_leaves_out_is_the_default_of_its_class() -> None:
    assert max_length({"model_type": "gpt2"}) == 1024
    assert max_length({"model_type": "roberta", "pad_token_id": 1}) == 510
    assert max_length({"model_type": "my-own"}) is None


def test_the_text_part_of_a_multimodal_model_counts() -> None:
    assert max_length({"model_type": "gemma3", "text_config": {"max_position_embeddings": 99}}) == 99
