"""From arguments to an exit code: 0 done, 1 the work failed, 2 the request was wrong."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

__all__ = ["main"]

DONE, WORK_FAILED, WRONG_REQUEST = 0, 1, 2
_INTERRUPTED = 130  # what typer makes of Ctrl-C
_STOPPED = "stopped; the same command goes on where it stopped"


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; no traceback reaches the user unless `--debug` is among `argv`."""
    try:
        return _run(argv)
    except KeyboardInterrupt:  # while modules were being imported
        return _say(_STOPPED, WORK_FAILED)


def _run(argv: Sequence[str] | None) -> int:
    import typer
    from typer.main import get_command

    from glosseme.cli import experiments  # noqa: F401  # puts its commands beside the others
    from glosseme.cli.commands import app
    from glosseme.errors import GlossemeError

    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in arguments
    arguments = [a for a in arguments if a != "--debug"]
    try:
        code = get_command(app).main(args=arguments, prog_name="glosseme", standalone_mode=False)
    except GlossemeError as error:
        if debug:
            raise
        return _say(str(error), error.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        return _say(_STOPPED, WORK_FAILED)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output is gone: nothing is left to say, and no noise at exit
        return DONE
    except Exception as error:
        if hasattr(error, "format_message"):  # click's, which typer brings under a private name
            return _say(_usage(error), WRONG_REQUEST)
        if debug:
            raise
        return _say(_unexpected(error), WORK_FAILED)
    if code == _INTERRUPTED:
        return _say(_STOPPED, WORK_FAILED)
    return code if isinstance(code, int) else DONE


def _unexpected(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is None:
        return f"the output can't be written ({error.strerror or error})"
    what = str(error).strip().splitlines()[0] if str(error).strip() else ""
    return f"unexpected {type(error).__name__}: {what}; --debug shows where"


def _usage(error: Any) -> str:
    context = getattr(error, "ctx", None)
    hint = f"; `{context.command_path} --help` lists what there is" if context is not None else ""
    return f"{error.format_message().rstrip('.')}{hint}"


def _say(line: str, code: int) -> int:
    with suppress(OSError, ValueError, AttributeError):  # nobody may be listening
        sys.stderr.write(f"glosseme: {line}\n")
    return code
