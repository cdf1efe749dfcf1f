"""Static embeddings: readers, mean vectors, cosines, and the runs that they make."""

from __future__ import annotations

import gzip
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.tokenize import NLTKWordTokenizer

from glosseme.errors import GlossemeError
from glosseme.measures import check_requests
from glosseme.models import StaticModel, open_model, parse_reference
from glosseme.models.static import NO_VECTOR, Embedded
from glosseme.models.static.words import tokenize
from glosseme.progress import QuietProgress
from glosseme.runs.evaluate import evaluate
from glosseme.runs.options import asked_of
from glosseme.runs.similarity import similarities
from glosseme.suites import find_suites, suites_for
from glosseme.suites.wdlmpro.wordnet import load

WDLMPRO = find_suites("wdlmpro")[0]
GOLD = dict(load().synsets.select("synset", "word").iter_rows())
WORDS = ("the", "of", "a", "dog", "Dog", "cat", "large", "bone", "'s", ",", "chewed", "ice-cream")
TEXTS = ["the dog's bone, chewed", "a large Dog", "A Large CAT", "cat", "of the the cat", "xyzzy", "ice-cream of xyzzy"]

needs_gensim = pytest.mark.skipif(find_spec("gensim") is None, reason="gensim is not installed")
needs_wordllama = pytest.mark.skipif(find_spec("wordllama") is None, reason="wordllama is not installed")


def vectors_of(words=WORDS, dimensions: int = 7, seed: int = 0) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {word: random.standard_normal(dimensions).astype(np.float32) for word in words}


def write(path: Path, vectors, *, header: bool = True, end: str = "\n") -> Path:
    lines = [f"{word} {' '.join(repr(float(x)) for x in vector)}" for word, vector in vectors.items()]
    head = [f"{len(vectors)} {len(next(iter(vectors.values())))}"] if header else []
    data = "".join(line + end for line in [*head, *lines]).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def plain_cosine(vectors, one: str, other: str) -> float:
    """The definition in a loop: tokens, own case, else lower case, mean, cosine."""
    means = []
    for text in (one, other):
        tokens = NLTKWordTokenizer().tokenize(text)
        found = [vectors[t] if t in vectors else vectors.get(t.lower()) for t in tokens]
        known = [np.asarray(v, np.float64) for v in found if v is not None]
        if not known:
            return -1.0
        means.append(sum(known) / len(known))
    return float(means[0] @ means[1] / (np.linalg.norm(means[0]) * np.linalg.norm(means[1])))


def all_cosines(model: StaticModel, texts=TEXTS) -> np.ndarray:
    one, other = (grid.ravel() for grid in np.indices((len(texts), len(texts))))
    return model.embed(texts).cosines(one, other).reshape(len(texts), len(texts))


def expected(vectors, texts=TEXTS) -> np.ndarray:
    return np.array([[plain_cosine(vectors, one, other) for other in texts] for one in texts])


def run(model: str | Path, out: Path, *, suite=WDLMPRO, **asked):
    return evaluate(open_model(str(model)), [asked_of(suite, **asked)], out, QuietProgress())[0]


@pytest.mark.parametrize("name", ["v.vec", "v.txt", "v.vec.gz"])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("end", ["\n", " \n", "\r\n"])
def test_cosines_are_those_of_a_plain_loop(tmp_path, name, header, end):
    """With and without a first line of counts, packed or not, with fastText's space at the end of lines."""
    vectors = vectors_of()
    model = open_model(str(write(tmp_path / name, vectors, header=header, end=end)))
    assert model.kind == "static"
    np.testing.assert_allclose(all_cosines(model), expected(vectors), atol=1e-6)
    assert model.embed(TEXTS).n_known.tolist() == [6, 3, 3, 1, 4, 0, 2]


