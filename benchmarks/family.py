"""The perceptron family: epochs beside the plain perceptron's, ten classes, single rows, kernels.

"same rows move" starts so far along a separating direction that only the flipped tenth of the rows moves
any of the learners, so that epochs differ in what a look and an update cost; "from zero" is a whole fit
with 10 % of the labels flipped, where margin rules also move on rows that they get right.
"""

from __future__ import annotations

import time
import warnings
from functools import partial

import numpy as np
from sklearn.linear_model import Perceptron as Theirs

import separatrix as sx
from benchmarks.measure import interleaved, print_table

warnings.filterwarnings("ignore")

FAMILY = {
    "averaged": partial(sx.AveragedPerceptron, order="cyclic"),
    "PA-I": partial(sx.PassiveAggressive, order="cyclic"),
    "AROW": partial(sx.AROW, order="cyclic"),
    "margin": partial(sx.MarginPerceptron, order="cyclic", relative=False, margin=1.0),
}


def labelled(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X, star = rng.normal(size=(n, d)), rng.normal(size=d)
    y = X @ star > 0
    return X, np.where(rng.random(n) < 0.1, ~y, y).astype(int), 1e6 * star


def epochs():
    """One epoch (the slope between 2 and 12 of them) as a multiple of the plain perceptron's.

    Tables that fit into the cache: from memory, reading the rows would hide what the rules cost.
    """
    rows = []
    for n, d in ((20_000, 10), (10_000, 50), (5_000, 100), (1_000, 1000)):
        X, y, start = labelled(n, d)
        for regime, first in (("same rows move", start), ("from zero", None)):
            work = {}
            for epochs in (2, 12):
                for name, make in {"plain": sx.Perceptron, **FAMILY}.items():
                    work[f"{name} {epochs}"] = partial(make(max_iter=epochs).fit, X, y, coef_init=first)
            t = interleaved(work, 60)
            slope = {name: t[f"{name} 12"] - t[f"{name} 2"] for name in ("plain", *FAMILY)}
            moved = {
                name: make(max_iter=12).fit(X, y, coef_init=first).mistakes_ / (12 * n)
                for name, make in {"plain": sx.Perceptron, **FAMILY}.items()
            }
            rows.append(
                [
                    f"{n:,}×{d} {regime}",
                    f"{1e3 * slope['plain'] / 10:.2f} ms",
                    *(f"{slope[k] / slope['plain']:.2f} ({moved[k]:.0%} of rows)" for k in FAMILY),
                    f"{moved['plain']:.0%} of rows",
                ]
            )
    print_table(["one epoch / plain", "plain", *FAMILY, "plain moves"], rows)


def pocket():
    """Twenty epochs with the ratchet as a multiple of twenty without, in the same order."""
    rows = []
    for n, d in ((10_000, 20), (5_000, 100)):
        X, y, _ = labelled(n, d)
        for order in ("cyclic", "shuffle"):
            shared = {"max_iter": 20, "order": order, "random_state": 0}
            models = {"plain": sx.Perceptron(**shared), "pocket": sx.PocketPerceptron(**shared)}
            t = interleaved({name: lambda m=m, X=X, y=y: m.fit(X, y) for name, m in models.items()}, 25)
            p = models["pocket"]
            rows.append(
                [
                    f"{n:,}×{d} {order}",
                    t["pocket"] / t["plain"],
                    f"{p.counts_} counts, {p.count_visits_ / p.visits_:.0%} more looks",
                    f"{p.errors_ / n:.1%}",
                    f"{models['plain'].errors_ / n:.1%}",
                ]
            )
    print_table(["pocket, 20 epochs", "pocket / plain", "counts", "errors", "errors of plain"], rows)


def digits():
    """Ten classes against scikit-learn, the same number of passes and by default."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    X = np.ascontiguousarray(X)
    their_default = Theirs().fit(X, y)
    passes = int(their_default.n_iter_)
    t = interleaved(
        {
            "theirs": lambda: Theirs(max_iter=passes, tol=None, shuffle=False).fit(X, y),
            "theirs by default": lambda: Theirs().fit(X, y),
            "ovr": lambda: sx.Perceptron(max_iter=passes, order="cyclic").fit(X, y),
            "kesler": lambda: sx.Perceptron(max_iter=passes, order="cyclic", multiclass="kesler").fit(X, y),
            "averaged": lambda: sx.AveragedPerceptron(order="cyclic", max_iter=passes).fit(X, y),
            "ovr by default": lambda: sx.Perceptron().fit(X, y),
        }
    )
    rows = [
        [f"{name} ({passes} passes)", f"{1e3 * t[name]:.2f} ms", t["theirs"] / t[name]]
        for name in ("theirs", "ovr", "kesler", "averaged")
    ]
    rows.append(
        [
            "ovr by default (100 passes)",
            f"{1e3 * t['ovr by default']:.2f} ms",
            t["theirs by default"] / t["ovr by default"],
        ]
    )
    print_table(["digits, ten classes", "whole fit", "scikit-learn / ours"], rows)


def empty(x, y):
    """What any call costs."""


def each(learn, rows, labels):
    for x, label in zip(rows, labels, strict=False):
        learn(x, label)


def predict_each(model, rows):
    for x in rows:
        model.predict_one(x)


def one_row():
    """learn_one with a numpy row, validated, as a multiple of an empty Python call."""
    rows = []
    for d in (20, 200):
        X, y, _ = labelled(20_000 // d, d)
        labels, table = y.tolist() * (d // 4), list(X) * (d // 4)  # 5,000 rows, in the cache like one that just arrived
        dicts = [{f"f{j}": v for j, v in enumerate(x)} for x in X.tolist()]
        models = {
            "Perceptron": sx.Perceptron(),
            "AveragedPerceptron": sx.AveragedPerceptron(),
            "PassiveAggressive": sx.PassiveAggressive(),
            "AROW": sx.AROW(),
        }
        for model in models.values():
            model.partial_fit(X[:2], [0, 1], classes=[0, 1])
        ten = sx.Perceptron().partial_fit(X[:10], np.arange(10), classes=np.arange(10))

        work = {"empty": partial(each, empty, table, labels)}
        work |= {name: partial(each, m.learn_one, table, labels) for name, m in models.items()}
        work["Perceptron, ten classes"] = partial(each, ten.learn_one, table, labels)
        work["predict_one"] = partial(predict_each, models["Perceptron"], table)
        work["predict_one, ten classes"] = partial(predict_each, ten, table)
        for name, m in (("dict, open", sx.Perceptron()), ("dict, hashed", sx.Perceptron(hashing=2**18))):
            work[f"Perceptron, {name}"] = partial(each, m.learn_one, dicts, labels)
        if (river := _river()) is not None:
            work["River Perceptron, dict"] = partial(each, river.learn_one, dicts, labels)
        t = interleaved(work, 9)
        for name in list(work)[1:]:
            count = len(dicts) if ", dict" in name else len(table)
            rows.append(
                [f"{name}, d = {d}", f"{1e9 * t[name] / count:.0f} ns", t[name] / count / (t["empty"] / len(table))]
            )
    print_table(["learn_one", "a row", "/ empty call"], rows)


def _river():
    try:
        from river.linear_model import Perceptron
    except ImportError:
        return None
    return Perceptron()


def naive_kernel_perceptron(X, y, gamma, epochs):
    """The textbook's loop in numpy: the score of each row is a sum over the support rows so far."""
    support, a = np.empty((0, X.shape[1])), np.empty(0)
    for _ in range(epochs):
        for x, sign in zip(X, y, strict=True):
            k = np.exp(-gamma * ((support - x) ** 2).sum(axis=1))
            if sign * (a @ (k + 1)) <= 0:
                support, a = np.vstack([support, x]), np.append(a, sign)
    return len(a)


def column_kernel_perceptron(X, y, gamma, epochs):
    """The same mistakes in better numpy: scores of all rows are kept, a mistake adds a column by a matrix product."""
    scores, norm2, mistakes = np.zeros(len(X)), (X * X).sum(axis=1), 0
    for _ in range(epochs):
        for i in range(len(X)):
            if y[i] * scores[i] <= 0:
                scores += y[i] * (np.exp(-gamma * np.maximum(norm2 + norm2[i] - 2 * (X @ X[i]), 0)) + 1)
                mistakes += 1
    return mistakes


def kernel():
    """RBF on 20,000 × 50, against two versions in numpy; the last table is one that half the digits do not decide."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 50))
    y = np.where((X[:, :5] ** 2).sum(axis=1) > 4.5, 1, -1)
    rows = []
    for name, table, epochs in (
        ("scaled", X, 1),
        ("scaled", X, 3),
        ("columns from 1 to 10,000", X * np.geomspace(1, 1e4, 50), 1),
    ):
        model = sx.KernelPerceptron(gamma=0.02, max_iter=epochs, max_support=np.inf)
        work = {
            "naive": lambda e=epochs, t=table: naive_kernel_perceptron(t, y, 0.02, e),
            "columns": lambda e=epochs, t=table: column_kernel_perceptron(t, y, 0.02, e),
            "ours": lambda m=model, t=table: m.fit(t, y),
        }
        t = interleaved(work, 1 if epochs > 1 else 2, time.process_time)
        rows.append(
            [
                f"{name}, {epochs} epoch(s), {model.mistakes_:,} mistakes",
                f"{t['ours']:.2f} s",
                t["naive"] / t["ours"],
                t["columns"] / t["ours"],
            ]
        )
    print_table(["RBF, 20,000×50", "ours", "straightforward numpy / ours", "numpy by columns / ours"], rows)


def accuracy():
    """Held-out accuracy on digits and wine, 5 stratified folds 5 times, against scikit-learn's Perceptron."""
    from sklearn.datasets import load_digits, load_wine
    from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    models = {"scikit-learn Perceptron": Theirs(random_state=0)}
    for scheme in ("ovr", "kesler"):
        for cls in (sx.Perceptron, sx.AveragedPerceptron, sx.MarginPerceptron, sx.PassiveAggressive, sx.AROW):
            models[f"{cls.__name__} {scheme}"] = cls(multiclass=scheme, order="shuffle", random_state=0)
    models |= {
        "VotedPerceptron": sx.VotedPerceptron(order="shuffle", random_state=0),
        "PocketPerceptron": sx.PocketPerceptron(random_state=0),
        "KernelPerceptron rbf": sx.KernelPerceptron(),
    }
    rows = []
    for name, model in models.items():
        row = [name]
        for X, y in (load_digits(return_X_y=True), load_wine(return_X_y=True)):
            folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=5, random_state=0)
            row.append(f"{cross_val_score(make_pipeline(StandardScaler(), model), X, y, cv=folds).mean():.4f}")
        rows.append(row)
    print_table(["held-out accuracy, 5 times 5 folds, standardised", "digits", "wine"], rows)


def main():
    for table in (epochs, pocket, digits, one_row, kernel, accuracy):
        table()
        print(flush=True)
