"""The wordnet of the package and the readers of others: names, definitions, links, depths, bad input."""

from __future__ import annotations

import runpy
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from glosseme.errors import GlossemeError
from glosseme.suites.wdlmpro.depth import depths
from glosseme.suites.wdlmpro.tables import HYPERNYM_COLUMNS, SYNSET_COLUMNS, Wordnet, word_of
from glosseme.suites.wdlmpro.wndb import definition
from glosseme.suites.wdlmpro.wordnet import load

DEBIAN = Path("/usr/share/wordnet")
SCRIPT = Path(__file__).parents[1] / "scripts" / "pack_wordnet.py"
LICENCE = "  1 Words 1.0 Copyright 2006 by Nobody.  All rights reserved.  \n"
NOUNS = [
    ("00000100", ["entity"], [], 'what is; "a thing is"'),
    ("00000200", ["U.S.", "America"], ["@i 00000100"], "a country"),
    ("00000300", ["ph.d.", "doctor"], ["@ 00000100"], 'a degree; "he has one"; "hers \'n\' his" - Anon; rare'),
    ("00000400", ["doctor"], ["@ 00000300", "@ 00000100", "@ 00000300"], 'a gloss; "unclosed'),
]
VERBS = [
    ("00000100", ["go_up"], ["@ 00000200"], "rise"),
    ("00000200", ["rise"], ["@ 00000100"], "go up"),
    ("00000300", ["rise"], ["@ 00000100"], "go up as smoke does"),
    ("00000400", ["stand"], [], "be upright"),
]


def write_wndb(folder: Path) -> Path:
    """Write a small WNDB: four nouns and four verbs, two of which are hypernyms of each other."""
    folder.mkdir(parents=True, exist_ok=True)
    for part, pos, synsets in (("noun", "n", NOUNS), ("verb", "v", VERBS)):
        data, index = [LICENCE], {}
        for offset, words, pointers, gloss in synsets:
            named = " ".join(f"{word} 0" for word in words)
            above = "".join(f" {pointer} {pos} 0000" for pointer in pointers)
            data.append(f"{offset} 03 {pos} {len(words):02x} {named} {len(pointers):03d}{above} | {gloss}  \n")
            for word in words:
                index.setdefault(word.lower(), []).insert(0, offset)
        lines = [f"{w} {pos} {len(o)} 1 @ {len(o)} 0 {' '.join(o)}  \n" for w, o in index.items()]
        (folder / f"data.{part}").write_text("".join(data), encoding="utf-8")
        (folder / f"index.{part}").write_text("".join([LICENCE, *lines]), encoding="utf-8")
    return folder


def links(wordnet: Wordnet) -> list[tuple[str, str, bool]]:
    names = wordnet.synsets["synset"]
    named = (names.gather(wordnet.hypernyms[end]) for end in ("child", "parent"))
    return list(zip(*named, wordnet.hypernyms["instance"], strict=True))


