"""Static embeddings: a vector for each word (or part of a word) whatever stands around it.

    model = open_static(Reference("static:wordllama", "main", "static"))
    embedded = model.embed(["a large animal", "elephant"])
    embedded.cosines(np.array([0]), np.array([1]))

A `Vectors` says which files it is made of and embeds texts; there is one for each format. Nothing here is a pickle.
"""

from __future__ import annotations

from glosseme.models.static.embed import NO_VECTOR, Embedded
from glosseme.models.static.model import StaticModel, open_static

__all__ = ["NO_VECTOR", "Embedded", "StaticModel", "open_static"]
