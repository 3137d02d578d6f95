"""Whether the defaults of online learners reach what the same learners reach with the best number of passes.

Random holdouts of 30% of the rows, stratified, of four public tables, as they are and standardised. For each learner
the mean accuracy of its defaults, and of the best of several numbers of passes chosen with hindsight on the same
holdouts. The standard error is the corrected one of Nadeau & Bengio (2003): holdouts share their rows, so that the
variance of their mean is (1/k + test/train) times the variance between them. "below" marks defaults that stay more
than a standard error below, and "warns" fits that said what to do.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

import separatrix as sx
from benchmarks.measure import print_table

TABLES = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer, "digits": load_digits}
LEARNERS = {
    "averaged": sx.AveragedPerceptron,
    "voted": sx.VotedPerceptron,
    "margin": sx.MarginPerceptron,
    "passive-aggressive": sx.PassiveAggressive,
    "AROW": sx.AROW,
    "pocket": sx.PocketPerceptron,
}
PASSES = (3, 10, 30, 100, 300, 1000)
SHARE = 0.3


def holdouts(name, scaled, count):
    """Training and test rows of each holdout."""
    X, y = TABLES[name](return_X_y=True)
    for train, test in StratifiedShuffleSplit(count, test_size=SHARE, random_state=0).split(X, y):
        scale = StandardScaler().fit(X[train]).transform if scaled else np.asarray
        yield scale(X[train]), y[train], scale(X[test]), y[test]


def measured(learner, name, scaled, count=24):
    """Accuracies of the defaults and of the best number of passes, its standard error, and the fits that warned."""
    own, by_passes, warned, passes = [], {k: [] for k in PASSES}, 0, []
    for X, y, X_test, y_test in holdouts(name, scaled, count):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = learner().fit(X, y)
        warned += bool(caught)
        own.append(model.score(X_test, y_test))
        passes.append(model.n_iter_)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for k in PASSES:
                by_passes[k].append(learner(max_iter=k).fit(X, y).score(X_test, y_test))
    best = max(PASSES, key=lambda k: np.mean(by_passes[k]))
    error = np.std(by_passes[best], ddof=1) * np.sqrt(1 / count + SHARE / (1 - SHARE))
    return {
        "own": float(np.mean(own)),
        "passes": float(np.mean(passes)),
        "best": float(np.mean(by_passes[best])),
        "best_passes": best,
        "error": float(error),
        "warned": warned / count,
    }


def main(count=24):
    rows = []
    for name in TABLES:
        for scaled in (False, True):
            for called, learner in LEARNERS.items():
                got = measured(learner, name, scaled, count)
                short = got["own"] < got["best"] - got["error"]
                rows.append(
                    [
                        f"{name}, {'standardised' if scaled else 'as it is'}",
                        called,
                        f"{got['own']:.3f} ({got['passes']:.0f})",
                        f"{got['best']:.3f} ({got['best_passes']})",
                        f"{got['error']:.3f}",
                        f"{'below' if short else ''}{' warns' if got['warned'] > 0.5 else ''}".strip(),
                    ]
                )
    print_table(["table", "learner", "defaults (passes)", "best (passes)", "standard error", ""], rows)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
