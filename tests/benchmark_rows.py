"""Small made-up files of the benchmarks' shape."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from glosseme.models import open_model
from glosseme.progress import QuietProgress
from glosseme.runs.evaluate import evaluate
from glosseme.runs.folder import Run
from glosseme.runs.options import asked_of
from glosseme.suites import find_suites
from glosseme.suites.suite import Items, Suite

__all__ = [
    *("BLIMP", "COMPS", "CROSS", "EWOK", "PAIR", "PHRASE", "TAGS"),
    *("blimp_rows", "built", "ewok_rows", "lines", "run"),
]

BLIMP, COMPS, EWOK = (find_suites(name)[0] for name in ("blimp", "comps", "ewok"))

PAIR = {"sentence_good": "The cat sleeps.", "sentence_bad": "The cat sleep.", "UID": "agreement_1", "pairID": "0"}
TAGS = {"field": "morphology", "linguistics_term": "subject_verb_agreement", "lexically_identical": False}
PHRASE = {
    **{"id": 1, "property": "barks", "acceptable_concept": "dog", "unacceptable_concept": "cat"},
    **{"prefix_acceptable": "A dog", "prefix_unacceptable": "A cat", "property_phrase": "barks."},
    **{"negative_sample_type": "taxonomic", "similarity": 0.7},
}
CROSS = {
    **{"Domain": "social-relations", "ConceptA": "friend", "ConceptB": "rival", "TemplateID": "t7"},
    **{"MetaTemplateID": "m3", "ContextType": "direct", "ContextDiff": "antonym", "TargetDiff": "concept swap"},
    **{"Context1": "Wibbly greets Nonkers kindly.", "Context2": "Wibbly shoves Nonkers coldly."},
    **{"Target1": "Nonkers is Wibbly's quenchmate.", "Target2": "Nonkers is Wibbly's snarlfoe."},
}


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def built(suite: Suite, path: Path, kind: Any = "causal", **options: str) -> Items:
    return suite.build(kind, str(path), suite.defaults() | options)


def run(suite: Suite, path: Path, out: Path, model: str = "fake:random", **asked: Any) -> Run:
    return evaluate(open_model(model), [asked_of(suite, str(path), **asked)], out, QuietProgress())[0]


def blimp_rows(paradigm: str, n: int, **changes: Any) -> list[dict[str, Any]]:
    new = {"UID": paradigm, **TAGS, **changes}
    return [
        PAIR | new | {"pairID": str(i), "sentence_good": f"Cat {i} sleeps.", "sentence_bad": f"Cat {i} sleep."}
        for i in range(n)
    ]


def ewok_rows(n: int, **changes: Any) -> list[dict[str, Any]]:
    texts = ("Context1", "Context2", "Target1", "Target2")
    return [CROSS | {k: CROSS[k].replace("Nonkers", f"Nonkers{i}") for k in texts} | changes for i in range(n)]
