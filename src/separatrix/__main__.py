"""The command ``separatrix``, also as ``python -m separatrix``: interrupted while it is imported, it ends quietly."""

from __future__ import annotations

import sys
from typing import Any

from separatrix.errors import NO_MEMORY


def main() -> Any:
    """Run the command with the words of the command line."""
    try:
        from separatrix.cli.main import main as run
    except KeyboardInterrupt:
        sys.exit(130)
    except (MemoryError, ImportError) as error:
        if isinstance(error, ImportError) and "failed to map segment" not in str(error):
            raise
        sys.stderr.write(f"error: {NO_MEMORY}\n")
        sys.exit(2)
    return run()


if __name__ == "__main__":
    main()
