"""Real tokenizers, each made from two paragraphs and wrapped as the ones of its family are."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import PreTrainedTokenizerFast

__all__ = ["TOKENIZERS", "tokenizer_of"]

TEXT = """
The old keeper walked down to the harbour every morning, let alone on Sundays, and counted the boats. He could not
remember a winter when so many of them had stayed at sea. "They will come back," his daughter said, "the wind is only
playing with them." She never believed in storms; she believed in lamps, ropes and good bread. The café on the pier
opened at seven. A doctor, a baker and two unhappy students drank their coffee there and argued about the unlikely
weather, much less about the news. Nobody had answered the letter that the teacher wrote in September.
When the first boat came in, the bells rang, the children ran over the bridge and the cat slept on. I don't know who
told them. We think that the sailors were tired, that the nets were torn, and that the fish were small: the keeper
counted them anyway. The banker, the artist and the lawyer watched from the window, and they liked what they saw.
Then the rain began again, softly at first, and the street was empty but for a dog, a bicycle and a forgotten umbrella.
"""

SIZE = 420


def _train(backend: Tokenizer, trainer: trainers.Trainer) -> Tokenizer:
    backend.train_from_iterator(TEXT.strip().splitlines() * 3, trainer)
    return backend


def _byte_level(special: Iterable[str], *, nfc: bool = False) -> Tokenizer:
    backend = Tokenizer(models.BPE())
    if nfc:
        backend.normalizer = normalizers.NFC()
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    return _train(
        backend,
        trainers.BpeTrainer(
            vocab_size=SIZE, special_tokens=list(special), initial_alphabet=alphabet, show_progress=False
        ),
    )


def _template(backend: Tokenizer, before: str | None, after: str | None = None) -> processors.TemplateProcessing:
    around = [token for token in (before, after) if token]
    single = " ".join(part for part in (before, "$A", after) if part)
    pair = " ".join(part for part in (before, "$A", after, before, "$B", after) if part)
    special = [(token, backend.token_to_id(token)) for token in dict.fromkeys(around)]
    return processors.TemplateProcessing(single=single, pair=pair, special_tokens=special)


def _wrapped(backend: Tokenizer, **special: str | AddedToken) -> PreTrainedTokenizerFast:
    return PreTrainedTokenizerFast(tokenizer_object=backend, clean_up_tokenization_spaces=False, **special)


def gpt2() -> PreTrainedTokenizerFast:
    """Byte-level BPE that adds nothing; offsets take the space in."""
    end = "<|endoftext|>"
    backend = _byte_level([end])
    backend.post_processor = processors.ByteLevel(trim_offsets=False)
    return _wrapped(backend, bos_token=end, eos_token=end, unk_token=end)


def llama3() -> PreTrainedTokenizerFast:
    """Byte-level BPE that puts a BOS in front; offsets leave the space out."""
    backend = _byte_level(["<s>", "</s>", "<pad>"])
    trimmed = processors.ByteLevel(trim_offsets=True)
    backend.post_processor = processors.Sequence([trimmed, _template(backend, "<s>")])
    return _wrapped(backend, bos_token="<s>", eos_token="</s>", pad_token="<pad>")


def llama2() -> PreTrainedTokenizerFast:
    """BPE over text whose spaces became `▁`, with one put in front, bytes for what is unknown, and a BOS."""
    backend = _spaced_bpe(prepend=True)
    backend.post_processor = _template(backend, "<s>")
    return _wrapped(backend, bos_token="<s>", eos_token="</s>", unk_token="<unk>")


def gemma() -> PreTrainedTokenizerFast:
    """The same without a `▁` in front."""
    backend = _spaced_bpe(prepend=False)
    backend.post_processor = _template(backend, "<s>")
    return _wrapped(backend, bos_token="<s>", eos_token="</s>", unk_token="<unk>", pad_token="<pad>")


def _spaced_bpe(*, prepend: bool) -> Tokenizer:
    backend = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    to_bar = normalizers.Replace(" ", "▁")
    backend.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), to_bar]) if prepend else to_bar
    # Trained on words, used without a pre-tokenizer, as the real ones are: else it would learn whole lines.
    backend.pre_tokenizer = pre_tokenizers.Split(Regex("▁"), "merged_with_next")
    backend.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
        + ([decoders.Strip(" ", 1, 0)] if prepend else [])
    )
    special = ["<unk>", "<s>", "</s>", "<pad>"]
    tokens = [*special, *(f"<0x{byte:02X}>" for byte in range(256))]
    trainer = trainers.BpeTrainer(vocab_size=2 * SIZE, special_tokens=tokens, show_progress=False)
    trained = _train(backend, trainer)
    # The bytes are tokens of the model, not added ones, which would be found in text.
    again = Tokenizer.from_str(trained.to_str())
    again.pre_tokenizer = None
    return _without_added(again, special)


def _without_added(backend: Tokenizer, keep: Iterable[str]) -> Tokenizer:
    state = json.loads(backend.to_str())
    state["added_tokens"] = [token for token in state["added_tokens"] if token["content"] in set(keep)]
    return Tokenizer.from_str(json.dumps(state))


def xlm_roberta() -> PreTrainedTokenizerFast:
    """Unigram over words with `▁` in front, and a mask that takes the space before it."""
    backend = _unigram(["<s>", "<pad>", "</s>", "<unk>"], normalizers.NFKC())
    backend.post_processor = _template(backend, "<s>", "</s>")
    mask = AddedToken("<mask>", lstrip=True, special=True)
    return _wrapped(
        backend,
        **{"bos_token": "<s>", "eos_token": "</s>", "cls_token": "<s>", "sep_token": "</s>"},
        **{"unk_token": "<unk>", "pad_token": "<pad>", "mask_token": mask},
    )


def albert() -> PreTrainedTokenizerFast:
    """Unigram in lower case without accents, with BERT's special tokens."""
    lowered = normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()])
    return _bert_like(_unigram(["<pad>", "<unk>", "[CLS]", "[SEP]"], lowered), lstrip=True)


