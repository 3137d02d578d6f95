"""``separatrix compare``: learners on the same folds of a table."""

from __future__ import annotations

import warnings
from typing import Any

import click

from separatrix.cli import tables
from separatrix.cli.completion import LEARNER, SOURCE


@click.command()
@click.argument("source", type=SOURCE)
@click.option(
    "--learner", "-l", "learners", type=LEARNER, multiple=True, required=True, help="A learner; repeat for each."
)
@click.option("--folds", type=click.IntRange(2), default=5, show_default=True, help="Folds of each deal.")
@click.option("--repeats", type=click.IntRange(1), default=2, show_default=True, help="How often rows are dealt anew.")
@click.option("--metric", help="What is compared (accuracy, or mse for regressions).")
@tables.reading_options
@tables.column_options
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the folds.")
@click.option("--json", "json_", is_flag=True, help="Say it as JSON.")
def command(source: str, learners: tuple[str, ...], **options: Any) -> None:
    """Compare learners on SOURCE: the same folds for all, encoders fitted inside each fold."""
    from separatrix.evaluation.comparison import compare

    made = {name: tables.learner_of(name, [], options["seed"]) for name in learners}
    regression = all(learner._estimator_type == "regressor" for learner in made.values())
    opened = tables.open_table(source, options["na"], options["header"], options["text"])
    task = tables.task_of(opened, options["target"], options["positive"], regression)
    entrants = {name: tables.in_folds(task, learner, tables.choices_of(options)) for name, learner in made.items()}
    X = next(iter(entrants.values()))[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = compare(
            {name: entrant for name, (entrant, _) in entrants.items()},
            X,
            task.y,
            metric=options["metric"],
            folds=options["folds"],
            repeats=options["repeats"],
            positive=task.positive,
            random_state=options["seed"],
        )
    if options["json_"]:
        click.echo(tables.as_json({**found.to_dict(), "source": opened.name, "target": task.target}))
        return
    tables.say([f"{opened.name}   {len(task.y):,} rows · {tables.counts_of(task)}", *str(found).splitlines()])
