"""``separatrix schema``: the JSON schemas of what commands say with ``--json``."""

from __future__ import annotations

from importlib.resources import files

import click

from separatrix.errors import ParameterError


def schemas() -> dict[str, str]:
    """The text of each schema, by the name of its command."""
    folder = files("separatrix.cli") / "schemas"
    found = {entry.name.removesuffix(".json"): entry for entry in folder.iterdir() if entry.name.endswith(".json")}
    return {name: entry.read_text(encoding="utf-8") for name, entry in sorted(found.items())}


@click.command()
@click.argument("name", metavar="[COMMAND]", required=False)
def command(name: str | None) -> None:
    """Print the JSON schema of what COMMAND says with --json, or list the commands that have one."""
    known = schemas()
    if name is None:
        click.echo("\n".join(known))
        return
    if name not in known:
        raise ParameterError(f"there is no schema for {name!r}; there are {', '.join(known)}.")
    click.echo(known[name], nl=False)