@given(
    st.lists(st.lists(st.sampled_from([*WORDS, "CAT", "nothing"]), min_size=1, max_size=8), min_size=2, max_size=6),
    st.integers(0, 99),
)
def test_a_text_is_a_bag_of_its_known_words(tmp_path_factory, bags, seed):
    """The order of words and those without a vector change nothing, to the last bit."""
    path = write(tmp_path_factory.getbasetemp() / "bags.vec", vectors_of())
    model = open_model(str(path))
    shuffle = np.random.default_rng(seed)
    texts = [" ".join(bag) for bag in bags]
    mixed = [" ".join(shuffle.permutation([*bag, "nothing"])) for bag in bags]
    assert (all_cosines(model, texts) == all_cosines(model, mixed)).all()


@given(
    st.text(alphabet="abcnotg AGT019-'.,;:()\"", max_size=40) | st.sampled_from(["cannot", "they gonna-do", "Gimme"])
)
def test_tokens_are_nltks(text):
    """The short way for plain texts parts them as NLTK's tokeniser does."""
    assert tokenize([text]) == [NLTKWordTokenizer().tokenize(text)]


def test_tokens_of_definitions_are_nltks():
    """The same on a sample of WordNet's words and definitions."""
    sample = load().synsets.sample(400, seed=1)
    texts = [*sample["definition"], *sample["word"], "a dog that cannot wanna sleep"]
    assert tokenize(texts) == [NLTKWordTokenizer().tokenize(text) for text in texts]


def test_words_with_spaces_and_repeated_words_are_read(tmp_path):
    """GloVe has words such as `. . .`; of a word that comes twice the first counts; tabs part as well."""
    (tmp_path / "g.txt").write_text("cat 1.0 0.0\n. . . 0.5 0.5\ndog\t0.0 1.0\ncat 0.0 1.0\n\n")
    assert all_cosines(open_model(str(tmp_path / "g.txt")), ["cat", "dog"]).tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("2 3\ncat 1 2 3\ndog 1 2\n", r"b\.vec:3: .*2 numbers and should have 3"),
        ("2 3\ncat 1 2 3\ndog 1 2 3 4\n", r"b\.vec:3: .*4 numbers and should have 3"),
        ("cat 1 2 3\ndog 1 2\n", r"b\.vec:2: .*2 numbers"),
        ("cat 1 2 3\ndog 1 x 3\n", r"b\.vec:2: 'x' is no number"),
        ("cat 1 2 3\ndog 1 nan 3\n", r"b\.vec:2: .*not finite"),
        ("cat 1 2 3\ndog 1 1e60 3\n", r"b\.vec:2: .*not finite"),
        ("3 3\ncat 1 2 3\ndog 1 2 3\n", r"b\.vec:1: .*says that 3 words follow, and there are 2"),
        ("1 3\ncat 1 2 3\ndog 1 2 3\n", r"b\.vec:1: .*says that 1 words follow, and there are 2"),
    ],
)
def test_a_broken_file_is_named_with_its_line(tmp_path, text, says):
    """What is wrong inside the file shows when it is read."""
    (tmp_path / "b.vec").write_text(text)
    with pytest.raises(GlossemeError, match=says):
        open_model(str(tmp_path / "b.vec")).embed(["cat dog"])


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("e.vec", b"", "no line of vectors"),
        ("e.vec", b"word\n", "no line of vectors"),
        ("e.vec", b"5 0\n", "no line of vectors"),
        ("e.vec", b"a line of prose\n", "'line' is no number"),
        ("e.vec.gz", b"the 1 2\n", "can't be read"),
        ("e.bin", b"PK\x03\x04 a pickled model", "neither fastText nor word2vec"),
        ("e.bin", b"", "neither fastText nor word2vec"),
    ],
)
def test_what_holds_no_vectors_is_refused_at_once(tmp_path, name, data, says):
    """Before anything is read."""
    (tmp_path / name).write_bytes(data)
    with pytest.raises(GlossemeError, match=says) as caught:
        open_model(str(tmp_path / name))
    assert "\n" not in str(caught.value)


