"""The shape of the package: one direction, small rooms, a guarded surface."""

import ast
import re
from pathlib import Path

import pytest

import glosseme

ROOT = Path(glosseme.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))

# A room may import from rooms before it, never from one after it.
ROOMS = (
    *("errors", "words", "measures", "designs", "hub", "suites", "scoring", "models", "progress", "runs", "analysis"),
    *("people", "doctor", "report", "api", "quickstart", "cli", "__main__", "__init__"),
)


def room(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    names |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    return {name.split(".")[1] for name in names if name.startswith("glosseme.")}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_nothing_is_imported_upward(path):
    """Imports point from the command line down to the errors."""
    here = ROOMS.index(room(path))
    upward = {name for name in imported(path) if ROOMS.index(name) > here}
    assert not upward, f"{path} imports {upward} from above"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_rooms_are_small_and_say_what_they_give(path):
    """No module over 400 lines, and each has a docstring and __all__."""
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 400
    tree = ast.parse(text)
    assert ast.get_docstring(tree)
    targets = [t.id for node in tree.body if isinstance(node, ast.Assign) for t in node.targets if hasattr(t, "id")]
    targets += [node.target.id for node in tree.body if isinstance(node, ast.AnnAssign) and hasattr(node.target, "id")]
    assert "__all__" in targets or not [n for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)]


def test_the_public_names():
    """The surface changes only on purpose, and every name is there."""
    assert sorted(glosseme.__all__) == [
        *("GlossemeError", "Items", "OpenModel", "Run", "SLOT", "Suite", "__version__", "all_suites"),
        *("curves", "differences", "figures", "find_runs", "judge", "open_model", "run", "summarise", "table"),
        *("trajectory", "write_report"),
    ]
    for name in glosseme.__all__:
        assert getattr(glosseme, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = glosseme.nonsense


def test_one_version():
    """The package, its metadata, the citation and the changelog agree."""
    project = (ROOT.parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    assert re.search(r'^version = "(.+)"', project, re.MULTILINE)[1] == glosseme.__version__
    assert f"version: {glosseme.__version__}" in (ROOT.parents[1] / "CITATION.cff").read_text(encoding="utf-8")


def test_no_assert_or_print_for_users():
    """Mistakes of users are errors of one class, and only the command line prints."""
    for path in MODULES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            assert not isinstance(node, ast.Assert), path
            assert not (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print"), path
