"""The command line: one thin function a command, and one place where errors become exit codes."""

from __future__ import annotations

from glosseme.cli.main import main

__all__ = ["main"]
