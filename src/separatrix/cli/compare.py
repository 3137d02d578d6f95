"""``separatrix compare``: learners on the same folds of a table."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import click
from click.core import ParameterSource

from separatrix.cli import output, table_options
from separatrix.cli.completion import LEARNER, SOURCE
from separatrix.cli.output import Progress
from separatrix.errors import ParameterError
from separatrix.printable import printable

WIDEST = 1000  # columns up to which the discriminant is compared by default


@click.command()
@click.argument("source", type=SOURCE)
@click.option(
    "--learner",
    "-l",
    "learners",
    type=LEARNER,
    multiple=True,
    help="A learner; repeat for each (fit --help lists them). Default: those that suit the target.",
)
@click.option("--folds", type=click.IntRange(2), default=5, show_default=True, help="Number of folds.")
@click.option(
    "--repeats", type=click.IntRange(1), default=2, show_default=True, help="Number of times the folds are drawn."
)
@click.option("--metric", help="Metric to compare (default: accuracy, or mse for regression).")
@table_options.reading_options
@table_options.task_option
@table_options.column_options
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the folds.")
@output.output_options
@click.pass_context
def command(context: click.Context, /, source: str, learners: tuple[str, ...], **options: Any) -> None:
    """Compare learners on SOURCE: the same folds for all, encoders fitted inside each fold."""
    from separatrix.data.frame import Frame
    from separatrix.data.tasks import counts_of, task_of
    from separatrix.evaluation.comparison import compare

    made = _named(learners, options["seed"])
    opened = table_options.open_table(source, options)
    regression = table_options.regression_of(options, made.values())
    task = task_of(opened, options["target"], options["positive"], regression)
    choices = table_options.choices_of(options)
    if isinstance(task.table, Frame) and context.get_parameter_source("scale") is ParameterSource.DEFAULT:
        choices = replace(choices, scale="standard")  # for all alike: many learners depend on the scale of the columns
        task.guesses.append("standardised columns")
    if not made:
        for line in _suitable(task, choices):
            name, *flags = line.split()
            made[line] = table_options.learner_of(name, flags, options["seed"])
    task.guesses.extend(table_options.counters_left_out(task, choices))
    entrants = {name: table_options.in_folds(task, learner, choices) for name, learner in made.items()}
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
        from separatrix.cli.json_reports import ComparisonReport

        output.say_json(ComparisonReport(**found.to_dict(), source=opened.name, target=task.target))
        return
    head = [printable(f"{opened.name}   {len(task.y):,} rows · {counts_of(task)}")]
    head += [printable("guessed: " + " · ".join(task.guesses))] if task.guesses else []
    output.say(head * (not options["quiet"]) + [str(found)])


def _named(learners: tuple[str, ...], seed: int) -> dict[str, Any]:
    """The learners that were named, all of one kind."""
    made = {name: table_options.learner_of(name, [], seed) for name in learners}
    if len(made) < len(learners):
        raise ParameterError(
            f"{next(n for n in learners if learners.count(n) > 1)} is named twice: name each learner once."
        )
    if len({learner._estimator_type for learner in made.values()}) > 1:
        raise ParameterError("the learners mix classifiers and regressions: compare them separately.")
    return made


def _suitable(task: table_options.Task, choices: Any) -> list[str]:
    """Learners for the target: as fit and audit would choose, and their usual rivals."""
    from separatrix.data.frame import Frame
    from separatrix.features.encoder import Encoder

    if task.regression:
        return ["least-squares --alpha 1", "least-squares"]
    table = task.table
    width = Encoder.fitted(table, choices).encoded_width if isinstance(table, Frame) else table.X.shape[1]
    discriminant = ["linear-discriminant"] if width <= WIDEST else []
    return ["logistic-regression --C 1", *discriminant, "averaged-perceptron"]