def deberta() -> PreTrainedTokenizerFast:
    """Unigram with a mask that leaves the space before it alone."""
    backend = _unigram(["<pad>", "<unk>", "[CLS]", "[SEP]"], normalizers.NFC())
    return _bert_like(backend, lstrip=False)


def _unigram(special: list[str], normalizer: normalizers.Normalizer) -> Tokenizer:
    # Counted here, because the trainer of `tokenizers` doesn't give the same pieces twice.
    words = normalizer.normalize_str(TEXT).split()
    counts = Counter(word[:n] for word in ("▁" + word for word in words) for n in range(1, len(word) + 1))
    counts.update(word[a:b] for word in words for a in range(len(word)) for b in range(a + 1, a + 5))
    pieces = {p: n * len(p) for p, n in counts.items() if len(p) == 1 or (n > 2 and p.lstrip("▁").isalpha())}
    total = sum(pieces.values())
    scored = [(piece, math.log(pieces[piece] / total)) for piece in sorted(pieces)]
    vocabulary = [*((token, 0.0) for token in special), *scored]
    backend = Tokenizer(models.Unigram(vocabulary, unk_id=special.index("<unk>")))
    backend.normalizer = normalizer
    split = [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="always")]
    backend.pre_tokenizer = pre_tokenizers.Sequence(split)
    backend.decoder = decoders.Metaspace(prepend_scheme="always")
    backend.add_special_tokens([AddedToken(token, special=True) for token in special])
    return backend


def _bert_like(backend: Tokenizer, *, lstrip: bool) -> PreTrainedTokenizerFast:
    backend.post_processor = _template(backend, "[CLS]", "[SEP]")
    mask = AddedToken("[MASK]", lstrip=lstrip, special=True)
    return _wrapped(
        backend,
        **{"cls_token": "[CLS]", "sep_token": "[SEP]", "unk_token": "<unk>"},
        **{"pad_token": "<pad>", "mask_token": mask},
    )


