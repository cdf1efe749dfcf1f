"""BLiMP beside lm-evaluation-harness 0.4.13: its own task, evaluated by its own code, on the same sentences.

lm-eval puts BOS (EOS where there is none) in front, as `--bos always` does. Its shipped task asks for the sentence with
a space before it (`target_delimiter`): the same request here is a text that begins with a space. With an empty
delimiter it is the sentence itself.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from glosseme.models import open_model
from glosseme.models.load import quiet
from glosseme.progress import QuietProgress
from glosseme.runs.evaluate import evaluate
from glosseme.runs.folder import Run
from glosseme.runs.options import asked_of
from glosseme.suites import find_suites
from zoo import network_of, tokenizer_for

FOLDER = Path(__file__).parents[2] / "shared/reference/minimal-pairs"
NAMES = ("adjunct_island", "determiner_noun_agreement_1", "npi_present_1", "regular_plural_subject_verb_agreement_1")
MADE_UP = [
    ("The old keeper counts the boats.", "The old keeper count the boats."),
    ("Nobody had answered the letter.", "Nobody had answer the letter."),
    ("The children ran over the bridge.", "The children ran over bridge the."),
    ("He saw the rain himself.", "He saw the rain herself."),
    ("Who did the teacher see?", "Who did the teacher see the banker?"),
]


def pairs_of(names: tuple[str, ...], n: int | None) -> dict[str, list[dict[str, Any]]]:
    """Return `n` seeded pairs of each file, or all."""
    found = {}
    for name in names:
        path = FOLDER / f"blimp_{name}.jsonl"
        if not path.is_file():
            pytest.skip("the authors' files are not here")
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        found[name] = rows if n is None else random.Random(0).sample(rows, n)  # noqa: S311
    return found


def theirs(rows: list[dict[str, Any]], network: Any, tokenizer: Any, **changes: Any) -> tuple[float, list[list[float]]]:
    """Return lm-eval's accuracy and the log-probability of each good and bad sentence, by its own BLiMP task."""
    lm_eval = pytest.importorskip("lm_eval")
    import datasets
    from lm_eval.api.task import ConfigurableTask
    from lm_eval.evaluator import evaluate as evaluate_task
    from lm_eval.models.huggingface import HFLM

    template = Path(lm_eval.__file__).parent / "tasks/blimp/_template_yaml"
    config = yaml.safe_load(template.read_text(encoding="utf-8")) | {"task": "pairs"} | changes
    del config["dataset_path"]
    config["custom_dataset"] = lambda **_: {"train": datasets.Dataset.from_list(rows)}
    model = HFLM(pretrained=network, tokenizer=tokenizer, device="cpu", batch_size=8, backend="causal")
    task = ConfigurableTask(config=config)
    with quiet():
        found = evaluate_task(lm=model, task_dict={"pairs": task}, log_samples=True, bootstrap_iters=0)
    samples = sorted(found["samples"]["pairs"], key=lambda sample: sample["doc_id"])
    assert [s["doc"]["sentence_good"] for s in samples] == [row["sentence_good"] for row in rows]
    return found["results"]["pairs"]["acc,none"], [[float(r[0][0]) for r in s["resps"]] for s in samples]


def ours(pairs: dict[str, list[dict[str, Any]]], folder: Path, model: str, space: str, bos: Any = "always") -> Run:
    """Return our run on the same sentences, with `space` before each."""
    data = folder / f"data{len(space)}"
    data.mkdir()
    for name, rows in pairs.items():
        spaced = [row | {k: space + row[k] for k in ("sentence_good", "sentence_bad")} for row in rows]
        text = "\n".join(json.dumps(row) for row in spaced)
        (data / f"{name}.jsonl").write_text(text, encoding="utf-8")
    asked = asked_of(find_suites("blimp")[0], str(data), bos=bos)
    return evaluate(open_model(model, device="cpu"), [asked], folder / f"runs{len(space)}", QuietProgress())[0]


def compare(pairs: dict[str, list[dict[str, Any]]], tmp_path: Path, model: str, network: Any, tokenizer: Any) -> None:
    for space, changes in (("", {"target_delimiter": ""}), (" ", {})):
        done = ours(pairs, tmp_path, model, space)
        for name, rows in pairs.items():
            scores = done.scores().filter(pl.col("paradigm") == name)
            wide = scores.pivot("role", index="item", values="logprob", maintain_order=True)
            accuracy, sums = theirs(rows, network, tokenizer, **changes)
            gap = (wide.select("good", "bad").to_numpy() - sums).__abs__().max()
            assert gap < 1e-3, f"{name}, space {space!r}: {gap}"
            outcomes = done.outcomes().filter(pl.col("paradigm") == name)
            assert not outcomes["tie"].any()
            assert outcomes["correct"].mean() == pytest.approx(accuracy, abs=1e-12)


def test_a_small_model_gets_the_same_sums_and_accuracy(tmp_path: Path) -> None:
    network, tokenizer = network_of("gpt2"), tokenizer_for("gpt2")
    network.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    rows = [
        {"sentence_good": f"{good[:-1]}{end}", "sentence_bad": f"{bad[:-1]}{end}", "UID": "made_up", "pairID": str(n)}
        for n, (good, bad, end) in enumerate((g, b, e) for g, b in MADE_UP for e in (".", "!", " again.", " today."))
    ]
    compare({"made_up": rows}, tmp_path, str(tmp_path / "model"), network, tokenizer)


@pytest.mark.offline
def test_the_pretrained_model_gets_the_same_sums_and_accuracy(tmp_path: Path) -> None:
    model = open_model("offline:gemma-3-270m", device="cpu")
    compare(pairs_of(NAMES, 25), tmp_path, "offline:gemma-3-270m", model.network(), model.tokenizer)
