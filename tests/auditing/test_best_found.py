"""The best hyperplane found is the best of all that were found, and its bounds are those of the certificate."""

from __future__ import annotations

import numpy as np

import separatrix
from separatrix.proofs.fewest_mistakes.bracket import bracket
from separatrix.proofs.separability.verdict import given_data


def test_the_search_starts_from_the_best_of_all_fitted_learners(ledger):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 30))
    astray = rng.random(len(X)) < 0.08
    X[astray, 0] *= -3 * rng.exponential(size=astray.sum())
    positive = X[:, 0] + 0.1 * X[:, 1] > 1
    far = X[:, 0] < -1.5
    positive[far] = rng.random(far.sum()) < 0.5
    found = separatrix.audit(X, np.where(positive, "rare", "common"), budget=6, ledger=ledger)
    made = {name: found.facts.algorithm.training_mistakes[name] for name in found.facts.algorithm.linear}
    mistakes = found.facts.best.mistakes
    assert mistakes.packed  # too large to be searched as a whole
    assert min(made, key=made.get) == "averaged perceptron"
    assert mistakes.lower <= mistakes.upper <= min(made.values())
    assert "the best found, in" in " ".join(found.answers["algorithm"].lines)


def test_rows_on_the_hyperplane_of_a_learner_are_counted_as_it_predicts_them(ledger):
    """Scores of whole numbers are often zero; a small shift of the intercept puts these rows on the predicted side."""
    rng = np.random.default_rng(2)
    X = rng.integers(-1, 2, size=(300, 3)).astype(float)
    y = np.where(X.sum(axis=1) + rng.integers(-1, 2, 300) > 0, "yes", "no")
    found = separatrix.audit({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y}, "y", budget=10, ledger=ledger)
    made = found.facts.algorithm.training_mistakes
    assert all(found.facts.best.mistakes.upper <= made[name] < 150 for name in found.facts.algorithm.linear)


def test_a_hyperplane_that_is_known_is_not_lost():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] > 0, 1, 0)
    y[:20] = rng.integers(0, 2, 20)
    given = given_data(X, y, None, True, "binary64")
    known = np.array([1.0, 0.0, 0.0])
    wrong = int(np.count_nonzero((X[:, 0] > 0) != (y == 1)))
    found = bracket(given, [1], [0], max_nodes=0, time_limit=0, known=known)
    assert found.lower <= found.upper <= wrong


def test_what_was_searched_for_uniqueness_is_said(ledger):
    said = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        x = np.concatenate([rng.normal(-1.2, 1, 25), rng.normal(1.2, 1, 25)])
        table = {"x": x, "z": rng.normal(size=50), "y": np.repeat(["a", "b"], 25)}
        found = separatrix.audit(table, "y", budget=10, ledger=ledger)
        mistakes, text = found.facts.best.mistakes, " ".join(found.answers["best"].lines)
        assert mistakes.exact
        said.append("It is not unique" in text)
        assert said[-1] == (mistakes.labelings > 1)
        assert ("No set that differs from it in one row does as well (proved)" in text) == (
            mistakes.labelings == 1 and not mistakes.unique and mistakes.swapped
        )
    assert True in said
    assert False in said
