"""The job of static embeddings: each different text is embedded once, each request is a cosine."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from glosseme.designs import SCORE_COLUMNS
from glosseme.measures import REQUEST_COLUMNS
from glosseme.models import StaticModel
from glosseme.models.static import NO_VECTOR, Embedded
from glosseme.runs.job import Answers, Job
from glosseme.scoring.execute import Effort, Progress

__all__ = ["SimilarityJob", "similarities"]


@dataclass
class SimilarityJob(Job[StaticModel]):
    """Static embeddings on a suite; nothing is stored, because it is done in a moment."""

    def _ready(self) -> None:
        """Do nothing: texts are embedded as they are."""

    def _answer(self, progress: Progress) -> Answers:
        texts = pl.concat([self.requests["context"], self.requests["text"]]).unique(maintain_order=True)
        embedded = self._timed("embed", lambda: self.model.embed(texts.to_list()))
        scores = self._timed("score", lambda: similarities(self.requests, texts, embedded, self.asked.suite.name))
        lacking = int((~embedded.has_vector).sum())
        if lacking:
            note = f"{lacking:,} of {len(texts):,} texts have no word with a vector; their similarity is {NO_VECTOR:g}"
            self.notes.append(note)
            progress.say(note)
        counts = {"texts": len(texts), "texts_without_vector": lacking}
        return Answers(scores, counts, Effort(way="similarity", questions=self.requests.height))


def similarities(requests: pl.DataFrame, texts: pl.Series, embedded: Embedded, suite: str) -> pl.DataFrame:
    """Return the scores of similarity requests, whose texts and contexts are among `texts`, which are embedded.

    `value` is the cosine of text and context, `n_tokens` how many tokens of the text have a vector; there is no
    `logprob`.
    """
    numbered = pl.DataFrame({"__text": texts}).with_row_index("__number")

    def numbers(column: str) -> pl.Series:
        joined = requests.select(column).join(
            numbered, left_on=column, right_on="__text", how="left", maintain_order="left"
        )
        return joined["__number"]

    one, other = numbers("context").to_numpy(), numbers("text").to_numpy()
    factors = [name for name in requests.columns if name not in REQUEST_COLUMNS]
    return requests.with_columns(
        suite=pl.lit(suite),
        logprob=pl.lit(None, pl.Float64),
        value=pl.Series(embedded.cosines(one, other)),
        n_tokens=pl.Series(embedded.n_known[other]),
        spanning=pl.lit(value=False),
        mismatch=pl.lit(value=False),
    ).select(*SCORE_COLUMNS, *factors)
