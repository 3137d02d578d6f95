"""``separatrix examples``: the built-in sets."""

from __future__ import annotations

import click

from separatrix.cli import output as saying


@click.command()
@saying.saying_options
def command(json_: bool, quiet: bool) -> None:
    """List the sets that come with the package; each is a SOURCE by the name example:NAME."""
    from separatrix.data.examples import listing

    report = listing()
    if json_:
        click.echo(saying.as_json(report))
        return
    for entry in report:
        if quiet:
            click.echo(f"example:{entry['name']}")
            continue
        size = f"{entry['rows']:,} × {entry['features']}"
        click.echo(f"example:{entry['name']:<14} {size:>10}   {entry['shows']}")
