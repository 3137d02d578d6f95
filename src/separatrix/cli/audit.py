"""``separatrix audit``: a table in, an account of what can be learned from it out."""

from __future__ import annotations

import math

import click
import numpy as np

from separatrix.data.examples import Example, load_example
from separatrix.errors import DataError
from separatrix.learners.perceptron import Perceptron
from separatrix.maths.stopping import Status
from separatrix.maths.trace import Proof, Replay, Trace

LIMIT = 1000  # passes
SHOWN = 12  # updates


@click.command()
@click.argument("source")
def command(source: str) -> None:
    """Learn the perceptron on SOURCE (example:NAME) and hold its mistakes against the bound.

    Prints each update of the run and, where a best hyperplane of the set is known, the mistake bound
    (R/g)^2 with R the length of the longest lifted row and g the lifted margin.
    """
    kind, _, name = source.partition(":")
    if kind != "example":
        raise DataError(f"SOURCE is {source!r}: audit reads example:NAME so far; try example:six-points.")
    example = load_example(name)
    model = Perceptron(trace=True, max_epochs=LIMIT).fit(example.X, example.y)
    assert isinstance(model.trace_, Trace)
    replay = model.trace_.replay(example.X, example.y)
    proof = None if example.separator is None else replay.proof(*example.separator)
    for line in (*_opening(example), *_updates(replay, example), *_verdict(model, proof)):
        click.echo(line)


def _opening(example: Example) -> list[str]:
    counts = ", ".join(f"{label}: {np.count_nonzero(example.y == label)}" for label in np.unique(example.y))
    n, d = example.X.shape
    return [
        f"example:{example.name}   {n} rows · {d} feature{'s' * (d > 1)} · {example.target} {counts}",
        example.shows,
        "",
    ]


def _updates(replay: Replay, example: Example) -> list[str]:
    lines = [
        f"{'update':>6} {'row':>4} {'label':>6}   {'y·s before → after':<20} weights ({', '.join(example.names)}), bias"
    ]
    before, after = replay.margins
    for k, (row, w) in enumerate(zip(replay.trace.rows[:SHOWN].tolist(), replay.weights[1:], strict=False)):
        weights = ", ".join(f"{v:g}" for v in w[:-1])
        lines.append(
            f"{k + 1:>6} {row:>4} {example.y[row]!s:>6}   {f'{before[k]:g} → {after[k]:g}':<20} ({weights}), {w[-1]:g}"
        )
    if len(replay) > SHOWN:
        lines.append(f"   ... {len(replay) - SHOWN:,} more updates")
    return [*lines, ""]


def _verdict(model: Perceptron, proof: Proof | None) -> list[str]:
    passes = f"{model.n_iter_:,} pass{'es' * (model.n_iter_ > 1)}"
    if model.status_ is not Status.CONVERGED:
        return [f"not separated after {model.mistakes_:,} mistakes in {passes}: {model.status_.value}."]
    lines = [f"separated after {model.mistakes_:,} mistakes in {passes}; the last pass had none."]
    if proof is not None:
        radius2, gamma = proof.radius2, proof.gamma / float(np.linalg.norm(proof.star))
        lines.append(
            f"At most {math.floor(proof.bound + 1e-9):,} were possible, in any order: "
            f"R² = {radius2:g}, lifted margin γ = {gamma:g}, (R/γ)² = {proof.bound:g}."
        )
    return lines
