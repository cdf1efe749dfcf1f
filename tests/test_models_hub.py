"""Models of the hub, from a cache that looks like the hub's own, without a connection."""

from __future__ import annotations

import hashlib
import json
import shutil
import socket
import time
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from huggingface_hub import errors as hub
from huggingface_hub.utils import are_progress_bars_disabled

from glosseme.errors import GlossemeError
from glosseme.hub import reach
from glosseme.models import open_model
from small_models import save, saved_gpt2, small_gpt2

OLD, NEW = "1" * 40, "2" * 40
NAME = "lab/small"


def put(cache: Path, folder: Path, commit: str, refs: tuple[str, ...], name: str = NAME) -> Path:
    """Put a saved model into a hub cache: large files under their SHA-256, others under a git hash."""
    repository = cache / f"models--{name.replace('/', '--')}"
    snapshot = repository / "snapshots" / commit
    snapshot.mkdir(parents=True)
    (repository / "blobs").mkdir(exist_ok=True)
    for path in folder.iterdir():
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        blob = repository / "blobs" / (digest if path.suffix == ".safetensors" else digest[:40])
        shutil.copyfile(path, blob)
        (snapshot / path.name).symlink_to(Path("..") / ".." / "blobs" / blob.name)
    for ref in refs:
        (repository / "refs" / ref).parent.mkdir(parents=True, exist_ok=True)
        (repository / "refs" / ref).write_text(commit)
    return snapshot


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with two commits of one model, and no connection."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    put(tmp_path / "hub", saved_gpt2(tmp_path / "old", seed=1), OLD, ("step1", "refs/pr/3"))
    put(tmp_path / "hub", saved_gpt2(tmp_path / "new", seed=2), NEW, ("main",))
    return tmp_path / "hub"


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known of the hub, and no test asks the real one."""
    monkeypatch.setattr(reach, "_known", {})
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")


def embedding(network: torch.nn.Module) -> torch.Tensor:
    return network.get_parameter("transformer.wte.weight")


@pytest.mark.parametrize(
    ("revision", "commit", "folder"),
    [
        ("", NEW, "new"),
        ("@main", NEW, "new"),
        ("@step1", OLD, "old"),
        ("@refs/pr/3", OLD, "old"),
        (f"@{OLD}", OLD, "old"),
    ],
)
def test_each_revision_gives_its_own_weights_and_tokenizer(
    cache: Path, revision: str, commit: str, folder: str
) -> None:
    model, same = open_model(NAME + revision), open_model(str(cache.parent / folder))
    assert model.commit == model.identity.commit == commit
    assert torch.equal(embedding(model.network()), embedding(same.network()))
    assert model.identity.files == same.identity.files
    assert (model.identity.weights, model.identity.tokenizer) == (
        same.identity.weights,
        same.identity.tokenizer,
    )
    assert model.tokenizer("the cat").input_ids == same.tokenizer("the cat").input_ids


@pytest.mark.parametrize("revision", ["step2", "3" * 40])
def test_a_missing_revision_is_not_answered_by_main(cache: Path, revision: str) -> None:
    with pytest.raises(GlossemeError, match=f"revision '{revision}' of the model is not .* in the cache") as caught:
        open_model(f"{NAME}@{revision}")
    assert caught.value.exit_code == 2


def test_a_model_that_is_nowhere_is_one_line(cache: Path) -> None:
    with pytest.raises(GlossemeError, match=r"lab/other: the model is not .* the hub can't be reached") as caught:
        open_model("lab/other")
    assert "\n" not in str(caught.value)


def test_weights_that_the_cache_lacks_are_noticed_before_loading(cache: Path) -> None:
    (cache / "models--lab--small" / "snapshots" / NEW / "model.safetensors").unlink()
    model = open_model(NAME)
    assert model.kind == "causal"
    for ask in (model.network, lambda: model.identity):
        with pytest.raises(GlossemeError, match=r"not wholly\) in the cache"):
            ask()


def test_shards_that_the_cache_lacks_are_noticed(cache: Path, tmp_path: Path) -> None:
    sharded = save(transformers.GPT2LMHeadModel(small_gpt2()), tmp_path / "sharded", shard="4KB")
    snapshot = put(cache, sharded, OLD, ("main",), name="lab/sharded")
    model = open_model("lab/sharded")
    assert len([n for n in model.identity.files if n.endswith(".safetensors")]) > 1
    min(snapshot.glob("model-*.safetensors")).unlink()
    with pytest.raises(GlossemeError, match=r"not wholly\) in the cache"):
        open_model("lab/sharded").network()


def test_the_hash_of_a_large_file_is_read_off_its_name(cache: Path) -> None:
    weights = cache / "models--lab--small" / "snapshots" / NEW / "model.safetensors"
    expected = hashlib.sha256(weights.read_bytes()).hexdigest()
    weights.resolve().write_bytes(b"")  # hashing the contents would now give another answer
    assert open_model(NAME).identity.files["model.safetensors"] == expected


def refusing(error: Exception) -> Any:
    def download(*_: Any, **__: Any) -> None:
        raise error

    return download


def response(status: int) -> Any:
    import httpx2

    return httpx2.Response(status, request=httpx2.Request("GET", "https://huggingface.co/x"))


@pytest.mark.parametrize(
    ("error", "status", "says", "exit_code"),
    [
        (
            hub.GatedRepoError,
            403,
            "accept its terms at https://.*/openai-community/gpt-2.*hf auth login",
            2,
        ),
        (hub.RepositoryNotFoundError, 404, "no such model; did you mean 'openai-community/gpt2'", 2),
        (hub.RevisionNotFoundError, 404, "has no revision 'step1'.*/branches", 2),
        (hub.HfHubHTTPError, 500, "the hub refused: down", 1),
    ],
)
def test_refusals_of_the_hub_are_told_in_words(
    monkeypatch: pytest.MonkeyPatch, error: Any, status: int, says: str, exit_code: int
) -> None:
    monkeypatch.setattr("huggingface_hub.snapshot_download", refusing(error("down", response=response(status))))
    with pytest.raises(GlossemeError, match=says) as caught:
        open_model("openai-community/gpt-2@step1")
    assert caught.value.exit_code == exit_code
    assert "\n" not in str(caught.value)


def test_a_strange_name_gets_no_endless_list(monkeypatch: pytest.MonkeyPatch) -> None:
    error = hub.RepositoryNotFoundError("no", response=response(404))
    monkeypatch.setattr("huggingface_hub.snapshot_download", refusing(error))
    with pytest.raises(GlossemeError, match="check the spelling") as caught:
        open_model("zzzz/qqqqqqqq")
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("error", [ConnectionError("no route"), TimeoutError("slow")])
def test_a_broken_connection_is_told_in_words(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    monkeypatch.setattr("huggingface_hub.snapshot_download", refusing(error))
    with pytest.raises(GlossemeError, match="can't be reached"):
        open_model("lab/small")


def test_an_error_of_the_program_itself_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.snapshot_download", refusing(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        open_model("lab/small")


def test_small_files_come_without_a_bar(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def download(*_: Any, **__: Any) -> str:
        seen.append(are_progress_bars_disabled())
        return str(cache / "models--lab--small" / "snapshots" / NEW)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    before = are_progress_bars_disabled()
    open_model(NAME)
    assert seen == [True]
    assert are_progress_bars_disabled() == before


def put_tree(cache: Path, commit: str) -> None:
    """Write the hub's list of a commit's files into the cache, as its client does."""
    repository = cache / "models--lab--small"
    files = {
        p.name: {"size": p.stat().st_size, "blob_id": "0" * 40} for p in (repository / "snapshots" / commit).iterdir()
    }
    (repository / "trees").mkdir()
    (repository / "trees" / f"{commit}.json").write_text(json.dumps({"format_version": 1, "files": files}))


def test_a_cached_commit_needs_no_hub(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("glosseme.hub.snapshot.hub_answers", lambda: pytest.fail("the hub was asked"))
    put_tree(cache, OLD)
    model = open_model(f"{NAME}@{OLD}", device="cpu")
    assert model.commit == OLD
    assert model.network() is not None


def test_without_a_connection_the_cache_answers_at_once_and_quietly(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    start = time.monotonic()
    for revision in ("", f"@{OLD}", "@step1"):
        assert open_model(NAME + revision).kind == "causal"
    for name in (f"{NAME}@{'3' * 40}", "lab/other"):
        with pytest.raises(GlossemeError, match="the hub can't be reached"):
            open_model(name)
    assert time.monotonic() - start < 4
    assert capfd.readouterr() == ("", "")


def test_a_hub_that_never_answers_is_given_up(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr(reach, "_TIMEOUT", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", f"http://127.0.0.1:{server.getsockname()[1]}")
        start = time.monotonic()
        assert open_model(NAME).commit == NEW
        with pytest.raises(GlossemeError, match="the hub can't be reached"):
            open_model("lab/other")
        assert time.monotonic() - start < 4
