"""``python -m separatrix`` is the command ``separatrix``."""

from separatrix.cli.main import main

main()
