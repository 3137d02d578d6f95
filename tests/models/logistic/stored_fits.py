"""Random logistic fits over all options, and what the package gave for them once; run as a script to store them anew.

Classes overlap, are separated or nearly so; rows are dense, sparse, weighted, offset, dependent, far from zero.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from separatrix import LogisticRegression

STORED = Path(__file__).with_name("stored_fits.npz")
CASES = 320


def case(number: int) -> tuple[dict[str, Any], Any, Any, dict[str, Any]]:
    """Options, rows, labels and what else ``fit`` takes, of the fit with this number."""
    r = np.random.default_rng([20261, number])
    K = int(r.choice([2, 2, 2, 3, 3, 4, 5, 7, 10]))
    n = int(r.choice([20, 40, 80, 200, 600])) * (1 if K < 5 else 2)
    d = int(r.choice([1, 2, 3, 5, 8, 15]))
    if r.random() < 0.12 and K < 5:
        n, d = 30, 60
    X = r.normal(size=(n, d))
    shape = r.choice(["normal", "ones", "heavy", "far", "scales", "dependent", "constant"])
    if shape == "ones":
        X = (r.random((n, d)) < r.uniform(0.05, 0.6, d)).astype(float)
    elif shape == "heavy":
        X = r.standard_t(2.0, (n, d))
    elif shape == "far":
        X = X + r.choice([10.0, 1e3, 1e5], d)
    elif shape == "scales":
        X = X * 10.0 ** r.integers(-3, 4, d)
    elif shape == "dependent" and d > 1:
        X[:, -1] = X[:, 0] + (X[:, 1] if d > 2 else 0.0)
    elif shape == "constant":
        X[:, -1] = 1.0
    W = r.normal(size=(d, K)) * r.choice([0.3, 1.0, 3.0]) / np.sqrt(d) / np.maximum(X.std(axis=0), 1e-9)[:, None]
    noise = 0.0 if r.random() < 0.12 else 1.0
    y = ((X - X.mean(axis=0)) @ W + noise * r.gumbel(size=(n, K))).argmax(axis=1)
    y[:K] = np.arange(K)
    more: dict[str, Any] = {}
    if r.random() < 0.25:
        more["sample_weight"] = r.integers(0, 4, n).astype(float) if r.random() < 0.5 else r.uniform(0.2, 3.0, n)
        more["sample_weight"][:K] = 1.0
    if r.random() < 0.2:
        more["offset"] = r.normal(size=n if K == 2 else (n, K))
    options: dict[str, Any] = {"fit_intercept": bool(r.random() < 0.85)}
    kind = r.choice(["ridge", "ridge", "lasso", "net", "likelihood", "likelihood", "firth"])
    if kind in ("ridge", "lasso", "net"):
        options["C"] = float(10.0 ** r.uniform(-2, 3))
        options["l1_ratio"] = {"ridge": 0.0, "lasso": 1.0, "net": float(r.uniform(0.1, 0.9))}[kind]
        options["tol"] = 1e-10
    elif kind == "firth" and d < 9 and n >= 10 * K * d:
        options["bias_reduction"] = "flic" if r.random() < 0.3 and options["fit_intercept"] else "firth"
    else:
        options["on_separation"] = str(r.choice(["auto", "ignore", "ridge"]))
        if r.random() < 0.3:
            options["tol"] = 1e-8
    if K > 2 and r.random() < 0.2 and "offset" not in more:
        options["multiclass"] = "ovr"
    if r.random() < 0.15:
        options["class_weight"] = "balanced"
    if r.random() < 0.2:
        X = sparse.csr_matrix(X)
    return options, X, y, more


def fitted(number: int) -> tuple[LogisticRegression, float, dict[str, str]]:
    """The fit, the value of its objective without the penalty, and what is compared as it is."""
    options, X, y, more = case(number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LogisticRegression(**options).fit(X, y, **more)
    known = model.separation_
    known = known if isinstance(known, dict) else {"": known}
    verdict = ",".join("-" if v is None else v.verdict for v in known.values())
    said = {"status": model.status_.name, "method": model.method_, "verdict": verdict}
    said["unidentifiable"] = ",".join(model.unidentifiable_)
    return model, 0.0 if model.loglik_ is None else -float(model.loglik_), said


def store() -> None:
    coefs, losses, sizes, said = [], [], [], []
    for number in range(CASES):
        model, loss, words = fitted(number)
        vectors = np.column_stack([model.coef_, model.intercept_])
        coefs.append(vectors.ravel())
        sizes.append(vectors.shape)
        losses.append(loss)
        said.append(words)
    np.savez_compressed(
        STORED,
        coefs=np.concatenate(coefs),
        sizes=np.array(sizes),
        losses=np.array(losses),
        said=np.frombuffer(json.dumps(said).encode(), dtype=np.uint8),
    )


if __name__ == "__main__":
    store()
