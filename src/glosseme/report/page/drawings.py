"""Figures as parts of a page: SVG whose names don't collide and whose text shows every character."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from xml.etree import ElementTree

from markupsafe import Markup, escape

from glosseme.errors import WORK_FAILED, GlossemeError
from glosseme.report.figure import Figure
from glosseme.report.page.blocks import Keys
from glosseme.report.page.text import Anchors, visible

__all__ = ["Drawing", "drawing", "inline"]

_SVG: Final = "http://www.w3.org/2000/svg"
_URL: Final = re.compile(r"url\((['\"]?)#([^)'\"]+)\1\)")
_ENLARGED: Final = 1.3
"""So much larger than on its own a figure is, so that its text is of the size of the page's."""
_NUMBERS: Final = re.compile(r"-?\d+\.\d{3,}(?:e-?\d+)?")
_ROUNDED: Final = frozenset(
    {"d", "transform", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "width", "height", "points"}
)
_FORBIDDEN: Final = frozenset({"script", "foreignObject", "iframe", "image", "style", "a", "use", "animate", "set"})


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure on a page."""

    id: str
    name: str
    title: str
    caption: str
    svg: Markup
    suites: str
    models: str


def drawing(figure: Figure, svg: str, keys: Keys, anchors: Anchors) -> Drawing:
    """Return a figure with its SVG ready to stand in a page."""
    figure_id = anchors("figure", figure.name)
    places = keys.of_suites(figure.suites), keys.of_models(figure.models)
    title, caption = visible(figure.title), visible(figure.caption)
    return Drawing(figure_id, visible(figure.name), title, caption, inline(svg, figure_id, title), *places)


def inline(svg: str, prefix: str, label: str) -> Markup:
    """Return an SVG to stand in HTML: scaled by its view box, ids under a prefix, nothing in it that could run.

    Raises `GlossemeError` for text that is no SVG.

    >>> source = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="3"><g id="clip7" onload="x"/></svg>'
    >>> print(inline(source, "figure-a", "A"))
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 3" width="11.7" height="3.9" role="img" aria-label="A"><g \
id="figure-a-1"></g></svg>
    """
    try:
        root = ElementTree.fromstring(svg)  # noqa: S314  # reads only what our own renderer wrote
    except ElementTree.ParseError as error:
        raise GlossemeError(f"a figure can't be drawn ({error})", where=label, exit_code=WORK_FAILED) from None
    if _local(root.tag) != "svg":
        raise GlossemeError("a figure is no SVG", where=label, exit_code=WORK_FAILED)
    ids = {node.get("id", ""): f"{prefix}-{n}" for n, node in enumerate((e for e in root.iter() if e.get("id")), 1)}
    width, height = (root.get(name, "0") for name in ("width", "height"))
    head = {"xmlns": _SVG, "viewBox": root.get("viewBox", f"0 0 {width} {height}")}
    head |= {name: f"{_ENLARGED * float(size):g}" for name, size in (("width", width), ("height", height))}
    opening = _opening("svg", {**head, "role": "img", "aria-label": label})
    return Markup("".join([opening, *(part for child in root for part in _parts(child, ids)), "</svg>"]))  # noqa: S704


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _parts(node: ElementTree.Element, ids: dict[str, str]) -> Iterator[str]:
    """Yield the source of an element, escaped, without what isn't drawing."""
    tag = _local(node.tag)
    if tag in _FORBIDDEN:
        return
    yield _opening(tag, dict(_attributes(node, ids)))
    yield str(escape(visible(node.text))) if node.text and node.text.strip() else ""
    for child in node:
        yield from _parts(child, ids)
        yield str(escape(visible(child.tail))) if child.tail and child.tail.strip() else ""
    yield f"</{tag}>"


def _opening(tag: str, attributes: dict[str, str]) -> str:
    said = (f' {name}="{escape(value)}"' for name, value in attributes.items())
    return f"<{tag}{''.join(said)}>"


def _attributes(node: ElementTree.Element, ids: dict[str, str]) -> Iterator[tuple[str, str]]:
    for full, value in node.attrib.items():
        name = _local(full)
        if name.startswith("on") or name == "aria-roledescription":
            continue
        if name == "id":
            yield name, ids[value]
        elif name == "href":
            if value.removeprefix("#") in ids:
                yield name, f"#{ids[value.removeprefix('#')]}"
        elif name == "aria-label":
            yield name, visible(value)
        elif name in _ROUNDED:
            yield name, _NUMBERS.sub(_rounded, value)
        else:
            yield name, _URL.sub(lambda found: f"url(#{ids.get(found[2], found[2])})", value)


def _rounded(found: re.Match[str]) -> str:
    # Adding zero takes the sign from a negative zero.
    return f"{round(float(found[0]), 2) + 0.0:g}" if abs(float(found[0])) < 1e4 else f"{float(found[0]):.2f}"
