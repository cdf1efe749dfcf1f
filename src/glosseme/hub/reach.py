"""Whether the model hub answers at all, asked once and soon known, and its client kept quiet."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Final

__all__ = ["hub_answers", "no_retry_lines"]

_TIMEOUT: Final = 5.0
"""Seconds for a connection and again for an answer."""
_DEADLINE: Final = 8.0
"""Seconds for everything, with the look-up of the name and all addresses that it has."""
_KEPT: Final = 60.0
"""Seconds that an answer is believed, so that a machine without a connection asks once a run."""

_known: dict[str, tuple[float, bool]] = {}


def hub_answers() -> bool:
    """Return whether the hub's address answers within a few seconds, whatever it says.

    The hub's own client tries each file again and again, which takes minutes without a connection. It is asked
    through the same client, so that proxies and certificates count.
    """
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return False
    endpoint = constants.ENDPOINT
    asked, answered = _known.get(endpoint, (0.0, False))
    if not asked or time.monotonic() - asked > _KEPT:
        answered = _ask(endpoint)
        _known[endpoint] = time.monotonic(), answered
    return answered


def _ask(endpoint: str) -> bool:
    answers: list[int] = []
    # In a thread, since no timeout covers the look-up of a name.
    thread = Thread(target=_head, args=(endpoint, answers), daemon=True)
    thread.start()
    thread.join(_DEADLINE)
    return bool(answers)


def _head(endpoint: str, answers: list[int]) -> None:
    from huggingface_hub.utils import get_session  # type: ignore[attr-defined]

    try:
        answers.append(get_session().head(endpoint, timeout=_TIMEOUT).status_code)
    except Exception:  # of whatever library the client uses: there was no answer
        return


@contextmanager
def no_retry_lines() -> Iterator[None]:
    """Keep what the hub's client logs below an error, such as each of its retries, off the screen for a while."""
    from huggingface_hub.utils.logging import get_verbosity, set_verbosity

    before = get_verbosity()
    set_verbosity(max(before, logging.ERROR))
    try:
        yield
    finally:
        set_verbosity(before)
