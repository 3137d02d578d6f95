"""The plane in a page gives the answers of the package: verdicts, margins, bounds, runs and fits, on random scenes."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import warnings
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import separatrix as sx
from separatrix import checker
from separatrix.lab import presets
from separatrix.models.perceptron.perceptron import RECIPES

STATIC = Path(presets.__file__).parent / "static"
CHECKER = Path(checker.__file__).with_suffix(".js")
FEW, MANY = 40, 1000
RUNS = ("online", "repeated", "batch", "restart", "normalised", "default", "worst", "start")

DESCENTS = [
    {"loss": loss, "step": step, "momentum": momentum, "steps": 25}
    for loss, step, momentum in (
        ("squared", 0.02, 0.0),
        ("logistic", 0.2, 0.5),
        ("hinge", 0.1, 0.0),
        ("squared", 1e5, 0.0),
    )
]

pytestmark = [
    pytest.mark.skipif(shutil.which("node") is None, reason="needs node"),
    pytest.mark.xdist_group("plane_answers"),  # the scenes are answered once
]


def scenes(count, seed=0):
    """Grids with many ties, clouds with and without noise, few columns more, one line, one place."""
    rng = random.Random(seed)
    while count > 0:
        n, d = rng.randint(2, 24), rng.choice([2, 2, 2, 2, 3, 4])
        kind = rng.choice(["grid", "small grid", "cloud", "separable", "line"])
        if kind in ("grid", "small grid"):
            reach = 8 if kind == "grid" else 2
            rows = [[rng.randint(-reach, reach) / 2 for _ in range(d)] for _ in range(n)]
        elif kind == "line":
            rows = [[t] * d for t in (rng.randint(-4, 4) for _ in range(n))]
        else:
            rows = [[round(rng.gauss(0, 2), 3) for _ in range(d)] for _ in range(n)]
        score = [row[0] * 2 - row[1] + (0.3 if kind == "separable" else rng.gauss(0, 1.5)) for row in rows]
        labels = [1 if s > 0 else -1 for s in score]
        if len(set(labels)) == 2:
            count -= 1
            yield {"rows": rows, "labels": labels, "bias": rng.random() < 0.7, "kind": kind}


def choices_of(name):
    if name == "worst":
        return {"order": "worst"}
    if name == "start":
        return {"start": [0.5, -1.25, 2.0], "max_iter": 30}
    return {} if name == "default" else RECIPES[name]


def asked(given):
    for one in given:
        one["runs"] = [choices_of(name) for name in RUNS if name != "start" or len(one["rows"][0]) == 2]
        one["descents"] = DESCENTS if len(one["rows"][0]) == 2 else []
        one["fits"] = len(one["rows"]) > 12
    command = ["node", str(Path(__file__).with_name("plane_answers.mjs")), str(STATIC), str(CHECKER)]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, timeout=600, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module", params=[FEW, pytest.param(MANY, marks=pytest.mark.slow)], ids=["few", "many"])
def answered(request):
    """Scenes, and what the page answers."""
    given = list(scenes(request.param))
    return list(zip(given, asked(given), strict=True))


def arrays(scene):
    return np.array(scene["rows"], dtype=float), np.array(scene["labels"])


def test_verdicts_and_witnesses(answered):
    seen = set()
    for scene, answer in answered:
        X, y = arrays(scene)
        found = sx.separability(X, y, fit_intercept=scene["bias"])
        assert answer["verdict"] == found.verdict, scene
        seen.add(found.verdict)
        rows = answer["witness"]
        assert (rows == []) == (found.verdict == "complete")
        if rows:
            one_class = len(set(y[rows].tolist())) < 2
            if one_class:
                assert not scene["bias"]
            else:
                assert sx.separability(X[rows], y[rows], fit_intercept=scene["bias"]).verdict != "complete"
    assert seen == {"complete", "quasi", "overlap"}


def test_certificates_pass_both_checkers(answered, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _, answer in answered:
        assert answer["proof"]["proved"], answer["proof"]["lines"]
        assert all(line.startswith("proved: ") for line in answer["proof"]["lines"])


def test_the_maximum_margin_and_all_rows_on_its_edges(answered):
    for scene, answer in answered:
        if answer["verdict"] != "complete":
            continue
        X, y = arrays(scene)
        found = sx.margin(X, y, fit_intercept=scene["bias"], exact=True)
        assert Fraction(*map(int, answer["margin"]["square"])) == found.squared
        assert set(found.support.tolist()) <= set(answer["margin"]["edges"])
        distances = y * (X @ found.coef + (found.intercept if scene["bias"] else 0.0))
        near = np.flatnonzero(distances <= found.lower * (1 + 1e-9)).tolist()
        assert answer["margin"]["edges"] == near
        bound = sx.mistake_bound(X, y, fit_intercept=scene["bias"])
        assert answer["bound"]["most"] in (bound.most, bound.most - 1)  # the package's margin is bracketed
        assert answer["bound"]["radius"] == pytest.approx(float(bound.radius))
        assert answer["bound"]["margin"] == pytest.approx(float(bound.margin[0]), rel=1e-9)


def test_the_fewest_mistakes(answered):
    for scene, answer in answered:
        X, y = arrays(scene)
        if X.shape[1] != 2:
            continue
        found = sx.fewest_mistakes(X, y, fit_intercept=scene["bias"], time_limit=20)
        assert found.lower <= answer["fewest"] <= found.upper, scene
        right = np.array(answer["right"])
        assert int((~right).sum()) == answer["fewest"]
        if len(set(y[right].tolist())) == 2:
            assert sx.separability(X[right], y[right], fit_intercept=scene["bias"]).verdict == "complete"


def test_runs_of_the_perceptron(answered):
    compared = Counter()
    for scene, answer in answered:
        X, y = arrays(scene)
        for name, run in zip([n for n in RUNS if n != "start" or X.shape[1] == 2], answer["runs"], strict=True):
            choices = choices_of(name)
            if run is None:
                continue
            bias = choices.get("fit_intercept", True)
            steps = sx.models.perceptron.step_trace(
                sx.Perceptron(**{"order": "cyclic"} | choices), X, y, positive=1, max_steps=20_000
            )
            w = np.array(run["lifted"][1:])
            rounded = name == "normalised" or any(v != int(2 * v) / 2 for row in scene["rows"] for v in row)
            if not rounded:  # sums of halves are exact in doubles too
                assert run["row"] == steps.row.tolist(), (scene, name)
                assert run["mistake"] == steps.mistake.tolist()
                assert np.array_equal(w[:, : X.shape[1]], steps.coef)
                if bias:
                    assert np.array_equal(w[:, -1], steps.intercept)
                compared[name] += 1
            else:  # rounded sums may part from others where a score is 0
                same = min(len(run["row"]), len(steps))
                part = np.flatnonzero(np.array(run["mistake"][:same]) != steps.mistake[:same])
                first = int(part[0]) if len(part) else same
                assert np.allclose(w[:first, : X.shape[1]], steps.coef[:first], atol=1e-6), (scene, name)
                assert first == same or abs(steps.score[first]) < 1e-12
                compared[name] += 1
    assert min(compared.values()) >= len(answered) / 10


def test_fits_in_floating_point(answered):
    compared = 0
    for scene, answer in answered:
        if not answer["fits"]:
            continue
        X, y = arrays(scene)
        if np.linalg.matrix_rank(np.column_stack([X, np.ones(len(X))])) <= X.shape[1]:
            assert answer["fits"]["squares"]["problem"]
            continue
        pairs = {"squares": sx.LeastSquaresClassifier(), "ridge": sx.LogisticRegression(C=1.0)}
        try:
            sx.LinearDiscriminant().fit(X, y)
            pairs["lda"] = sx.LinearDiscriminant()
        except sx.errors.SeparatrixError:
            assert answer["fits"]["lda"]["problem"]
        if sx.separability(X, y).verdict == "overlap":
            pairs["logistic"] = sx.LogisticRegression()
        else:
            assert "no finite" in answer["fits"]["logistic"]["problem"]
        for name, learner in pairs.items():
            learner.fit(X, y)
            mine = answer["fits"][name]
            assert mine["problem"] is None
            assert np.allclose(
                [*mine["w"], mine["b"]], [*learner.coef_.ravel(), learner.intercept_.item()], rtol=1e-5, atol=1e-5
            ), name
            compared += 1
    assert compared > len(answered) / 20


def test_gradient_descent_and_its_divergence(answered):
    diverged = 0
    for scene, answer in answered:
        X, y = arrays(scene)
        X = X - X.mean(axis=0)
        for how, mine in zip(DESCENTS, answer["descents"], strict=X.shape[1] == 2):
            loss = sx.numerics.loss_of(how["loss"])

            def objective(w, loss=loss, X=X, y=y):
                return float(np.mean(loss.value(y * (X @ w))))

            def gradient(w, loss=loss, X=X, y=y):
                return (loss.slope(y * (X @ w)) * y) @ X / len(y)

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                options = {"step": how["step"], "momentum": how["momentum"], "max_iter": 25}
                path = sx.models.descent.gradient_descent(objective, [0.0, 0.0], gradient=gradient, **options).path
            common = min(len(path), len(mine["path"]))
            assert common > 1 or np.abs(gradient(np.zeros(2))).max() < 1e-9 or mine["cut"]
            assert np.allclose(mine["path"][:common], path[:common], rtol=1e-6, atol=1e-9), how
            assert mine["values"][0] == pytest.approx(objective(np.zeros(2)))
            diverged += mine["cut"]
            if how["loss"] == "squared" and mine["limit"] is not None:
                assert mine["limit"] == pytest.approx(1 / np.linalg.eigvalsh(X.T @ X / len(y))[-1])
    assert diverged > len(answered) / 10
