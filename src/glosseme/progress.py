"""How far the work is: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.progress import TaskID

__all__ = ["BarProgress", "LineProgress", "QuietProgress", "progress_for"]


class QuietProgress:
    """Says nothing."""

    def suite(self, folder: Path, notes: Sequence[str]) -> None:
        """Take note of the run that begins."""

    def begin(self, total_tokens: int, total_questions: int) -> None:
        """Take note of the work there is."""

    def advance(self, tokens: int, questions: int) -> None:
        """Take note of work done."""

    def say(self, line: str) -> None:
        """Pass over a sentence."""

    def doing(self, line: str) -> None:
        """Take note of what is going on."""

    def end(self) -> None:
        """Finish."""


class LineProgress(QuietProgress):
    """Writes a line at the beginning, every few seconds, and at the end."""

    def __init__(self, stream: TextIO | None = None, every_s: float = 15.0) -> None:
        self._stream = stream or sys.stderr
        self._every_s = every_s
        self._tokens = self._total = self._questions = self._total_questions = 0
        self._start = self._last = 0.0

    def suite(self, folder: Path, notes: Sequence[str]) -> None:
        """Write which run begins and what is to be known of it."""
        self.end()
        self._write(str(folder))
        for note in notes:
            self.say(note)

    def begin(self, total_tokens: int, total_questions: int) -> None:
        """Write how much there is to do."""
        self._tokens = self._questions = 0
        self._total, self._total_questions = total_tokens, total_questions
        self._start = self._last = time.monotonic()
        if total_tokens:
            self._write(f"  {total_questions:,} requests, {total_tokens:,} tokens to forward")

    def advance(self, tokens: int, questions: int) -> None:
        """Write how far the work is, when some time has passed."""
        self._tokens += tokens
        self._questions += questions
        now = time.monotonic()
        if now - self._last >= self._every_s or self._tokens >= self._total:
            self._last = now
            self._write("  " + self._line(now))

    def doing(self, line: str) -> None:
        """Write what is going on."""
        self._write(line)

    def say(self, line: str) -> None:
        """Write a sentence."""
        self._write(f"  note: {line}")

    def _line(self, now: float) -> str:
        seconds = max(now - self._start, 1e-6)
        rate = self._tokens / seconds
        left = (self._total - self._tokens) / rate if rate else 0.0
        return (
            f"{self._questions:,} of {self._total_questions:,} requests, {self._tokens / max(self._total, 1):.0%},"
            f" {rate:,.0f} tokens/s, {_clock(seconds)} gone, {_clock(left)} left"
        )

    def _write(self, line: str) -> None:
        with suppress(OSError, ValueError):  # a run goes on when nobody listens
            self._stream.write(line + "\n")
            self._stream.flush()


class BarProgress(QuietProgress):
    """Keeps a bar with requests, tokens a second and the time left at the bottom of a terminal."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        self._console = Console(stderr=True, highlight=False)
        self._bar = Progress(
            TextColumn("  "),
            BarColumn(bar_width=24),
            TextColumn("{task.percentage:>3.0f}%  {task.fields[answered]:,} of {task.fields[asked]:,} requests"),
            TextColumn("{task.fields[rate]}"),
            TimeElapsedColumn(),
            TextColumn("gone,"),
            TimeRemainingColumn(compact=True),
            TextColumn("left"),
            console=self._console,
        )
        self._row: TaskID | None = None

    def suite(self, folder: Path, notes: Sequence[str]) -> None:
        """Write which run begins and what is to be known of it."""
        self.end()
        self._console.print(str(folder), markup=False, soft_wrap=True)
        for note in notes:
            self.say(note)

    def begin(self, total_tokens: int, total_questions: int) -> None:
        """Start the bar."""
        self.end()
        if total_tokens:
            self._bar.start()
            self._row = self._bar.add_task("", total=total_tokens, answered=0, asked=total_questions, rate="")

    def advance(self, tokens: int, questions: int) -> None:
        """Move the bar."""
        if self._row is not None:
            task = self._bar.tasks[-1]
            rate = (task.completed + tokens) / max(task.elapsed or 0.0, 1e-6)
            answered = task.fields["answered"] + questions
            self._bar.update(self._row, advance=tokens, answered=answered, rate=f"{rate:,.0f} tokens/s")

    def doing(self, line: str) -> None:
        """Write what is going on."""
        self._console.print(line, markup=False, soft_wrap=True)

    def say(self, line: str) -> None:
        """Write a sentence above the bar."""
        self._console.print(f"  note: {line}", markup=False, soft_wrap=True)

    def end(self) -> None:
        """Leave the bar where it is."""
        if self._row is not None:
            self._bar.stop()
            self._bar.remove_task(self._row)
            self._row = None


def _clock(seconds: float) -> str:
    """Return minutes and seconds, or hours and minutes.

    >>> _clock(75), _clock(3700)
    ('1:15', '1 h 01')
    """
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60} h {minutes % 60:02d}" if minutes >= 60 else f"{minutes}:{rest:02d}"


def progress_for(stream: TextIO | None = None, *, quiet: bool = False) -> QuietProgress:
    """Return what suits a stream: a bar on a terminal, lines elsewhere, nothing when quiet."""
    stream = stream or sys.stderr
    if quiet or stream is None:  # Python has no stderr when it was closed before the start
        return QuietProgress()
    return BarProgress() if stream.isatty() else LineProgress(stream)
