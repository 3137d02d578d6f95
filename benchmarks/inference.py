"""What follows a logistic fit, and Firth's fit against firthmodels: CPU seconds, the contenders taking turns.

``python -m benchmarks inference``; spambase and the breast cancer data are read from SEPARATRIX_DATA.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np

import separatrix as sx
from benchmarks.measure import interleaved, print_table
from separatrix.models.logistic.firth import FEW, FirthEstimate, firth, newton_path
from separatrix.models.logistic.firth_likelihood import logdet_of
from separatrix.models.logistic.problem import LogisticProblem


def table(name):
    import pandas as pd

    frame = pd.read_csv(Path(os.environ["SEPARATRIX_DATA"]) / f"{name}.csv")
    X, last = frame.iloc[:, :-1].to_numpy(np.float64), frame.iloc[:, -1]
    return np.ascontiguousarray(X), (last == sorted(last.unique())[-1]).to_numpy().astype(int)


def fitted(X, y):
    return sx.LogisticRegression(bias_reduction="firth").fit(X, y)


def first_maximum(X, y):
    """The penalised likelihood where the first search ends."""
    search = FirthEstimate(LogisticProblem.of(X, y.astype(np.intp), 2), 1000)
    start = newton_path(search.rough, [search.rough.loss], FEW)[-1]
    place = firth(search.rough, 1000, start, None, search.placed, weighed=True).state.point.b
    point = search.likelihood.at(place)
    return point.penalised + logdet_of(search.R, 2)


def against_firthmodels():
    from firthmodels import FirthLogisticRegression

    rows = []
    for name in ("breast_cancer", "spambase"):
        X, y = table(name)
        ours, theirs = fitted(X, y), FirthLogisticRegression(max_iter=1000).fit(X, y)
        times = interleaved(
            {
                "ours": lambda X=X, y=y: fitted(X, y),
                "first": lambda X=X, y=y: first_maximum(X, y),
                "theirs": lambda X=X, y=y: FirthLogisticRegression(max_iter=1000).fit(X, y),
                "theirs, 25 steps": lambda X=X, y=y: FirthLogisticRegression().fit(X, y),
            },
            9,
            time.process_time,
        )
        rows += [
            [name, "ours, all searches", f"{ours.maxima_[0]:.4f}", f"{times['ours']:.3f}"],
            [name, "ours, the first search", f"{first_maximum(X, y):.4f}", f"{times['first']:.3f}"],
            [name, "firthmodels, converged", f"{theirs.loglik_:.4f}", f"{times['theirs']:.3f}"],
            [name, "firthmodels, default", "", f"{times['theirs, 25 steps']:.3f}"],
        ]
    print_table(["data", "fit", "penalised log-likelihood", "CPU s"], rows)


def summaries():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 20))
    y = (X @ rng.normal(size=20) / 4 + rng.logistic(size=len(X)) > 0).astype(int)
    model = sx.LogisticRegression(C=np.inf).fit(X, y)
    times = interleaved(
        {"fit": lambda: sx.LogisticRegression(C=np.inf).fit(X, y), "summary": lambda: model.summary()},
        5,
        time.process_time,
    )
    print(f"\nWald summary at 100,000 x 20: {times['summary'] / times['fit']:.2f} fits ({times['fit']:.2f} s a fit).")
    X, y = table("breast_cancer")
    cancer = fitted(X, y)
    begin = time.process_time()
    cancer.summary(intervals="profile")
    print(f"Profiles of the breast cancer data after Firth's fit: {time.process_time() - begin:.1f} CPU s.")


def main():
    if "SEPARATRIX_DATA" not in os.environ:
        sys.exit("set SEPARATRIX_DATA to the folder of the real tables")
    warnings.simplefilter("ignore")
    against_firthmodels()
    summaries()


if __name__ == "__main__":
    main()
