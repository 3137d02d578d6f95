"""``separatrix compare``: learners on the same folds of a table."""

from __future__ import annotations

import warnings
from typing import Any

import click

from separatrix.cli import output, tables
from separatrix.cli.completion import LEARNER, SOURCE
from separatrix.cli.progress import Progress
from separatrix.errors import ParameterError
from separatrix.printable import printable


@click.command()
@click.argument("source", type=SOURCE)
@click.option(
    "--learner",
    "-l",
    "learners",
    type=LEARNER,
    multiple=True,
    required=True,
    help="A learner; repeat for each (fit --help lists them).",
)
@click.option("--folds", type=click.IntRange(2), default=5, show_default=True, help="Number of folds.")
@click.option(
    "--repeats", type=click.IntRange(1), default=2, show_default=True, help="Number of times the folds are drawn."
)
@click.option("--metric", help="What is compared (accuracy, or mse for regressions).")
@tables.reading_options
@tables.column_options
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the folds.")
@output.output_options
def command(source: str, learners: tuple[str, ...], **options: Any) -> None:
    """Compare learners on SOURCE: the same folds for all, encoders fitted inside each fold."""
    from separatrix.evaluation.comparison import compare

    made = {name: tables.learner_of(name, [], options["seed"]) for name in learners}
    if len(made) < len(learners):
        raise ParameterError(
            f"{next(n for n in learners if learners.count(n) > 1)} is named twice: name each learner once."
        )
    kinds = {learner._estimator_type for learner in made.values()}
    if len(kinds) > 1:
        raise ParameterError("the learners mix classifiers and regressions: compare them separately.")
    regression = kinds == {"regressor"}
    opened = tables.open_table(source, options)
    task = tables.task_of(opened, options["target"], options["positive"], regression)
    entrants = {name: tables.in_folds(task, learner, tables.choices_of(options)) for name, learner in made.items()}
    X = next(iter(entrants.values()))[1]
    ran: list[int] = []

    def tell(done: int, total: int) -> None:  # of one learner after the other
        ran.append(done)
        progress.at(lambda: len(ran) / (total * len(made)), f"fold {len(ran)} of {total * len(made)}")

    with warnings.catch_warnings(), Progress("folds", options["quiet"] or options["json_"]) as progress:
        warnings.simplefilter("ignore")
        found = compare(
            {name: entrant for name, (entrant, _) in entrants.items()},
            X,
            task.y,
            metric=options["metric"],
            folds=options["folds"],
            repeats=options["repeats"],
            positive=task.positive,
            progress=tell,
            random_state=options["seed"],
        )
    if options["json_"]:
        from separatrix.cli.reports import ComparisonReport

        output.say_json(ComparisonReport(**found.to_dict(), source=opened.name, target=task.target))
        return
    head = printable(f"{opened.name}   {len(task.y):,} rows · {tables.counts_of(task)}")
    output.say([head] * (not options["quiet"]) + [str(found)])
