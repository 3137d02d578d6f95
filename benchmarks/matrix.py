"""Learners times shapes, beside scikit-learn (and LIBLINEAR through it), on one thread.

Each cell is the peer's processor time over ours, contenders taking turns; above 1 we are faster. Where there is an
objective, a peer has the loosest tolerance at which its objective is within 1e-6 of the least one known; a peer that no
tolerance brings there is not counted, and the best peer counts. Ours has ``tol=1e-6`` there, a gap that it proves;
``--defaults`` compares our defaults (a proved gap of 1e-8, or the last digits) with scikit-learn's, and says how far,
relatively, the objective of the peer is above ours.
LinearSVC penalises the intercept: it is measured by its own objective, whose least value is that of a fit with a proved
gap to rows with a column of ones. Our times include what the peers do not give: existence of the unpenalised estimate,
duality gaps, ranks.

``python -m benchmarks matrix`` takes small shapes, ``--long`` the full ones, ``--random N`` N shapes drawn at random,
three learners each; ``--only TEXT`` those cells whose learner and shape, "ridge, square 400 x 400", match the regular
expression ("^(?!logistic)": all but logistic regression), and stores no results unless ``--results FOLDER`` says where;
``--memory`` adds what a fit takes at its peak, in a process of its own (``--long`` has it always); ``--draw`` writes
matrix.svg. ``--threads N`` compares N threads with one instead, without peers, in elapsed time. Set
OPENBLAS_NUM_THREADS=1: libraries of the peers have threads of their own, which wait busily.
"""

from __future__ import annotations

import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks._page import summary
from benchmarks._peak_memory import peak_of
from benchmarks._shapes import LONG, SHORT, Shape, random_shapes
from benchmarks._stored import FOLDER, Cell, store
from benchmarks.measure import interleaved, print_table

TOLERANCES = [10.0**-k for k in range(2, 11)]
CLOSE = 1e-6  # the excess over the least objective that all have to reach
SLOW = 20.0  # seconds for a peer's search of its tolerance
TURNS = 3, 20  # of the contenders: the fewest, and the most
SHORT_WHILE = 0.5  # seconds of all turns, about, where those are between the two

Fit = Callable[[], Any]
Peers = dict[str, Callable[[float], Any]]


def log_loss(model, X, y):
    s = model.decision_function(X).astype(np.float64)
    if s.ndim == 1:
        return np.logaddexp(0, np.where(y == 1, -s, s)).sum()
    top = s.max(axis=1)
    return (np.log(np.exp(s - top[:, None]).sum(axis=1)) + top - s[np.arange(len(y)), y]).sum()


def logistic(shape: Shape, X, y, C, l1_ratio=0.0):
    from sklearn.linear_model import LogisticRegression as Peer

    from separatrix import LogisticRegression

    solvers = ["saga"] if l1_ratio else ["lbfgs", *(["newton-cholesky"] if shape.d * shape.K <= 500 else [])]
    if hasattr(X, "toarray"):
        solvers = [solver for solver in solvers if solver != "newton-cholesky"]

    def objective(model):
        w = model.coef_
        size = np.abs(w).sum() if l1_ratio else 0.5 * (w * w).sum()
        return C * log_loss(model, X, y) + size if np.isfinite(C) else log_loss(model, X, y)

    def peer(solver):
        return lambda tol: Peer(C=C, l1_ratio=l1_ratio, solver=solver, tol=tol, max_iter=3000).fit(X, y)

    def ours():
        return LogisticRegression(C=C, l1_ratio=l1_ratio, tol=None if defaults() else CLOSE).fit(X, y)

    return ours, objective, {solver: peer(solver) for solver in solvers}


def squares(X, Y):
    def objective(model):
        fitted = X @ np.squeeze(model.coef_).T + np.squeeze(model.intercept_)
        return float(((Y - fitted) ** 2).sum() + (model.coef_**2).sum())

    return objective


