"""GGUF files converted once, and the model that comes in packages."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import pre_tokenizers

from glosseme.errors import GlossemeError
from glosseme.models import needs_conversion, notice, offline, open_model, parse_reference
from glosseme.models.identity import RECORD

WIDTH, HEADS, INNER, LONGEST = 32, 2, 64, 64
TEXT = "The cat sat on the mat and looked out of the window."


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GLOSSEME_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def write_gguf(path: Path, *, add_bos: bool = True, layers: int = 1) -> dict[str, np.ndarray]:
    gguf = pytest.importorskip("gguf")
    writer = gguf.GGUFWriter(str(path), "llama")
    tokens = ["<s>", "</s>", *sorted(pre_tokenizers.ByteLevel.alphabet()), "Ġt", "he"]
    writer.add_context_length(LONGEST)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10_000.0)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_merges(["Ġ t", "h e"])
    writer.add_token_types([3, 3] + [1] * (len(tokens) - 2))
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    writer.add_add_bos_token(add_bos)
    weights = _weights(len(tokens))
    for name, values in weights.items():
        writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return weights


def _weights(vocabulary: int) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(0)
    shapes = {"token_embd": (vocabulary, WIDTH), "output": (vocabulary, WIDTH), "output_norm": (WIDTH,)}
    shapes |= {f"blk.0.attn_{n}": (WIDTH, WIDTH) for n in ("q", "k", "v", "output")}
    shapes |= {f"blk.0.{n}_norm": (WIDTH,) for n in ("attn", "ffn")}
    shapes |= {f"blk.0.ffn_{n}": (INNER, WIDTH) for n in ("gate", "up")} | {"blk.0.ffn_down": (WIDTH, INNER)}
    return {f"{n}.weight": draw.normal(0, 0.1, s).astype(np.float32) for n, s in shapes.items()}


def test_a_gguf_file_is_converted_once_and_left_alone(tmp_path: Path, own_cache: Path) -> None:
    path = tmp_path / "small.gguf"
    weights = write_gguf(path)
    assert needs_conversion(parse_reference(str(path)))
    model = open_model(str(path), device="cpu")
    assert not needs_conversion(parse_reference(str(path)))
    assert (model.kind, model.max_length, model.reference.label) == ("causal", LONGEST, "small")
    embedding = model.network().get_parameter("model.embed_tokens.weight")
    assert torch.equal(embedding, torch.from_numpy(weights["token_embd.weight"]))
    [folder] = (own_cache / "converted").iterdir()
    written = {p.name: p.stat().st_mtime_ns for p in folder.iterdir()}
    assert not any(n.endswith(".gguf") for n in written)
    assert open_model(str(path)).identity == model.identity
    assert {p.name: p.stat().st_mtime_ns for p in folder.iterdir()} == written


@pytest.mark.parametrize("add_bos", [True, False])
def test_the_tokenizer_adds_the_beginning_of_text_if_the_file_says_so(tmp_path: Path, add_bos: bool) -> None:
    write_gguf(tmp_path / "small.gguf", add_bos=add_bos)
    tokenizer = open_model(str(tmp_path / "small.gguf")).tokenizer
    tokens = tokenizer.convert_ids_to_tokens(tokenizer("the").input_ids)
    assert tokens == (["<s>", "t", "he"] if add_bos else ["t", "he"])


def test_recorded_hashes_are_not_believed_of_changed_files(tmp_path: Path, own_cache: Path) -> None:
    write_gguf(tmp_path / "small.gguf")
    before = open_model(str(tmp_path / "small.gguf")).identity
    [folder] = (own_cache / "converted").iterdir()
    record = json.loads((folder / RECORD).read_text())
    assert record["files"]["model.safetensors"]["sha256"] == before.files["model.safetensors"]
    assert len(record["source_sha256"]) == 64
    assert "transformers" in record["versions"]
    raw = bytearray((folder / "model.safetensors").read_bytes())
    raw[-1] ^= 1
    (folder / "model.safetensors").write_bytes(raw)
    assert open_model(str(tmp_path / "small.gguf")).identity.weights != before.weights


def test_a_renamed_file_is_the_same_model_and_another_one_is_not(tmp_path: Path, own_cache: Path) -> None:
    write_gguf(tmp_path / "one.gguf")
    one = open_model(str(tmp_path / "one.gguf")).identity
    (tmp_path / "one.gguf").rename(tmp_path / "two.gguf")
    assert not needs_conversion(parse_reference(str(tmp_path / "two.gguf")))
    write_gguf(tmp_path / "one.gguf", add_bos=False)
    other = open_model(str(tmp_path / "one.gguf")).identity
    assert other.weights == one.weights
    assert other.tokenizer != one.tokenizer
    assert len(list((own_cache / "converted").iterdir())) == 2


def test_a_file_that_lacks_weights_is_refused_and_leaves_nothing(tmp_path: Path, own_cache: Path) -> None:
    write_gguf(tmp_path / "small.gguf", layers=2)
    with pytest.raises(GlossemeError, match=r"model\.layers\.1\..*would be random"):
        open_model(str(tmp_path / "small.gguf"))
    assert list((own_cache / "converted").iterdir()) == []


def test_a_broken_file_is_one_line_and_leaves_nothing(tmp_path: Path, own_cache: Path) -> None:
    pytest.importorskip("gguf")
    (tmp_path / "broken.gguf").write_bytes(b"GGUF\0\0\0\0")
    with pytest.raises(GlossemeError, match="broken: the GGUF file can't be converted") as caught:
        open_model(str(tmp_path / "broken.gguf"))
    assert "\n" not in str(caught.value)
    assert list((own_cache / "converted").iterdir()) == []


def test_the_quicker_of_two_processes_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_gguf(tmp_path / "small.gguf")
    convert = offline._convert

    def overtaken(source: Path, target: Path, record: dict[str, object], where: str) -> None:
        monkeypatch.setattr(offline, "_convert", convert)
        open_model(str(tmp_path / "small.gguf"))  # another process, from start to finish
        convert(source, target, record, where)

    monkeypatch.setattr(offline, "_convert", overtaken)
    model = open_model(str(tmp_path / "small.gguf"), device="cpu")
    assert model.network() is not None
    assert [p.name.endswith("-v1") for p in (tmp_path / "cache" / "converted").iterdir()] == [True]


def test_a_half_written_folder_is_never_used(tmp_path: Path, own_cache: Path) -> None:
    write_gguf(tmp_path / "small.gguf")
    identity = open_model(str(tmp_path / "small.gguf")).identity
    [folder] = (own_cache / "converted").iterdir()
    (folder / RECORD).unlink()
    (folder / "config.json").unlink()
    assert open_model(str(tmp_path / "small.gguf")).identity == identity


@pytest.mark.parametrize("name", ["a-file", "a-file/below"])
def test_a_cache_that_is_no_folder_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    write_gguf(tmp_path / "small.gguf")
    (tmp_path / "a-file").write_text("")
    monkeypatch.setenv("GLOSSEME_CACHE", str(tmp_path / name))
    with pytest.raises(GlossemeError, match=f"{tmp_path / name}: .*can't be kept here.*GLOSSEME_CACHE") as caught:
        open_model(str(tmp_path / "small.gguf"))
    assert caught.value.exit_code == 2


def test_a_cache_that_can_only_be_read_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    write_gguf(tmp_path / "small.gguf")
    monkeypatch.setattr(offline.tempfile, "mkdtemp", refuse)
    with pytest.raises(GlossemeError, match=r"can't be kept here \(Read-only file system\); .*GLOSSEME_CACHE"):
        open_model(str(tmp_path / "small.gguf"))


def test_a_missing_package_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offline, "installed", lambda package: None)
    (tmp_path / "small.gguf").write_bytes(b"GGUF")
    with pytest.raises(GlossemeError, match=r"pip install 'glosseme\[gguf\]'"):
        open_model(str(tmp_path / "small.gguf"))
    with pytest.raises(GlossemeError, match=r"pip install 'glosseme\[offline\]'"):
        open_model("offline:gemma-3-270m")


def test_the_terms_are_shown_for_gemma_only() -> None:
    assert "Gemma Terms of Use" in (notice(parse_reference("offline:gemma-3-270m")) or "")
    assert notice(parse_reference("gpt2")) is None
    assert notice(parse_reference("fake:constant")) is None


@pytest.mark.offline
def test_gemma_gets_its_beginning_of_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it the model's perplexity on plain English is many times higher."""
    monkeypatch.delenv("GLOSSEME_CACHE")  # converted once for all runs of the tests
    model = open_model("offline:gemma-3-270m", device="cpu")
    assert model.max_length == 32_768
    ids = torch.tensor([model.tokenizer(TEXT).input_ids])
    assert ids[0, 0] == model.tokenizer.bos_token_id
    assert (ids == model.tokenizer.bos_token_id).sum() == 1
    network = model.network()

    def perplexity(sequence: torch.Tensor) -> float:
        logits = network(input_ids=sequence).logits.float()
        logprobs = logits[0, :-1].gather(1, sequence[0, 1:, None])[:, 0] - logits[0, :-1].logsumexp(-1)
        return float((-logprobs.mean()).exp())

    assert perplexity(ids) < 40
    assert perplexity(ids[:, 1:]) > 10 * perplexity(ids)