def test_a_packed_file_that_was_cut_short_is_named(tmp_path):
    """A download that broke off is no short list of words."""
    path = write(tmp_path / "v.vec.gz", vectors_of(map(str, range(3000))))
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(GlossemeError, match="can't be read"):
        open_model(str(path)).embed(["cat"])


@needs_gensim
def test_word2vec_binary_is_read_as_text_is(tmp_path):
    """A file that gensim wrote gives the cosines of the same vectors as text."""
    from gensim.models import KeyedVectors

    vectors = vectors_of()
    keyed = KeyedVectors(7)
    keyed.add_vectors(list(vectors), np.stack(list(vectors.values())))
    keyed.save_word2vec_format(str(tmp_path / "v.bin"), binary=True)
    np.testing.assert_allclose(all_cosines(open_model(str(tmp_path / "v.bin"))), expected(vectors), atol=1e-6)
    (tmp_path / "short.bin").write_bytes((tmp_path / "v.bin").read_bytes()[:-9])
    with pytest.raises(GlossemeError, match=r"short\.bin: .*can't be read"):
        open_model(str(tmp_path / "short.bin")).embed(["cat"])


@needs_gensim
def test_fasttext_binary_has_vectors_of_unknown_words(tmp_path):
    """A word out of vocabulary is the mean of its n-grams; one that has none has no vector."""
    from gensim.models import FastText
    from gensim.models.fasttext import save_facebook_model

    trained = FastText(
        [["the", "large", "dog"], ["a", "cat"]], vector_size=7, min_count=1, epochs=1, min_n=4, max_n=5, bucket=50
    )
    save_facebook_model(trained, str(tmp_path / "f.bin"))
    texts = ["the dog", "dogmatic", "The Cat", "x", "cat x"]
    vectors = {word: trained.wv[word] for word in ("the", "dog", "cat", "dogmatic")}
    model = open_model(str(tmp_path / "f.bin"))
    np.testing.assert_allclose(all_cosines(model, texts), expected(vectors, texts), atol=1e-6)
    assert model.embed(texts).n_known.tolist() == [2, 1, 2, 0, 1]


def test_binary_needs_gensim_and_says_so(tmp_path, monkeypatch):
    """Without the extra there is one line that says what to install."""
    (tmp_path / "v.bin").write_bytes(b"1 2\ncat 12345678\n")
    monkeypatch.setattr("glosseme.models.static.binary.installed", lambda package: None)
    with pytest.raises(GlossemeError, match=r"gensim is needed.*glosseme\[static\]"):
        open_model(str(tmp_path / "v.bin"))


def test_the_offline_vectors_need_their_package(monkeypatch):
    """Without the extra there is one line that says what to install."""
    monkeypatch.setattr("glosseme.models.static.wordllama.find_spec", lambda name: None)
    with pytest.raises(GlossemeError, match=r"static:wordllama: .*glosseme\[static\]"):
        open_model("static:wordllama")


def test_names(tmp_path, monkeypatch):
    """A path by its ending or by the prefix; tables show its name without the folders."""
    monkeypatch.chdir(tmp_path)
    for name in ("cc.en.vec", "cc.en.bin", "glove", "x.vec.gz", "new york.txt"):
        (tmp_path / name).write_text("the 1 2\n")
    known = parse_reference("static:wordllama")
    assert (known.source, known.label, known.display) == ("static", "static-wordllama", "static:wordllama")
    for text in ("cc.en.vec", "./cc.en.vec", "static:cc.en.vec", str(tmp_path / "cc.en.vec"), "static:./cc.en.vec"):
        found = parse_reference(text)
        assert found.source == "static"
        assert found.name == str((tmp_path / "cc.en.vec").resolve())
        assert found.label == found.display == found.public_name == "cc.en.vec"
    assert parse_reference("cc.en.bin").label == "cc.en.bin"
    assert parse_reference("new york.txt").label == "new-york.txt"
    assert parse_reference("static:glove").display == "glove"
    with pytest.raises(GlossemeError, match="static:glove"):
        parse_reference("glove")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("static:wordlama", "did you mean 'static:wordllama'"),
        ("static:", "static:wordllama"),
        ("static:wordllama@main", "has no revisions"),
        ("nowhere.vec", "no such file of vectors"),
        ("nowhere.bin", "no such file of vectors"),
        ("static:nowhere.bin", "no such file of vectors"),
        ("static:no/where", "no such file of vectors"),
    ],
)
def test_a_wrong_name_is_one_line(text, says):
    """As with every other name of a model."""
    with pytest.raises(GlossemeError, match=says) as caught:
        parse_reference(text)
    assert "\n" not in str(caught.value)