def max_margin(X, y):
    from sklearn.svm import LinearSVC

    from separatrix import MaxMargin

    def objective(model):
        b = model.intercept_ if isinstance(model, LinearSVC) else 0.0
        hinge = np.maximum(0, 1 - np.where(y == 1, 1, -1) * model.decision_function(X)).sum()
        return 0.5 * float((model.coef_**2).sum() + np.sum(np.square(b))) + hinge

    def peer(tol):
        return LinearSVC(loss="hinge", tol=tol, max_iter=passes, random_state=0).fit(X, y)

    passes = int(min(100_000, 3 * 10**10 // (X.nnz if hasattr(X, "toarray") else X.size)))  # half a minute, or less

    def least():
        ones = np.ones((len(y), 1))
        lifted = sparse.hstack([X, ones], format="csr") if hasattr(X, "toarray") else np.hstack([X, ones])
        model = MaxMargin(C=1.0, fit_intercept=False).fit(lifted, y)
        return 0.5 * float((model.coef_**2).sum()) + float(model.slack_[0])

    objective.least = {"LinearSVC": least}  # its problem is another one
    return lambda: MaxMargin(C=1.0).fit(X, y), objective, {"LinearSVC": peer}


def cases(shape: Shape, long: bool) -> Iterator[tuple[str, Any]]:
    """The learners that apply to a shape: ours, an objective or None, and the peers by tolerance."""
    from sklearn import discriminant_analysis as theirs
    from sklearn import linear_model, preprocessing

    import separatrix as sx

    X, y, target = shape.draw()
    stored = hasattr(X, "toarray")
    for C in (1.0, *((1e-3, 1e3) if long else ())):
        yield f"logistic C={C:g}", logistic(shape, X, y, C)
    if shape.d < shape.n / 10 and not stored:
        yield "logistic unpenalised", logistic(shape, X, y, np.inf)
    yield "logistic lasso C=0.1", logistic(shape, X, y, 0.1, 1.0)
    if shape.K == 2:
        yield "MaxMargin C=1", max_margin(X, y)
    if not stored:
        plain = {"LinearRegression": lambda tol: linear_model.LinearRegression().fit(X, target)}
        yield "least squares", (lambda: sx.LeastSquares().fit(X, target), None, plain)
    ridge = {"Ridge": lambda tol: linear_model.Ridge(1.0, tol=tol).fit(X, target)}
    size = squares(X, target) if stored else None  # of sparse rows its solution is iterative
    yield "ridge", (lambda: sx.LeastSquares(1.0).fit(X, target), size, ridge)
    classes = {"RidgeClassifier": lambda tol: linear_model.RidgeClassifier(1.0, tol=tol).fit(X, y)}
    codes = 2.0 * (y if shape.K == 2 else y[:, None] == np.arange(shape.K)) - 1.0
    size = squares(X, codes) if stored else None
    yield "ridge classifier", (lambda: sx.LeastSquaresClassifier(1.0).fit(X, y), size, classes)
    if shape.d < shape.n / 5 and not stored:
        lda = {solver: _discriminant(theirs, solver, X, y) for solver in ("svd", "lsqr")}
        yield "LDA", (lambda: sx.LinearDiscriminant().fit(X, y), None, lda)
    perceptron = {"Perceptron": lambda tol: linear_model.Perceptron(max_iter=10, tol=None, shuffle=False).fit(X, y)}
    if shape.K == 2:
        yield "perceptron, 10 passes", (lambda: sx.Perceptron(max_iter=10, order="cyclic").fit(X, y), None, perceptron)
    if shape.d <= 50:
        made = {
            "PolynomialFeatures": lambda tol: preprocessing.PolynomialFeatures(2, include_bias=False).fit_transform(X)
        }
        yield "PolynomialMap(2)", (lambda: sx.PolynomialMap(2).fit_transform(X), None, made)


def _discriminant(theirs, solver, X, y):
    return lambda tol: theirs.LinearDiscriminantAnalysis(solver=solver).fit(X, y)


def defaults() -> bool:
    return "--defaults" in sys.argv


def equal_gap(ours: Fit, objective: Any, peers: Peers) -> dict[str, Fit]:
    """Each peer at the loosest tolerance that brings its objective within 1e-6 of the least, or at its default."""
    if objective is None or defaults():
        return {name: (lambda fit=fit: fit(1e-4)) for name, fit in peers.items()}
    mine, found = objective(ours()), {}
    for name, fit in peers.items():
        begin, values = time.process_time(), []
        for tol in TOLERANCES:
            values.append(objective(fit(tol)))
            if time.process_time() - begin > SLOW:
                break
        own = getattr(objective, "least", {}).get(name)
        least = min(*values, own() if own else mine)
        good = [tol for tol, value in zip(TOLERANCES, values, strict=False) if value <= least * (1 + CLOSE) + 1e-12]
        if good:
            found[name] = lambda fit=fit, tol=good[0]: fit(tol)
    return found


def measured(learner: str, shape: str, ours: Fit, objective: Any, peers: Peers, memory: bool) -> Cell:
    """Our seconds and those of the best peer, how far its objective is above ours, and both peaks of memory."""
    contenders = {"ours": ours, **equal_gap(ours, objective, peers)}
    begin = time.process_time()
    for fit in contenders.values():
        fit()
    turns = int(np.clip(SHORT_WHILE / (time.process_time() - begin), *TURNS))
    best = interleaved(contenders, turns, time.process_time, patience=2.0)
    mine = best.pop("ours")
    if not best:
        return Cell(learner, shape, "", None, mine)
    name = min(best, key=best.__getitem__)
    excess = objective(contenders[name]()) / objective(ours()) - 1.0 if objective else None
    peaks = [float(peak_of(fit)) for fit in (ours, contenders[name])] if memory else [None, None]
    return Cell(learner, shape, name, best[name] / mine, mine, best[name], excess, *peaks)


def chosen_shapes() -> list[Shape]:
    if "--random" in sys.argv:
        return random_shapes(int(sys.argv[sys.argv.index("--random") + 1]))
    return LONG if "--long" in sys.argv else SHORT


def at_random(shape: Shape, long: bool) -> Iterator[tuple[str, Any]]:
    """Three of the learners that apply, drawn by the name of the shape."""
    every = list(cases(shape, long))
    rng = np.random.default_rng(sum(map(ord, shape.name)))
    yield from (every[i] for i in sorted(rng.permutation(len(every))[:3]))


def by_threads(count: int, only: str) -> None:
    """Our fits on one thread and on ``count``, taking turns: cells with a gain, and cells that are slower."""
    from separatrix.kernels import threads

    def on(number: int, fit: Fit) -> Fit:
        def run() -> Any:
            with threads(number):
                return fit()

        return run

    rows = []
    for shape in chosen_shapes():
        for learner, (ours, *_) in cases(shape, "--long" in sys.argv):
            if not re.search(only, f"{learner}, {shape.name}"):
                continue
            best = interleaved({"one": on(1, ours), "all": on(count, ours)}, 7, time.perf_counter, patience=4.0)
            times = [f"{1e3 * best['one']:.3g} ms", f"{1e3 * best['all']:.3g} ms", best["one"] / best["all"]]
            rows.append([learner, shape.name, *times])
            print(rows[-1], file=sys.stderr, flush=True)
    print_table(["learner", "shape", "1 thread", f"{count} threads", "speed-up"], rows)
    gains = np.array([row[-1] for row in rows])
    more, less = int((gains > 1.1).sum()), int((gains < 0.95).sum())
    print(f"\n{len(gains)} cells: {more} at least a tenth faster, {less} slower by more than a twentieth")


def main() -> None:
    from separatrix.kernels import threads

    warnings.simplefilter("ignore")
    long = "--long" in sys.argv
    memory = long or "--memory" in sys.argv
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
    if "--threads" in sys.argv:
        by_threads(int(sys.argv[sys.argv.index("--threads") + 1]), only)
        return
    cells: list[Cell] = []
    with threads(1):
        for shape in chosen_shapes():
            for learner, case in (at_random if "--random" in sys.argv else cases)(shape, long):
                if not re.search(only, f"{learner}, {shape.name}"):
                    continue
                cells.append(measured(learner, shape.name, *case, memory))
                print(cells[-1], file=sys.stderr, flush=True)
    name = "-".join(["matrix", *(word for word in ("long", "random", "defaults") if f"--{word}" in sys.argv)])
    turns = f"One thread, processor time, least of {TURNS[0]} to {TURNS[1]} turns;"
    peers = (
        "peers at their defaults."
        if defaults()
        else f"peers at the loosest tolerance within {CLOSE:g} of the least objective."
    )
    folder = Path(sys.argv[sys.argv.index("--results") + 1]) if "--results" in sys.argv else None
    if folder or not only:
        store(name, cells, "Each shape draws its rows from the seed n + d + K.", f"{turns} {peers}", folder or FOLDER)
    print(summary(cells))
    if "--draw" in sys.argv:
        draw({(cell.work, cell.shape): cell.ratio or np.inf for cell in cells})


def draw(cells: dict[tuple[str, str], float]) -> None:
    """A heat map: purple where we are faster, orange where a peer is; grey where the learner does not apply."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "matrix"
    learners, shapes = (list(dict.fromkeys(names)) for names in zip(*cells, strict=True))
    Z = np.full((len(learners), len(shapes)), np.nan)
    figure, ax = plt.subplots(figsize=(1.5 + 0.75 * len(shapes), 1.8 + 0.42 * len(learners)), layout="constrained")
    for (learner, shape), ratio in cells.items():
        i, j = learners.index(learner), shapes.index(shape)
        Z[i, j] = np.log2(np.clip(ratio, 1 / 16, 16))
        said = "alone" if not np.isfinite(ratio) else f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.2g}"
        ax.text(j, i, said, ha="center", va="center", fontsize=7, color="white" if abs(Z[i, j]) > 2.8 else "black")
    ax.set_facecolor("0.93")
    ax.imshow(Z, cmap="PuOr", vmin=-4, vmax=4, aspect="auto", alpha=0.75)
    ax.set_xticks(range(len(shapes)), shapes, rotation=35, ha="right", fontsize=7)
    ax.set_yticks(range(len(learners)), learners, fontsize=8)
    ax.set_title("best peer's time / ours: orange where a peer is faster", fontsize=9)
    figure.savefig(Path(__file__).with_name("matrix.svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
