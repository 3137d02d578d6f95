"""``separatrix examples``: the built-in sets."""

from __future__ import annotations

import click

from separatrix.cli import output


@click.command()
@output.output_options
def command(json_: bool, quiet: bool) -> None:
    """List the built-in data sets; example:NAME names one as a SOURCE."""
    from separatrix.data.examples import listing

    report = listing()
    if json_:
        output.say_json(report)
        return
    for entry in report:
        if quiet:
            output.say([f"example:{entry['name']}"])
            continue
        size = f"{entry['rows']:,} × {entry['features']}"
        output.say([f"example:{entry['name']:<14} {size:>10}"])
        output.say([f"  {entry['shows']}"])
