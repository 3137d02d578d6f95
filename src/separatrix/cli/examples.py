"""``separatrix examples``: the built-in sets."""

from __future__ import annotations

import click

from separatrix.cli import tables


@click.command()
@click.option("--json", "json_", is_flag=True, help="Say it as JSON.")
def command(json_: bool) -> None:
    """List the sets that come with the package; each is a SOURCE by the name example:NAME."""
    from separatrix.data.examples import listing

    report = listing()
    if json_:
        click.echo(tables.as_json(report))
        return
    for entry in report:
        size = f"{entry['rows']:,} × {entry['features']}"
        click.echo(f"example:{entry['name']:<14} {size:>10}   {entry['shows']}")
