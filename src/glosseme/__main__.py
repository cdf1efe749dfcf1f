"""`python -m glosseme`."""

from __future__ import annotations

import sys

from glosseme.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    sys.exit(main())
