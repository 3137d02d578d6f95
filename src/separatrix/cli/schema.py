"""``separatrix schema``: the JSON schemas of what commands print with ``--json``."""

from __future__ import annotations

import json
from importlib.resources import files

import click

from separatrix.cli import output
from separatrix.errors import ParameterError


def schemas() -> dict[str, str]:
    """The text of each schema, by the name of its command."""
    folder = files("separatrix.cli") / "schemas"
    found = {entry.name.removesuffix(".json"): entry for entry in folder.iterdir() if entry.name.endswith(".json")}
    return {name: entry.read_text(encoding="utf-8") for name, entry in sorted(found.items())}


@click.command()
@click.argument("name", metavar="[COMMAND]", required=False)
@output.output_options
def command(name: str | None, json_: bool, quiet: bool) -> None:
    """Print the JSON schema of the --json output of COMMAND, or list the commands that have one."""
    known = schemas()
    if name is None and json_:
        output.say_json([{"command": own, "id": json.loads(text)["$id"]} for own, text in known.items()])
        return
    if name is None:
        output.say(known)
        return
    if name not in known:
        raise ParameterError(f"there is no schema for {name!r}; there are {', '.join(known)}.")
    if json_:
        output.say_json(json.loads(known[name]))
    else:
        click.echo(known[name].rstrip("\n"))
