"""What a run says of its model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from glosseme.measures import Kind
from glosseme.models.identity import Identity
from glosseme.models.reference import Reference
from glosseme.models.versions import versions

__all__ = ["record_of"]


class _Known(Protocol):
    """What every model says of itself."""

    reference: Reference

    @property
    def kind(self) -> Kind: ...
    @property
    def identity(self) -> Identity: ...
    @property
    def max_length(self) -> int | None: ...
    @property
    def dtype(self) -> str: ...
    @property
    def device(self) -> str: ...


def record_of(
    model: _Known,
    *,
    attention: str | None,
    trust_remote_code: bool,
    parameters: int | None = None,
    packages: Sequence[str] = (),
) -> dict[str, Any]:
    """Return what run.json says of a model, ready for JSON, with the versions of the libraries and of `packages`."""
    reference, identity = model.reference, model.identity
    return {
        "name": reference.name,
        "revision": reference.revision,
        "source": reference.source,
        "display": reference.display,
        "kind": model.kind,
        "parameters": parameters,
        "commit": identity.commit,
        "weights_sha256": identity.weights,
        "tokenizer_sha256": identity.tokenizer,
        "files_sha256": dict(identity.files),
        "max_length": model.max_length,
        "dtype": model.dtype,
        "device": model.device,
        "attention": attention,
        "trust_remote_code": trust_remote_code,
        "versions": versions(packages),
    }