def bert() -> PreTrainedTokenizerFast:
    """WordPiece in lower case."""
    backend = _word_piece(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], "[UNK]")
    backend.post_processor = _template(backend, "[CLS]", "[SEP]")
    return _wrapped(
        backend,
        **{"cls_token": "[CLS]", "sep_token": "[SEP]", "unk_token": "[UNK]"},
        **{"pad_token": "[PAD]", "mask_token": "[MASK]"},
    )


def mpnet() -> PreTrainedTokenizerFast:
    """WordPiece in lower case with RoBERTa's special tokens."""
    backend = _word_piece(["<s>", "<pad>", "</s>", "[UNK]", "<mask>"], "[UNK]")
    backend.post_processor = _template(backend, "<s>", "</s>")
    mask = AddedToken("<mask>", lstrip=True, special=True)
    return _wrapped(
        backend,
        **{"bos_token": "<s>", "eos_token": "</s>", "cls_token": "<s>", "sep_token": "</s>"},
        **{"unk_token": "[UNK]", "pad_token": "<pad>", "mask_token": mask},
    )


def _word_piece(special: list[str], unknown: str) -> Tokenizer:
    normalizer, split = normalizers.BertNormalizer(lowercase=True), pre_tokenizers.BertPreTokenizer()
    # Counted here, because the trainer of `tokenizers` doesn't give the same pieces twice.
    words = sorted({word for word, _ in split.pre_tokenize_str(normalizer.normalize_str(TEXT))})
    endings = Counter(word[-n:] for word in words for n in range(1, 4) if len(word) > n)
    letters = sorted(set("".join(words)))
    pieces = [*letters, *words, *("##" + c for c in letters), *sorted("##" + e for e, n in endings.items() if n > 1)]
    vocabulary = {token: i for i, token in enumerate(dict.fromkeys([*special, *pieces]))}
    backend = Tokenizer(models.WordPiece(vocabulary, unk_token=unknown))
    backend.normalizer, backend.pre_tokenizer = normalizer, split
    backend.decoder = decoders.WordPiece()
    backend.add_special_tokens([AddedToken(token, special=True) for token in special])
    return backend


def roberta() -> PreTrainedTokenizerFast:
    """Byte-level BPE, offsets without the space, and a mask that takes the space before it."""
    backend = _byte_level(["<s>", "<pad>", "</s>", "<unk>"])
    backend.post_processor = processors.RobertaProcessing(
        ("</s>", backend.token_to_id("</s>")),
        ("<s>", backend.token_to_id("<s>")),
        trim_offsets=True,
        add_prefix_space=False,
    )
    mask = AddedToken("<mask>", lstrip=True, special=True)
    return _wrapped(
        backend,
        **{"bos_token": "<s>", "eos_token": "</s>", "cls_token": "<s>", "sep_token": "</s>"},
        **{"unk_token": "<unk>", "pad_token": "<pad>", "mask_token": mask},
    )


def modernbert() -> PreTrainedTokenizerFast:
    """Byte-level BPE after NFC, with BERT's special tokens, offsets with the space."""
    backend = _byte_level(["[UNK]", "[CLS]", "[SEP]", "[PAD]"], nfc=True)
    backend.post_processor = _template(backend, "[CLS]", "[SEP]")
    mask = AddedToken("[MASK]", lstrip=True, special=True)
    return _wrapped(
        backend,
        **{"cls_token": "[CLS]", "sep_token": "[SEP]", "unk_token": "[UNK]"},
        **{"pad_token": "[PAD]", "mask_token": mask},
    )


_MAKE: dict[str, Callable[[], PreTrainedTokenizerFast]] = {
    made.__name__: made
    for made in (
        *(gpt2, llama3, llama2, gemma),
        *(bert, mpnet, roberta, modernbert, xlm_roberta, albert, deberta),
    )
}
TOKENIZERS = tuple(_MAKE)
MASKED_TOKENIZERS = ("bert", "mpnet", "roberta", "modernbert", "xlm_roberta", "albert", "deberta")
CAUSAL_TOKENIZERS = ("gpt2", "llama3", "llama2", "gemma")


@cache
def tokenizer_of(name: str) -> PreTrainedTokenizerFast:
    """Return a tokenizer by the name of its family, trained the first time."""
    return _MAKE[name]()
