"""The command ``separatrix``, also as ``python -m separatrix``: interrupted while it is imported, it ends quietly."""

from __future__ import annotations

import sys
from typing import Any


def main() -> Any:
    """Run the command with the words of the command line."""
    try:
        from separatrix.cli.main import main as run
    except KeyboardInterrupt:
        sys.exit(130)
    return run()


if __name__ == "__main__":
    main()
