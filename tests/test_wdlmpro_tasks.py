"""WDLMPro on small models: every score, rank and P@1 equals a plain loop over targets and candidates."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch
from polars.testing import assert_frame_equal

import glosseme
from glosseme.cli import main
from glosseme.designs import SCORE_COLUMNS
from glosseme.errors import GlossemeError
from glosseme.models.load import quiet
from glosseme.runs.folder import Run
from glosseme.scoring import product
from glosseme.scoring.encode import frame_of
from glosseme.suites.suite import Drawing
from glosseme.suites.wdlmpro import choose as choosing
from glosseme.suites.wdlmpro import tasks
from glosseme.suites.wdlmpro.groups import Groups, groups
from glosseme.suites.wdlmpro.tables import Wordnet, tables
from glosseme.suites.wdlmpro.tasks import CUT, WDLMPRO
from glosseme.suites.wdlmpro.templates import AVERAGE
from glosseme.suites.wdlmpro.wordnet import load
from zoo import CAUSAL, network_of, tokenizer_for

TARGETS = ("spackle.n.01", "stucco.n.01", "amaranth.n.01", "stand_for.v.04", "condemn.v.03", "coerce.v.01")
"""Pairs of these are sisters of each other, so that groups share pairs."""

SISTERS = (
    "cantata.n.01",
    "concerto.n.01",
    "fugue.n.03",
    "opera.n.01",
    "rondo.n.01",
    "sonata.n.01",
    "chamber_music.n.01",
)
"""One group, whoever of them is the target."""

TEMPLATES = {
    ("causal", "noun"): ("{D} is the definition of {W}",),
    ("causal", "verb"): ("to {D} is the definition of {W}",),
    ("masked", "noun"): ("{W} is {D}", "{W} means {D}", "{W} is defined as {D}"),
    ("masked", "verb"): ("definition of {W} is to {D}", "to {D} is the definition of {W}"),
}
"""Table 3 of the paper."""

ODD = {
    "st. louis.n.01": ("St. Louis", 'the "gateway" city (in Missouri); largest city of the state'),
    "ac_dc.n.01": ("AC/DC", "current that alternates; or doesn't: [see] 'direct' current"),
    "'hood.n.01": ("'hood", "(slang) a neighborhood"),
    "über.n.01": ("über", "naïve café; 'über' of cafés"),
    "1990s.n.01": ("1990s", "the decade from 1990 to 1999, e.g. (of) the nineties;"),
    "re-run.n.01": ("re-run", "a program that is broadcast again..."),
}
"""Synset: word and definition, whose edges are where tokenizers could slip."""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Models of the zoo as folders, saved when asked for the first time."""
    root = tmp_path_factory.mktemp("models")
    return {name: root / name for name in ("gpt2", "llama", "bert", "roberta", "albert")}


def saved(folders: dict[str, Path], name: str) -> str:
    folder = folders[name]
    if not folder.exists():
        with quiet():
            network_of(name).save_pretrained(folder)
            tokenizer_for(name).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("targets") / "targets.txt"
    path.write_text("\n".join(TARGETS) + "\n", encoding="utf-8")
    return path


def kind_of(name: str) -> str:
    return "causal" if name in CAUSAL else "masked"


def ran(model: str, out: Path, **arguments: Any) -> Run:
    [run] = glosseme.run(model, "wdlmpro", out, **arguments)
    return run


