"""The learners that the lab fits: how each is made, and the same in Python for the reader."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, get_args

import separatrix
from separatrix.lab.scene import LearnerName, SceneChoices

SECONDS = 2.0  # for the fewest mistakes
SEEDED = {"random_state": 0}
MADE: dict[str, tuple[str, str, dict[str, Any]]] = {  # title, class, parameters
    "perceptron": ("Perceptron", "Perceptron", {}),
    "averaged": ("Averaged perceptron", "AveragedPerceptron", SEEDED),
    "pocket": ("Pocket perceptron", "PocketPerceptron", SEEDED),
    "margin-perceptron": ("Margin perceptron", "MarginPerceptron", SEEDED),
    "passive-aggressive": ("Passive-aggressive", "PassiveAggressive", SEEDED),
    "arow": ("AROW", "AROW", SEEDED),
    "lda": ("LDA", "LinearDiscriminant", {}),
    "least-squares": ("Least squares", "LeastSquaresClassifier", {}),
    "logistic": ("Logistic", "LogisticRegression", {}),
    "ridge-logistic": ("Logistic, ridge C = 1", "LogisticRegression", {"C": 1.0}),
    "max-margin": ("Maximum margin", "MaxMargin", {}),
    "soft-margin": ("Soft margin, C = 1", "MaxMargin", {"C": 1.0}),
    "fewest-mistakes": ("Fewest mistakes", "FewestMistakes", {"time_limit": SECONDS}),
}
PROBABILITIES = ("lda", "logistic", "ridge-logistic")  # whose score is the log of the odds
assert set(MADE) == set(get_args(LearnerName))


def made_learner(name: str, choices: SceneChoices) -> Any:
    """An unfitted learner; the perceptron with its choices."""
    _, kind, parameters = MADE[name]
    own = asdict(choices) if name == "perceptron" else parameters
    return getattr(separatrix, kind)(**own)


def learner_titles() -> list[dict[str, Any]]:
    """What the page offers: name, title, class and parameters of each learner."""
    return [
        {"name": name, "title": title, "kind": kind, "parameters": parameters, "probability": name in PROBABILITIES}
        for name, (title, kind, parameters) in MADE.items()
    ]