def row(wordnet: Wordnet, synset: str) -> dict[str, Any]:
    return wordnet.synsets.join(depths(wordnet), on="id").row(by_predicate=pl.col("synset") == synset, named=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_wndb(tmp_path / "wndb")


def test_the_package_has_the_nouns_and_verbs_of_wordnet_3() -> None:
    """82,115 noun and 13,767 verb synsets, as WordNet's own statistics say (wnstats(7WN))."""
    synsets = load().synsets
    assert synsets.group_by("pos").len().sort("pos").rows() == [("noun", 82_115), ("verb", 13_767)]
    assert synsets.null_count().sum_horizontal().item() == 0


def test_a_synset_is_named_once_and_ids_are_rows_in_the_order_of_names() -> None:
    synsets, hypernyms = load().synsets, load().hypernyms
    assert dict(synsets.schema) == SYNSET_COLUMNS
    assert dict(hypernyms.schema) == HYPERNYM_COLUMNS
    assert synsets["id"].to_list() == list(range(synsets.height))
    assert synsets["synset"].n_unique() == synsets.height
    for pos in ("noun", "verb"):
        names = synsets.filter(pl.col("pos") == pos)["synset"].to_list()
        assert names == sorted(names)
    assert hypernyms.is_unique().all()


@pytest.mark.parametrize(
    ("synset", "word"),
    [
        ("warm_up.v.04", "warm up"),
        ("st._john's.n.02", "st. john's"),
        ("ph.d..n.01", "ph.d."),
        ("g.i..v.01", "g.i."),
        ("o.k..n.01", "o.k."),
        ("'hood.n.01", "'hood"),
        ("9/11.n.01", "9/11"),
        ("read/write_head.n.01", "read/write head"),
        ("transmission_control_protocol/internet_protocol.n.01", "transmission control protocol/internet protocol"),
        ("wrangell-st._elias_national_park.n.01", "wrangell-st. elias national park"),
    ],
)
def test_a_word_is_a_name_without_part_of_speech_and_number(synset: str, word: str) -> None:
    assert row(load(), synset)["word"] == word


def test_words_are_what_the_last_two_dots_leave() -> None:
    expected = [name.rsplit(".", 2)[0].replace("_", " ") for name in load().synsets["synset"]]
    assert load().synsets["word"].to_list() == expected
    assert load().synsets.select(word_of(pl.col("synset"))).to_series().to_list() == expected


@pytest.mark.parametrize(
    ("synset", "expected"),
    [
        ("a_cappella_singing.n.01", "singing without instrumental accompaniment"),
        ("caroling.n.01", "singing joyful religious songs (especially at Christmas)"),
        ("bel_canto.n.01", "a style of operatic singing"),
        ("beckon.v.01", "signal with the hands or nod"),
        ("roleplaying.n.01", "acting a particular role (as in psychotherapy)"),
    ],
)
def test_definitions_are_those_that_the_paper_prints(synset: str, expected: str) -> None:
    assert row(load(), synset)["definition"] == expected


def test_an_instance_is_no_hyponym() -> None:
    """Paris is an instance of a national capital, a national capital is a kind of capital."""
    found = links(load())
    assert ("paris.n.01", "national_capital.n.01", True) in found
    assert ("national_capital.n.01", "capital.n.03", False) in found
    assert sum(instance for _, _, instance in found) == 8_577


@pytest.mark.parametrize(
    ("synset", "depth"),
    [
        ("entity.n.01", 0),
        ("physical_entity.n.01", 1),
        ("abstraction.n.06", 1),
        ("whole.n.02", 3),
        ("dog.n.01", 8),
        ("paris.n.01", 10),
        ("move.v.02", 0),
        ("walk.v.01", 1),
    ],
)
def test_depths_of_known_synsets(synset: str, depth: int) -> None:
    """As NLTK's `min_depth` has them."""
    assert row(load(), synset)["depth"] == depth


def test_every_noun_lies_below_entity_and_a_depth_is_one_more_than_the_least_above() -> None:
    wordnet = load()
    found = depths(wordnet)
    assert found["id"].equals(wordnet.synsets["id"])
    nouns = wordnet.synsets.join(found, on="id").filter(pl.col("pos") == "noun")
    assert nouns.filter(pl.col("depth") == 0)["synset"].to_list() == ["entity.n.01"]
    above = wordnet.hypernyms.join(found, left_on="parent", right_on="id").group_by("child").agg(pl.col("depth").min())
    both = found.join(above, left_on="id", right_on="child")
    assert both.height == found.filter(pl.col("depth") > 0).height
    assert (both["depth"] == both["depth_right"] + 1).all()


def test_nltk_reads_the_same_from_debians_wordnet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names, definitions, hypernyms and depths, of one synset in 16 (a step of 1 compares all, in 15 s)."""
    nltk = pytest.importorskip("nltk")
    if not DEBIAN.is_dir():
        pytest.skip("the Debian package wordnet-base is not installed")
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    folder = tmp_path / "corpora" / "wordnet"
    shutil.copytree(DEBIAN, folder, ignore=lambda _, names: [name for name in names if "." not in name])
    (folder / "lexnames").write_text("".join(f"{number:02d}\tname\t1\n" for number in range(45)), encoding="utf-8")
    (folder / "index.sense").touch()
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    with pytest.warns(UserWarning, match="multilingual"):
        reader = WordNetCorpusReader(str(folder), None)
    wordnet = load()
    above: dict[tuple[str, bool], set[str]] = {}
    for child, parent, instance in links(wordnet):
        above.setdefault((child, instance), set()).add(parent)
    rows = wordnet.synsets.join(depths(wordnet), on="id").gather_every(16)
    for name, text, depth in rows.select("synset", "definition", "depth").rows():
        synset = reader.synset(name)
        assert (synset.name(), synset.definition(), synset.min_depth()) == (name, text, depth)
        assert {parent.name() for parent in synset.hypernyms()} == above.get((name, False), set())
        assert {parent.name() for parent in synset.instance_hypernyms()} == above.get((name, True), set())


def test_the_package_has_what_debians_wordnet_has() -> None:
    """A folder reads as what was packed from it."""
    if not DEBIAN.is_dir():
        pytest.skip("the Debian package wordnet-base is not installed")
    read, packed = load(str(DEBIAN)), load()
    assert read.synsets.equals(packed.synsets)
    assert read.hypernyms.equals(packed.hypernyms)


def test_the_licence_lies_beside_the_data_and_the_notice_names_it() -> None:
    root = SCRIPT.parents[1]
    licence = (root / "src" / "glosseme" / "data" / "wordnet" / "LICENSE").read_text(encoding="utf-8")
    assert "WordNet 3.0 Copyright 2006 by Princeton University.  All rights reserved." in licence
    assert "Permission to use, copy, modify and distribute this software and" in licence
    assert "WordNet 3.0 Copyright 2006 by Princeton" in (root / "NOTICE").read_text(encoding="utf-8")


def test_the_script_writes_the_same_bytes_again(folder: Path, tmp_path: Path) -> None:
    main = runpy.run_path(str(SCRIPT))["main"]
    for name in ("one", "two"):
        assert main([str(folder), "--out", str(tmp_path / name)]) == 0
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files == ["LICENSE", "hypernyms.parquet", "synsets.parquet"]
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert "Copyright 2006 by Nobody" in (tmp_path / "one" / "LICENSE").read_text(encoding="utf-8")


def test_the_script_refuses_a_folder_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert runpy.run_path(str(SCRIPT))["main"]([str(tmp_path / "no")]) == 2
    assert "there is no such folder" in capsys.readouterr().err


def test_a_folder_is_read(folder: Path) -> None:
    """Names are of the first word in lower case, numbered in the order of the index; examples are cut."""
    wordnet = load(str(folder))
    assert wordnet.synsets.select("synset", "pos", "word", "definition").rows() == [
        ("doctor.n.01", "noun", "doctor", 'a gloss; "unclosed'),
        ("entity.n.01", "noun", "entity", "what is"),
        ("ph.d..n.01", "noun", "ph.d.", "a degree; ;  - Anon; rare"),
        ("u.s..n.01", "noun", "u.s.", "a country"),
        ("go_up.v.01", "verb", "go up", "rise"),
        ("rise.v.01", "verb", "rise", "go up as smoke does"),
        ("rise.v.02", "verb", "rise", "go up"),
        ("stand.v.01", "verb", "stand", "be upright"),
    ]
    assert links(wordnet) == [
        ("doctor.n.01", "entity.n.01", False),
        ("doctor.n.01", "ph.d..n.01", False),
        ("ph.d..n.01", "entity.n.01", False),
        ("u.s..n.01", "entity.n.01", True),
        ("go_up.v.01", "rise.v.02", False),
        ("rise.v.01", "go_up.v.01", False),
        ("rise.v.02", "go_up.v.01", False),
    ]


def test_a_circle_of_hypernyms_has_no_depth(folder: Path) -> None:
    """What only a circle lies above has no path to a root, so null; the shorter of two paths counts."""
    wordnet = load(str(folder))
    assert depths(wordnet)["depth"].to_list() == [1, 0, 1, 1, None, None, None, 0]


@pytest.mark.parametrize("inside", ["dict", "wordnet"])
def test_a_folder_may_hold_the_folder_with_the_files(tmp_path: Path, inside: str) -> None:
    write_wndb(tmp_path / inside)
    assert load(str(tmp_path)).synsets.height == 8


def test_a_zip_file_is_read_like_its_folder(tmp_path: Path) -> None:
    """NLTK leaves its copy zipped."""
    folder = write_wndb(tmp_path / "corpora" / "wordnet")
    made = shutil.make_archive(str(tmp_path / "wordnet"), "zip", folder.parent)
    assert load(made).synsets.equals(load(str(folder)).synsets)


@pytest.mark.parametrize(
    ("gloss", "expected"),
    [
        (' cause; "heat up the soup"; "heat it"  ', "cause"),
        (' of a soup (or "broth"); hot', "of a soup (or ); hot"),
        ("; no example ; ", "no example"),
        ('"an example alone"', ""),
    ],
)
def test_definitions_are_cut_as_nltk_cuts_them(gloss: str, expected: str) -> None:
    assert definition(gloss) == expected


def test_a_wordnet_that_is_not_there_is_named() -> None:
    with pytest.raises(GlossemeError, match=r"no folder 'wordnet-3\.1'; name 'wordnet-3\.0', a folder"):
        load("wordnet-3.1")


def test_missing_files_are_named(folder: Path) -> None:
    (folder / "index.verb").unlink()
    with pytest.raises(GlossemeError, match=r"wndb: the folder has no index\.verb; name a folder with"):
        load(str(folder))


def test_a_file_that_is_no_zip_is_refused(folder: Path) -> None:
    with pytest.raises(GlossemeError, match="neither a folder nor a zip file"):
        load(str(folder / "data.noun"))


@pytest.mark.parametrize(
    ("name", "line", "where"),
    [
        ("index.noun", "dog n one 1 @ 1 0 00000100", r"index\.noun:2: this is no line of an index of nouns"),
        ("index.verb", "go v 9 1 @ 9 0 00000100", r"index\.verb:2: this is no line of an index of verbs"),
        ("data.noun", "00000100 03 n 01 dog 0 000 | a pet", r"data\.noun:2: .* first word is not in index\.noun"),
        ("data.noun", "00000999 03 n 01 entity 0 000 | it", r"data\.noun:2: .* first word is not in index\.noun"),
        ("data.verb", "00000100 03 v 01 go_up 0 002 @ 00000200", r"data\.verb:2: this is no line of data of verbs"),
        ("data.verb", "x", r"data\.verb:2: this is no line of data of verbs"),
    ],
)
def test_a_bad_line_is_named(folder: Path, name: str, line: str, where: str) -> None:
    lines = (folder / name).read_text(encoding="utf-8").splitlines()
    (folder / name).write_text("\n".join([lines[0], line, *lines[2:]]), encoding="utf-8")
    with pytest.raises(GlossemeError, match=where):
        load(str(folder))


def test_a_file_in_another_encoding_is_named(folder: Path) -> None:
    (folder / "data.noun").write_bytes(b"\xff\xfe")
    with pytest.raises(GlossemeError, match=r"data\.noun: the file is not UTF-8"):
        load(str(folder))


LMF = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE LexicalResource SYSTEM "http://globalwordnet.github.io/schemas/WN-LMF-1.1.dtd">
<LexicalResource xmlns:dc="https://globalwordnet.github.io/schemas/dc/">
  <Lexicon id="mini" label="Mini" language="de" email="a@example.org" license="CC0" version="1">
    <LexicalEntry id="mini-Hund"><Lemma writtenForm="Hund" partOfSpeech="n"/>
      <Sense id="mini-Hund-1" synset="mini-2"/></LexicalEntry>
    <LexicalEntry id="mini-hund"><Lemma writtenForm="hund" partOfSpeech="n"/>
      <Sense id="mini-hund-1" synset="mini-3"/></LexicalEntry>
    <LexicalEntry id="mini-Tier"><Lemma writtenForm="Tier" partOfSpeech="n"/>
      <Sense id="mini-Tier-1" synset="mini-1"/></LexicalEntry>
    <LexicalEntry id="mini-Rex"><Lemma writtenForm="Rex der Erste" partOfSpeech="n"/>
      <Sense id="mini-Rex-1" synset="mini-4"/></LexicalEntry>
    <LexicalEntry id="mini-gut"><Lemma writtenForm="gut" partOfSpeech="a"/>
      <Sense id="mini-gut-1" synset="mini-5"/></LexicalEntry>
    <Synset id="mini-1" ili="" partOfSpeech="n" members="mini-Tier"><Definition>ein Lebewesen</Definition></Synset>
    <Synset id="mini-2" ili="" partOfSpeech="n" members="mini-Hund"><Definition>ein Haustier</Definition>
      <SynsetRelation relType="hypernym" target="mini-1"/></Synset>
    <Synset id="mini-3" ili="" partOfSpeech="n" members="mini-hund">
      <SynsetRelation relType="hypernym" target="mini-1"/></Synset>
    <Synset id="mini-4" ili="" partOfSpeech="n" members="mini-Rex"><Definition>ein Hund</Definition>
      <SynsetRelation relType="instance_hypernym" target="mini-2"/></Synset>
    <Synset id="mini-5" ili="" partOfSpeech="a" members="mini-gut"><Definition>recht</Definition></Synset>
  </Lexicon>
</LexicalResource>
"""


@pytest.fixture(scope="module")
def lexicons(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The wn library with two versions of the lexicon above in a database of its own."""
    wn = pytest.importorskip("wn")
    folder, before = tmp_path_factory.mktemp("wn"), wn.config.data_directory
    wn.config.data_directory = folder / "data"
    for version in ("1", "2"):
        path = folder / f"mini-{version}.xml"
        path.write_text(LMF.replace('version="1">', f'version="{version}">'), encoding="utf-8")
        wn.add(path, progress_handler=None)
    yield
    wn.config.data_directory = before


@pytest.mark.usefixtures("lexicons")
def test_a_lexicon_of_the_wn_library_is_read() -> None:
    """Words keep their spelling; words that differ in case are senses of one name; no definition is null."""
    wordnet = load("wn:mini:1")
    assert (wordnet.source, wordnet.language) == ("wn:mini:1", "de")
    assert dict(wordnet.synsets.schema) == SYNSET_COLUMNS
    assert wordnet.synsets.select("synset", "pos", "word", "definition").rows() == [
        ("hund.n.01", "noun", "Hund", "ein Haustier"),
        ("hund.n.02", "noun", "hund", None),
        ("rex_der_erste.n.01", "noun", "Rex der Erste", "ein Hund"),
        ("tier.n.01", "noun", "Tier", "ein Lebewesen"),
    ]
    assert links(wordnet) == [
        ("hund.n.01", "tier.n.01", False),
        ("hund.n.02", "tier.n.01", False),
        ("rex_der_erste.n.01", "hund.n.01", True),
    ]
    assert depths(wordnet)["depth"].to_list() == [1, 1, 2, 0]


@pytest.mark.usefixtures("lexicons")
def test_a_lexicon_that_wn_lacks_is_named_with_those_it_has() -> None:
    with pytest.raises(GlossemeError, match=r"wn:oewn:2024: wn has no such lexicon; .*there now: mini:1, mini:2"):
        load("wn:oewn:2024")


@pytest.mark.usefixtures("lexicons")
def test_several_lexicons_at_once_are_refused() -> None:
    with pytest.raises(GlossemeError, match="this names 2 lexicons: mini:1, mini:2"):
        load("wn:mini:*")


def test_without_the_wn_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "wn", None)
    with pytest.raises(GlossemeError, match=r"needs the package wn; pip install 'glosseme\[wn\]'"):
        load("wn:oewn:2024")