class Plain:
    """One text at a time through the network, the full log-softmax of every position."""

    def __init__(self, name: str) -> None:
        self.kind, self.tokenizer, self.network = kind_of(name), tokenizer_for(name), network_of(name)

    def ids(self, text: str) -> list[int]:
        return self.tokenizer(text, add_special_tokens=False)["input_ids"]

    def cut(self, definition: str) -> str:
        encoded = self.tokenizer(definition, add_special_tokens=False, return_offsets_mapping=True)
        if len(encoded["input_ids"]) <= 48:
            return definition
        return definition[: encoded["offset_mapping"][47][1]]

    def filled(self, pos: str, template: str, word: str, definition: str) -> tuple[str, str, str]:
        """Return what stands before the word, the word, and what stands after it."""
        if template.startswith("{W}"):
            word = word[0].upper() + word[1:]
        if template.startswith("{D}"):
            definition = definition[0].upper() + definition[1:]
        left, right = template.replace("{D}", definition).split("{W}")
        return left, word, right

    def logprobs(self, pos: str, template: str, word: str, definition: str) -> tuple[list[int], list[float]]:
        """Return the word's tokens and their log-probabilities in nats."""
        left, word, right = self.filled(pos, template, word, self.cut(definition))
        if self.kind == "causal":
            return self._continued(left.removesuffix(" "), word)
        return self._in_slot(left, word, right)

    def _continued(self, context: str, word: str) -> tuple[list[int], list[float]]:
        before, whole = self.ids(context), self.ids(f"{context} {word}")
        assert whole[: len(before)] == before, "the word changes the tokens before it"
        after = whole[len(before) :]
        spaces = next(i for i, token in enumerate(after) if self.tokenizer.decode([token]).strip())
        bos = self.tokenizer("a")["input_ids"][: -len(self.ids("a"))]
        found = self._softmax([*bos, *whole])
        first = len(bos) + len(before) + spaces
        return after[spaces:], [float(found[first + i - 1, t]) for i, t in enumerate(after[spaces:])]

    def _in_slot(self, left: str, word: str, right: str) -> tuple[list[int], list[float]]:
        """Mask what the filled text has in place of the mask token written into the slot."""
        mask = self.tokenizer.mask_token_id
        written = self.tokenizer(left + self.tokenizer.mask_token + right)["input_ids"]
        filled = self.tokenizer(left + word + right)["input_ids"]
        at = written.index(mask)
        after = len(written) - at - 1
        assert filled[:at] == written[:at]
        assert filled[-after:] == written[-after:]
        tokens = filled[at:-after]
        found = self._softmax([*filled[:at], *[mask] * len(tokens), *filled[-after:]])
        return tokens, [float(found[at + i, t]) for i, t in enumerate(tokens)]

    def _softmax(self, ids: list[int]) -> torch.Tensor:
        with torch.no_grad():
            return torch.log_softmax(self.network(torch.tensor([ids])).logits[0].double(), -1)


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def expected(name: str, wordnet: Wordnet, found: Groups, wanted: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield task, item, template, candidate, value, number of tokens and what ties, by the formulas of section 3."""
    plain = Plain(name)
    synsets = {row[0]: row[1:] for row in wordnet.synsets.select("synset", "pos", "word", "definition").iter_rows()}
    names = wordnet.synsets["synset"].to_list()
    for target in wanted:
        members = found.members.filter(pl.col("target") == names.index(target))
        group = [names[c] for c in members["candidate"]]
        pos = synsets[target][0]
        for task in ("W2D", "D2W"):
            for candidate in group:
                word, definition = synsets[target][1], synsets[candidate][2]
                if task == "D2W":
                    word, definition = synsets[candidate][1], synsets[target][2]
                each = [plain.logprobs(pos, template, word, definition) for template in TEMPLATES[plain.kind, pos]]
                values = [sum(logprobs) if task == "W2D" else mean(logprobs) for _, logprobs in each]
                if plain.kind == "causal" and task == "D2W":
                    values = [logprobs[0] for _, logprobs in each]
                pairs = zip(TEMPLATES[plain.kind, pos], values, strict=True)
                for template, value in pairs if len(values) > 1 else ():
                    yield task, target, template, candidate, value, None
                average = math.log(mean([math.exp(v) for v in values])) if task == "W2D" else mean(values)
                yield task, target, AVERAGE, candidate, average, each[0][0][0]


def ranked(rows: list[tuple[Any, ...]], kind: str) -> dict[tuple[str, str, str], tuple[float, float, float]]:
    """Return P@1, rank and rank score of each item; causal models' words of one first token tie in D2W."""
    groups: dict[tuple[str, str, str], dict[str, tuple[float, Any]]] = {}
    for task, target, template, candidate, value, first in rows:
        groups.setdefault((task, target, template), {})[candidate] = (value, first)
    found = {}
    for key, candidates in groups.items():
        gold, first = candidates.pop(key[1])
        tied = [c for c, (_, f) in candidates.items() if key[0] == "D2W" and kind == "causal" and f == first]
        above = sum(value > gold for c, (value, _) in candidates.items() if c not in tied)
        size, rank = len(candidates) + 1, 1 + above + len(tied) / 2
        found[key] = (0.0 if above else 1 / (len(tied) + 1), rank, (size - rank) / (size - 1))
    return found


def check(run: Run, rows: list[tuple[Any, ...]], kind: str) -> None:
    scores = run.scores()
    values = {row[:4]: row[4] for row in scores.select("task", "item", "template", "candidate", "value").iter_rows()}
    wanted = {
        (task, item, template.replace("{W}", "<W>").replace("{D}", "<D>"), c): v
        for task, item, template, c, v, _ in rows
    }
    assert values.keys() == wanted.keys()
    for key, value in wanted.items():
        assert values[key] == pytest.approx(value, abs=2e-4), key
    outcomes = run.outcomes().select("task", "item", "template", "correct", "rank", "rank_score")
    judged = {
        (t, i, template.replace("<W>", "{W}").replace("<D>", "{D}")): rest
        for t, i, template, *rest in outcomes.iter_rows()
    }
    wanted_ranks = ranked(rows, kind)
    assert judged.keys() == wanted_ranks.keys()
    for item, numbers in wanted_ranks.items():
        assert judged[item] == pytest.approx(list(numbers)), item


@pytest.mark.parametrize("name", ["gpt2", "llama", "bert", "roberta", "albert"])
def test_scores_and_ranks_are_those_of_a_plain_loop(
    name: str, folders: dict[str, Path], targets: Path, tmp_path: Path
) -> None:
    """Every pair alone, unpadded; templates averaged; ties where first tokens are the same."""
    wordnet, found = choosing.groups_of("wordnet-3.0")
    run = ran(saved(folders, name), tmp_path, files={"targets": targets})
    rows = list(expected(name, wordnet, found, tuple(sorted(TARGETS))))
    check(run, rows, kind_of(name))
    if kind_of(name) == "causal":
        assert run.outcomes().filter(pl.col("task") == "D2W")["tie"].any()


def test_ties_do_not_hang_on_batches(folders: dict[str, Path], targets: Path, tmp_path: Path) -> None:
    """A first token after a definition has one value, though a batch of one rounds otherwise than a tree."""
    model, columns = saved(folders, "gpt2"), ["task", "item", "tie", "correct", "rank"]
    shared, alone = (
        ran(model, tmp_path / name, files={"targets": targets}, sharing=sharing, batch_size=size).outcomes()
        for name, sharing, size in (("shared", True, None), ("alone", False, 1))
    )
    assert_frame_equal(alone.select(columns), shared.select(columns))


@pytest.mark.parametrize("name", ["gpt2", "bert"])
def test_crossed_lowering_gives_the_same_scores(
    name: str, folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What large runs do (definitions and words tokenised once) equals each pair by itself."""
    targets = tmp_path / "sisters.txt"
    targets.write_text("\n".join(SISTERS), encoding="utf-8")
    plain = ran(saved(folders, name), tmp_path / "plain", files={"targets": targets})
    monkeypatch.setattr(product, "WORTH_IT", 1)
    made = watched(monkeypatch)
    crossed = ran(saved(folders, name), tmp_path / "crossed", files={"targets": targets})
    assert made
    assert_frame_equal(crossed.scores(), plain.scores(), abs_tol=1e-5, rel_tol=0)
    columns = ["task", "item", "template", "rank"]
    assert_frame_equal(crossed.outcomes().select(columns), plain.outcomes().select(columns))


def watched(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list that takes every product that is made."""
    made: list[Any] = []
    real = product.Product

    def make(*arguments: Any, **named: Any) -> Any:
        made.append(real(*arguments, **named))
        return made[-1]

    monkeypatch.setattr(product, "Product", make)
    return made


@pytest.mark.parametrize("model", ["fake:constant", "fake:constant-masked"])
def test_a_constant_scorer_gets_exactly_chance(model: str, tmp_path: Path) -> None:
    """P@1 is the mean of 1/size, the rank score one half, in both tasks."""
    outcomes = ran(model, tmp_path, limit=12).outcomes().filter(pl.col("template") == AVERAGE)
    d2w = outcomes.filter(pl.col("task") == "D2W")
    assert (d2w["correct"] == 1 / d2w["n_candidates"]).all()
    assert (outcomes["rank_score"] - 0.5).abs().max() < 1e-12
    table = glosseme.table(tmp_path, ["task"])
    accuracy = table.filter(pl.col("metric") == "accuracy")
    assert accuracy["estimate"].to_list() == pytest.approx(accuracy["chance"].to_list(), abs=1e-12)


@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_each_pair_is_asked_once_for_both_tasks(kind: str, tmp_path: Path, targets: Path) -> None:
    """As many questions as there are different pairs of a definition and a word, for each template."""
    wordnet, found = choosing.groups_of("wordnet-3.0")
    names = wordnet.synsets["synset"].to_list()
    wanted = [names.index(t) for t in TARGETS]
    members = found.members.filter(pl.col("target").is_in(wanted)).rows()
    pairs = {(c, t) for t, c in members} | {(t, c) for t, c in members}
    templates = sum(len(TEMPLATES[kind, "verb" if ".v." in names[d] else "noun"]) for d, _ in pairs)
    assert len(pairs) < 2 * len(members) - len(TARGETS)
    model = "fake:random" if kind == "causal" else "fake:random-masked"
    run = ran(model, tmp_path, files={"targets": targets})
    assert run.record["execution"]["questions"] == templates
    assert run.scores().filter(pl.col("template") == AVERAGE).height == 2 * len(members)


def test_columns_of_the_scores(tmp_path: Path) -> None:
    """One row a task, item, template and candidate; the candidate is named by its synset."""
    scores = ran("fake:random-masked", tmp_path, limit=4).scores()
    assert scores.columns == [*SCORE_COLUMNS, "candidate", *WDLMPRO.factors]
    assert {"task", "pos", "item", "candidate", "logprob", "n_tokens"} <= set(scores.columns)
    assert not scores.select(pl.struct("task", "item", "template", "candidate").is_duplicated().any()).item()
    gold = scores.filter(pl.col("role") == "gold")
    assert gold["item"].equals(gold["candidate"])
    single = scores.filter(pl.col("template") != AVERAGE)
    assert single["logprob"].null_count() == 0
    w2d = single.filter(pl.col("task") == "W2D")
    assert (w2d["value"] == w2d["logprob"]).all()


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_definitions_are_cut_after_48_tokens(name: str) -> None:
    """The text of 48 tokens of the model's tokenizer is left, of a shorter definition all."""
    tokenizer = tokenizer_for(name)
    encoder = frame_of(tokenizer, "causal")
    drawn = WDLMPRO.draw("causal", "wordnet-3.0", {}, Drawing(limit=10, seed=1, cut=encoder.cut)).requests
    synsets = dict(load().synsets.select("synset", "definition").iter_rows())
    cut = 0
    for item, context in drawn.select("item", "context").unique().iter_rows():
        text = context.removesuffix(" is the definition of").removeprefix("to " if ".v." in item else "")
        whole = synsets[item]
        assert text.lower() == whole[: len(text)].lower()
        if text.lower() != whole.lower():
            cut += 1
            ids = tokenizer(whole, add_special_tokens=False)["input_ids"]
            assert len(ids) > CUT == 48
            assert tokenizer(text[0].lower() + text[1:], add_special_tokens=False)["input_ids"] == ids[:48]
    assert cut > 10


@pytest.fixture
def odd(monkeypatch: pytest.MonkeyPatch) -> tuple[Wordnet, Groups]:
    """The odd words as one group, in place of WordNet."""
    rows = pl.DataFrame(
        [(s, *texts) for s, texts in ODD.items()], schema=["synset", "word", "definition"], orient="row"
    )
    top = pl.DataFrame({"synset": ["top.n.01"], "word": ["top"], "definition": ["what is above"]})
    links = pl.DataFrame({"child": list(ODD), "parent": ["top.n.01"] * len(ODD), "instance": [False] * len(ODD)})
    wordnet = tables("odd", pl.concat([rows, top]).with_columns(key="synset"), links)
    made = wordnet, groups(wordnet)
    monkeypatch.setattr(tasks, "groups_of", lambda source: made)
    return made


@pytest.mark.parametrize("name", ["gpt2", "llama", "bert", "roberta", "albert"])
def test_odd_words_and_definitions(
    name: str,
    odd: tuple[Wordnet, Groups],
    folders: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Periods, slashes, apostrophes, umlauts, digits, quotes and brackets: each word has its own tokens, no others."""
    rows, made = list(expected(name, *odd, tuple(sorted(ODD)))), watched(monkeypatch)
    for worth_it in (1, 10**9):
        monkeypatch.setattr(product, "WORTH_IT", worth_it)
        run = ran(saved(folders, name), tmp_path / str(worth_it))
        check(run, rows, kind_of(name))
        assert run.record["counts"]["requests_spanning"] == 0
    assert len(made) == 1


def test_case_as_the_authors_wrote_it(tmp_path: Path) -> None:
    """The rest of a capitalised definition in lower case; verbs' templates with a capital, in D2W only."""
    drawn = {
        kind: WDLMPRO.draw(kind, "wordnet-3.0", {"case": "authors"}, Drawing(limit=40)).requests
        for kind in ("causal", "masked")
    }
    verbs = {kind: requests.filter(pl.col("item").str.contains(r"\.v\.")) for kind, requests in drawn.items()}
    starts = {
        (kind, task): {c.split()[0] for c in requests.filter(pl.col("task") == task)["context"]}
        for kind, requests in verbs.items()
        for task in ("W2D", "D2W")
    }
    assert starts == {
        ("causal", "W2D"): {"to"},
        ("causal", "D2W"): {"To"},
        ("masked", "W2D"): {"to", "definition"},
        ("masked", "D2W"): {"To", "Definition"},
    }
    nouns = drawn["causal"].filter(~pl.col("item").str.contains(r"\.v\."))["context"]
    assert (nouns.str.slice(1) == nouns.str.slice(1).str.to_lowercase()).all()
    assert (nouns.str.head(1) == nouns.str.head(1).str.to_uppercase()).all()
    masked = drawn["masked"].filter(~pl.col("item").str.contains(r"\.v\."))["context"]
    assert (masked != masked.str.to_lowercase()).any()
    run = ran("fake:random", tmp_path, limit=6, options={"case": "authors"})
    assert run.record["counts"]["items"] == 12


def test_a_limit_takes_whole_groups_of_both_parts_of_speech(tmp_path: Path) -> None:
    """Balanced, and a part of a larger limit with the same seed; with pos, of one part of speech alone."""
    wordnet, found = choosing.groups_of("wordnet-3.0")
    names, sizes = wordnet.synsets["synset"], {}
    items: dict[int, set[str]] = {}
    for limit in (7, 30):
        outcomes = ran("fake:constant", tmp_path / str(limit), limit=limit, seed=5).outcomes()
        items[limit] = set(outcomes["item"])
        sizes[limit] = dict(outcomes.filter(pl.col("task") == "W2D").group_by("pos").len().iter_rows())
    assert sizes == {7: {"noun": 4, "verb": 3}, 30: {"noun": 15, "verb": 15}}
    assert items[7] < items[30]
    expected = outcomes.join(found.groups.select(names.gather(found.groups["target"]).alias("item"), "size"), on="item")
    assert (expected["n_candidates"] == expected["size_right"]).all()
    verbs = ran("fake:constant", tmp_path / "verbs", limit=5, options={"pos": "verb"}).outcomes()
    assert set(verbs["pos"]) == {"verb"}
    assert verbs["item"].n_unique() == 5
    assert found.groups.height == 59_747


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("opera.n.01\n\nopera.n.99\n", r"targets.txt:3: the wordnet has no synset 'opera.n.99'; did you mean 'opera.n"),
        ("con.x.9\n", r"targets.txt:1: .*did you mean 'con.n.01'"),
        ("zzz\n", r"targets.txt:1: .*write it as word.pos.number"),
        ("opera.n.01\nentity.n.01\n", r"targets.txt:2: entity.n.01 has no group here"),
        ("\n", "names no synset"),
    ],
)
def test_wrong_targets_are_named_with_their_line(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "targets.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(GlossemeError, match=message) as caught:
        ran("fake:constant", tmp_path / "out", files={"targets": path})
    assert len(str(caught.value)) < 300


def test_counts_of_ones_own_change_the_bands(tmp_path: Path, targets: Path) -> None:
    """Bands are those of the file's counts, and the table says whose counts they are."""
    counts = tmp_path / "counts.tsv"
    counts.write_text("spackle\t100\nstucco\t10\namaranth\t9\nstand for\t0\n", encoding="utf-8")
    files = {"targets": targets, "counts": counts}
    own = ran("fake:constant", tmp_path / "own", files=files)
    bands = dict(own.outcomes().select("item", "band").unique().iter_rows())
    assert bands == dict.fromkeys(TARGETS, "rare") | {"spackle.n.01": "frequent", "stucco.n.01": "medium"}
    assert "frequency bands by counts of counts.tsv" in own.record["notes"]
    default = ran("fake:constant", tmp_path / "default", files={"targets": targets})
    assert dict(default.outcomes().select("item", "band").unique().iter_rows()) != bands
    assert any("wordfreq" in note for note in default.record["notes"])


def test_breakdowns_come_in_their_order(tmp_path: Path) -> None:
    """Bands from rare to frequent, sizes and numbers of tokens from small to large, depths as numbers."""
    ran("fake:random", tmp_path, limit=60)

    def levels(factor: str) -> list[str]:
        return glosseme.table(tmp_path, [factor]).filter(pl.col("metric") == "accuracy")[factor].to_list()

    assert levels("band") == ["rare", "medium", "frequent"]
    assert levels("size") == ["5-9", "10-19", "20-49", "50-99", "100 and more"]
    assert levels("word_tokens") == [n for n in ("1", "2", "3", "more") if n in levels("word_tokens")]
    [run] = glosseme.find_runs(tmp_path)
    sizes = dict(run.outcomes().select("n_candidates", "size").iter_rows())
    assert all(size == named_size(n) for n, size in sizes.items())
    assert levels("depth") == sorted(levels("depth"), key=int)


def named_size(n: int) -> str:
    ranges = {"5-9": range(5, 10), "10-19": range(10, 20), "20-49": range(20, 50), "50-99": range(50, 100)}
    return next((name for name, numbers in ranges.items() if n in numbers), "100 and more")


@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_show_prints_groups_as_a_reader_would_want_them(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Word, definition, members with the target marked, and an example of each template."""
    assert main(["show", "wdlmpro", "-n", "2", "--kind", kind, "--seed", "4"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("wdlmpro: groups of 51,260 nouns and 8,487 verbs")
    noun, verb = shown.split("\n\n")[1:]
    assert noun.splitlines()[0] == "tuna.n.03 (noun, 20 members)"
    members = noun.partition("members:\n")[2].splitlines()[:20]
    assert [m[:4] for m in members].count("  > ") == 1
    assert [m[4:].partition(":")[0] for m in members] == sorted(m[4:].partition(":")[0] for m in members)
    assert verb.partition(f"asked of a {kind} model:\n")[2].count("\n") + 1 >= len(TEMPLATES[kind, "verb"])
    assert "| tuna" in noun if kind == "causal" else "[Tuna] means any" in noun
