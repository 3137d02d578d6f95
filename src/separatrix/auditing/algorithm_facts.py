"""Question 3: what finding a hyperplane takes, beside the perceptron and a lazy method."""

from __future__ import annotations

from dataclasses import dataclass

from separatrix.auditing.hyperplane_facts import ProvedBracket
from separatrix.auditing.prediction_facts import EstimateFacts


@dataclass(frozen=True, slots=True)
class NovikoffBound:
    """(R/γ)²: the radius, the lifted margin between two proved bounds, and the bound on mistakes."""

    radius: float
    margin: ProvedBracket
    mistakes: float


@dataclass(frozen=True, slots=True)
class PerceptronRun:
    """A perceptron from zero in the order of the rows; ``curve`` has mistakes so far after some of the passes."""

    mistakes: int
    passes: int
    converged: bool
    errors: int
    curve_passes: list[int]
    curve_mistakes: list[int]
    bound: NovikoffBound | None


@dataclass(frozen=True, slots=True)
class NeighbourFacts:
    """What one nearest neighbour keeps and costs beside a linear model, and how well it predicts."""

    numbers_kept: int
    linear_numbers: int
    multiplications: int
    linear_multiplications: int
    seconds: float
    linear_seconds: float
    rows: int
    metric: str
    estimate: EstimateFacts | None
    linear_estimate: EstimateFacts | None


@dataclass(frozen=True, slots=True)
class AlgorithmFacts:
    """Question 3: seconds and training mistakes of each learner on all rows, the perceptron's run, a lazy method.

    ``linear`` names the learners that are linear in the columns of the table.
    """

    seconds: dict[str, float]
    training_mistakes: dict[str, int]
    linear: list[str]
    perceptron: PerceptronRun | None
    perceptron_standardised: PerceptronRun | None
    neighbour: NeighbourFacts | None