def test_identity_changes_with_a_byte(tmp_path):
    """Two files share an identity only if they are the same; where they lie doesn't matter."""
    vectors = vectors_of()
    (tmp_path / "other").mkdir()
    one = write(tmp_path / "v.vec", vectors)
    same = write(tmp_path / "other" / "v.vec", vectors)
    first = open_model(str(one)).identity
    assert first == open_model(str(same)).identity
    assert first.weights != first.tokenizer
    data = bytearray(one.read_bytes())
    data[-2] ^= 1
    one.write_bytes(data)
    assert open_model(str(one)).identity.weights != first.weights


def test_texts_without_a_vector_score_lowest_and_are_counted(tmp_path):
    """By their number in run.json and by a sentence in the notes."""
    done = run(write(tmp_path / "few.vec", vectors_of()), tmp_path / "runs", limit=40)
    scores, counts = done.scores(), done.record["counts"]
    texts = set(scores["context"]) | set(scores["text"])
    known = [any(t in WORDS or t.lower() in WORDS for t in tokens) for tokens in tokenize(sorted(texts))]
    assert 0 < counts["texts_without_vector"] == len(texts) - sum(known) < counts["texts"] == len(texts)
    without = scores.filter(pl.col("n_tokens") == 0)
    assert without.height
    assert set(without["value"]) == {NO_VECTOR}
    assert scores["value"].is_between(-1, 1).all()
    assert scores["logprob"].null_count() == scores.height
    outcomes = done.outcomes()
    tokens = {item: sum(t in WORDS or t.lower() in WORDS for t in tokenize([word])[0]) for item, word in GOLD.items()}
    for item, word_tokens in outcomes.select("item", "word_tokens").iter_rows():
        assert word_tokens == ("more" if tokens[item] > 3 else str(tokens[item]))
    assert any(f"{counts['texts_without_vector']} of" in note.replace(",", "") for note in done.record["notes"])
    assert done.record["execution"]["way"] == "similarity"


def test_values_of_a_run_are_those_of_a_plain_loop(tmp_path):
    """Both tasks, through the files; W2D and D2W share the pair of a target and itself."""
    vectors = vectors_of(["the", "of", "a", "or", "in", "to", "for", "with", "water", "person", "make", "out"])
    scores = run(write(tmp_path / "v.vec", vectors), tmp_path / "runs", limit=6).scores()
    assert set(scores["measure"]) == {"similarity"}
    assert set(scores["template"]) == {"average"}
    for context, text, value in scores.select("context", "text", "value").unique().sample(60, seed=2).iter_rows():
        assert value == pytest.approx(plain_cosine(vectors, context, text), abs=1e-6)
    gold = scores.filter(pl.col("role") == "gold").pivot("task", index="item", values="value")
    assert (gold["W2D"] == gold["D2W"]).all()
    d2w = scores.filter(pl.col("task") == "D2W")
    assert [GOLD[c] for c in d2w["candidate"]] == d2w["text"].to_list()


def test_a_constant_similarity_gives_chance(tmp_path):
    """All texts without a vector, or all with the same one: every candidate ties."""
    (tmp_path / "none.vec").write_text("qqqqq 1 0\n")
    done = run(tmp_path / "none.vec", tmp_path / "runs", limit=20)
    outcomes = done.outcomes()
    assert outcomes["tie"].all()
    assert outcomes["correct"].to_list() == pytest.approx(outcomes["chance"].to_list())
    assert outcomes["rank_score"].to_list() == pytest.approx([0.5] * outcomes.height)


