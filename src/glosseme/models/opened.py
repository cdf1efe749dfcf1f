"""An opened model: known at once by its files, loaded only when it is asked something new."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from glosseme.errors import GlossemeError
from glosseme.measures import Kind
from glosseme.models.fake import Fake, fake_identity, fake_of, fake_tokenizer
from glosseme.models.hub import weights_sha256
from glosseme.models.identity import Identity, identify
from glosseme.models.kind import kind_of, max_length, needs_remote_code
from glosseme.models.load import (
    Dtype,
    attention_of,
    check_device,
    check_dtype,
    load_network,
    load_tokenizer,
    pick_device,
)
from glosseme.models.parameters import parameters_of
from glosseme.models.record import record_of
from glosseme.models.reference import Reference, parse_reference
from glosseme.models.source import (
    ModelFiles,
    has_weights,
    read_config,
    resolve_light,
    resolve_weights,
    tokenizer_files,
    weight_files,
)
from glosseme.models.static import StaticModel, open_static

if TYPE_CHECKING:
    import torch

__all__ = ["Model", "OpenModel", "open_model"]


class OpenModel:
    """A model and what is known of it; `network()` is the one thing that loads weights.

    `open_model` makes it. Properties are computed when first asked for and kept.
    """

    def __init__(
        self,
        reference: Reference,
        kind: Kind,
        *,
        files: ModelFiles | None,
        config: Mapping[str, Any],
        dtype: Dtype,
        device: str,
        trust_remote_code: bool,
    ) -> None:
        self.reference = reference
        self.kind: Kind = kind
        self.dtype: Dtype = dtype
        self.max_length: int | None = max_length(config) if files is not None else None
        self.fake: Fake | None = fake_of(reference) if files is None else None
        self._files = files
        self._config = config
        self._device = device
        self._trust = trust_remote_code
        self._network: torch.nn.Module | None = None

    def __repr__(self) -> str:
        return f"OpenModel({self.reference.display!r}, {self.kind}, {self.dtype})"

    @property
    def commit(self) -> str | None:
        """The hub's commit that all files are of."""
        return self._files.commit if self._files is not None else None

    @cached_property
    def device(self) -> str:
        """The device the network runs on: `cpu`, `cuda`, ..."""
        return "cpu" if self._files is None else pick_device(self._device)

    @cached_property
    def tokenizer(self) -> Any:
        """The fast tokenizer saved beside the weights."""
        if self._files is None:
            return fake_tokenizer(self.kind)
        return load_tokenizer(self._files.tokenizer, where=self.reference.display, trust_remote_code=self._trust)

    @cached_property
    def identity(self) -> Identity:
        """The hashes of the files; those of a hub model are downloaded for it."""
        if self._files is None:
            return fake_identity(self.reference, self.tokenizer)
        folder, where = self._files.folder, self.reference.display
        network = {*resolve_weights(self.reference, self._files), "config.json", *self._code()}
        tokenizer = self._files.tokenizer
        return identify(folder, self._files.commit, network, tokenizer, tokenizer_files(tokenizer, where=where))

    def _code(self) -> set[str]:
        if self._files is None or not self._trust:
            return set()
        return {path.name for path in self._files.folder.glob("*.py")}

    def weights(self) -> dict[str, str]:
        """Return the SHA-256 of each weight file, for a hub model without downloading it; none where that can't be.

        Raises `GlossemeError` where the model has no weights that can be loaded, as far as this machine can tell.
        """
        if self._files is None:
            return {"fake": self.identity.weights}
        reference, commit = self.reference, self._files.commit
        if commit is None or has_weights(self._files.folder):
            hashes = self.identity.files
            return {name: hashes[name] for name in weight_files(self._files.folder, where=reference.display)}
        return weights_sha256(reference, commit)

    def network(self) -> torch.nn.Module:
        """Return the network in eval mode, without gradients, loading it the first time."""
        if self._files is None:
            raise GlossemeError("a fake has no network", where=self.reference.display)
        if self._network is None:
            resolve_weights(self.reference, self._files)
            self._network = load_network(
                self._files.folder,
                self.kind,
                where=self.reference.display,
                dtype=self.dtype,
                device=self.device,
                trust_remote_code=self._trust,
            )
        return self._network

    def close(self) -> None:
        """Let go of the network; it is loaded again when it is asked for."""
        self._network = None

    def record(self) -> dict[str, Any]:
        """Return what run.json says of the model; `attention` is null until the network is loaded."""
        attention = attention_of(self._network) if self._network is not None else None
        return record_of(self, attention=attention, trust_remote_code=self._trust, parameters=self._parameters())

    def _parameters(self) -> int | None:
        if self._files is None:
            return None
        resolve_weights(self.reference, self._files)
        return parameters_of(self._files.folder)


Model: TypeAlias = OpenModel | StaticModel


def open_model(text: str, *, dtype: str = "float32", device: str = "auto", trust_remote_code: bool = False) -> Model:
    """Return the model that `NAME[@REVISION]` stands for, without loading or downloading its weights.

    Static embeddings are float32 on the CPU, whatever is asked for. Raises `GlossemeError` for a name, revision,
    dtype, device or kind of model that can't be used.

    >>> model = open_model("fake:random-masked@7")
    >>> model.kind, model.fake, model.max_length
    ('masked', Fake(kind='masked', seed=7), None)
    """
    reference, checked = parse_reference(text), check_dtype(dtype)
    check_device(device)
    trust = bool(trust_remote_code)
    if reference.source == "static":
        return open_static(reference)
    if reference.source == "fake":
        return OpenModel(
            reference,
            fake_of(reference).kind,
            files=None,
            config={},
            dtype=checked,
            device=device,
            trust_remote_code=trust,
        )
    files = resolve_light(reference, trust_remote_code=trust)
    config = read_config(files.folder, where=reference.display)
    if not trust and needs_remote_code(config):
        raise GlossemeError(
            "the model runs only with code of its own repository",
            where=reference.display,
            todo="read that code and, if you trust it, allow it with --trust-remote-code",
        )
    kind = kind_of(config, where=reference.display)
    return OpenModel(reference, kind, files=files, config=config, dtype=checked, device=device, trust_remote_code=trust)