def test_a_finished_run_is_not_done_again_and_another_file_is_refused(tmp_path):
    """The folder of one file never takes the values of another one of its name."""
    path = write(tmp_path / "v.vec", vectors_of())
    first = run(path, tmp_path / "runs", limit=4)
    assert run(path, tmp_path / "runs", limit=4).record == first.record
    write(path, vectors_of(seed=1))
    with pytest.raises(GlossemeError, match="weights_sha256"):
        run(path, tmp_path / "runs", limit=4)


@needs_wordllama
def test_offline_vectors_match_words_and_definitions(tmp_path):
    """Well above chance (.08) on noun groups, and nothing is asked of the network."""
    done = run("static:wordllama", tmp_path, limit=200, options={"pos": "noun"})
    accuracy = done.outcomes().filter(pl.col("task") == "W2D")["correct"].mean()
    assert 0.25 < accuracy < 0.5
    assert done.record["counts"]["texts_without_vector"] == 0


@needs_wordllama
def test_offline_vectors_are_the_mean_of_the_subwords():
    """Computed again here from the package's own files."""
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    folder = Path(next(iter(find_spec("wordllama").submodule_search_locations)))
    [table] = load_file(folder / "weights/l2_supercat_256.safetensors").values()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizers/l2_supercat_tokenizer_config.json"))
    texts = ["a large Dog", "naïveté 犬", "hound"]
    means = [table[tokenizer.encode(t, add_special_tokens=False).ids].astype(np.float64).mean(axis=0) for t in texts]
    unit = np.stack([m / np.linalg.norm(m) for m in means])
    np.testing.assert_allclose(all_cosines(open_model("static:wordllama"), texts), unit @ unit.T, atol=1e-6)


def test_long_tables_are_done_in_parts(monkeypatch):
    """The size of the parts changes no value."""
    random = np.random.default_rng(0)
    table = random.standard_normal((50, 5)).astype(np.float32)
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    embedded = Embedded(table, np.ones(50, np.int64), np.ones(50, bool))
    one, other = random.integers(0, 50, (2, 1003))
    whole = embedded.cosines(one, other)
    np.testing.assert_allclose(whole, np.sum(table[one] * table[other], axis=1), atol=1e-6)
    monkeypatch.setattr("glosseme.models.static.embed._CHUNK", 64)
    assert (embedded.cosines(one, other) == whole).all()


def test_similarities_keep_rows_and_factors():
    """One row a request, in their order."""
    requests = pl.DataFrame(
        {"item": ["i", "j"], "role": "value", "measure": "similarity", "context": ["b", "a"], "text": ["a", "b"]}
    ).with_columns(kind=pl.Series(["x", "y"]))
    embedded = Embedded(np.eye(2, dtype=np.float32), np.array([3, 4]), np.array([True, True]))
    scores = similarities(requests, pl.Series(["a", "b"]), embedded, "s")
    assert scores.select("item", "value", "n_tokens", "kind").rows() == [("i", 0.0, 3, "x"), ("j", 0.0, 4, "y")]


def test_suites_say_which_models_they_are_for():
    """Suites of probabilities are refused to static embeddings, and similarities to language models."""
    assert suites_for(("wdlmpro",), "static") == (WDLMPRO,)
    with pytest.raises(GlossemeError, match="is for causal or masked models and this one is static"):
        suites_for(("paired-focus/semantics",), "static")
    row = {"item": ["i"], "role": ["value"], "measure": ["similarity"], "context": ["a"], "text": ["b"]}
    with pytest.raises(GlossemeError, match="needs a static model and this one is causal"):
        check_requests(pl.DataFrame(row), "causal", "s")
    with pytest.raises(GlossemeError, match="a similarity needs a context"):
        check_requests(pl.DataFrame(row).with_columns(context=pl.lit(None, pl.String)), "static", "s")
