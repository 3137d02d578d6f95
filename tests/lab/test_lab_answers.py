"""What the lab answers about features, learners and validation equals what the library gives."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor

import anyio
import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from lab_server import lab_server
from separatrix import (
    LeastSquaresClassifier,
    LinearDiscriminant,
    LogisticRegression,
    MaxMargin,
    Perceptron,
    checker,
    separability,
)
from separatrix.errors import DataError
from separatrix.lab import api, presets, run_answer
from separatrix.lab.fits import fits_of, split_of
from separatrix.lab.proof_answer import proof_of
from separatrix.lab.request_reading import SceneError
from separatrix.lab.scene import columns_of, mapped_rows, read_scene
from separatrix.lab.validation_study import study_of
from separatrix.models.perceptron import step_trace

PRESETS = {one.name: one for one in presets.presets()}


def scene_of(name, **parts):
    points = [{"x": p.x, "y": p.y, "label": p.label} for p in PRESETS[name].points]
    return read_scene({"points": points, **parts})


def test_a_feature_makes_xor_separable():
    plain, bent = scene_of("xor"), scene_of("xor", features={"xy": True})
    assert proof_of(plain).verdict == "overlap"
    found = proof_of(bent)
    assert [column.name for column in found.columns] == ["x", "y", "x y"]
    assert found.verdict == "complete"
    X = plain.rows
    assert separability(np.column_stack([X, X[:, 0] * X[:, 1]]), plain.labels).verdict == "complete"
    assert proof_of(scene_of("xor", features={"x2": True, "y2": True})).verdict == "overlap"
    assert proof_of(scene_of("xor", features={"bumps": 4, "gamma": 2.0})).verdict == "complete"


@pytest.mark.parametrize("features", [{"degree": 3}, {"bumps": 5}, {"x2": True, "y2": True}])
def test_certificates_over_features_check(features, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    proof = proof_of(scene_of("ring", features=features))
    (tmp_path / "points.csv").write_text(proof.table)
    for text in proof.certificates:
        (tmp_path / "c.json").write_text(text)
        assert checker.main(["c.json", "points.csv", "--target", "label"]) == 0


def test_monomials_are_those_of_the_degree():
    scene = scene_of("ring", features={"degree": 3})
    columns = columns_of(scene)
    assert [(c.a, c.b) for c in columns] == [(1, 0), (0, 1), (2, 0), (1, 1), (0, 2), (3, 0), (2, 1), (1, 2), (0, 3)]
    x, y = scene.rows.T
    assert np.array_equal(mapped_rows(scene, columns)[:, 6], x**2 * y)


@pytest.mark.parametrize("name", ["gaussians", "iris", "imbalanced"])
def test_learners_are_the_library_s(name):
    scene = scene_of(name, learners=["lda", "ridge-logistic", "soft-margin"])
    found = fits_of(scene)
    kinds = (LinearDiscriminant(), LogisticRegression(C=1.0), MaxMargin(C=1.0))
    for fit, learner in zip(found.fits, kinds, strict=True):
        learner.fit(scene.rows, scene.labels)
        assert fit.w == learner.coef_.ravel().tolist()
        assert fit.b == learner.intercept_.item()
        wrong = int((learner.predict(scene.rows) != scene.labels).sum())
        assert fit.train.false_minus + fit.train.false_plus == wrong
        assert fit.held is None


def test_every_learner_answers_or_says_why_not():
    for start in range(0, 13, 3):
        names = [own["name"] for own in api.learner_titles()][start : start + 3]
        for preset in ("gaussians", "six-points"):
            for fit in fits_of(scene_of(preset, learners=names)).fits:
                assert (fit.problem is None) == (len(fit.w) == 2), fit
                assert (fit.name, preset) == ("lda", "six-points") or fit.problem is None


def test_held_out_points_are_not_learned_from():
    scene = scene_of("gaussians", learners=["lda"], study={"share": 0.3, "seed": 4})
    train, held = split_of(scene)
    assert len(held) == 36
    assert sorted([*train, *held]) == list(range(120))
    assert abs(int(scene.labels[held].sum())) <= 2  # each class in proportion
    found = fits_of(scene)
    learner = LinearDiscriminant().fit(scene.rows[train], scene.labels[train])
    assert found.held == held.tolist()
    assert found.fits[0].w == learner.coef_.ravel().tolist()
    judged = found.fits[0].held
    wrong = int((learner.predict(scene.rows[held]) != scene.labels[held]).sum())
    assert judged.false_minus + judged.false_plus == wrong
    with pytest.raises(SceneError):
        split_of(scene_of("six-points", study={"share": 0.8}))


def test_the_study_fits_each_degree_on_each_fold():
    scene = scene_of("ring", learners=["least-squares"], study={"share": 0.2})
    found = study_of(scene)
    part = np.array(found.folds.fold)
    assert np.bincount(part).tolist() == [12] * 5
    for degree in (1, 3):
        own = scene_of("ring", features={"degree": degree})
        Z, y = mapped_rows(own, columns_of(own)), own.labels
        errors = []
        for k in range(5):
            learner = LeastSquaresClassifier().fit(Z[part != k], y[part != k])
            errors.append(float(np.mean(learner.predict(Z[part == k]) != y[part == k])))
        assert [row[degree - 1] for row in found.folds.validation] == errors
        assert found.folds.mean_validation[degree - 1] == pytest.approx(np.mean(errors), abs=1e-15)
    train, held = split_of(scene)
    Z = mapped_rows(scene, columns_of(scene))
    learner = LeastSquaresClassifier().fit(Z[train], scene.labels[train])
    assert found.holdout.held[0] == np.mean(learner.predict(Z[held]) != scene.labels[held])
    assert found.judged == held.tolist()
    assert found.roc.auc == pytest.approx(roc_auc_score(scene.labels[held], learner.decision_function(Z[held])))
    assert study_of(scene_of("six-points", learners=["perceptron"])).folds is None
    with pytest.raises(SceneError, match="choose a learner"):
        study_of(scene_of("ring"))


def test_a_stream_has_the_looks_of_the_run():
    scene = scene_of("gaussians")
    start, *parts = run_answer.stream_of(scene)
    steps = step_trace(Perceptron(order="cyclic"), scene.rows, scene.labels, positive=1, max_steps=20_000)
    assert len(parts) > 3
    assert [*start.w, start.b] == steps.start.tolist()
    assert [row for part in parts for row in part.row] == steps.row.tolist()
    assert [w for part in parts for w in part.w] == steps.coef.tolist()
    assert [part.ended == "" for part in parts] == [True] * (len(parts) - 1) + [False]
    assert parts[-1].ended == str(steps).splitlines()[-1]


def test_a_stream_over_http_comes_in_lines_and_ends_at_its_limit(monkeypatch):
    with lab_server() as lab:
        points = [{"x": k % 7, "y": k % 5, "label": 1 if k % 2 else -1} for k in range(500)]
        status, headers, content = lab.ask("/api/run/stream", {"points": points, "choices": {"max_iter": 1000}})
        assert (status, headers["content-type"]) == (200, "application/x-ndjson")
        lines = [json.loads(line) for line in content.splitlines()]
        assert sum(len(line["row"]) for line in lines[1:]) == run_answer.MOST_STREAMED
        assert "the first of" in lines[-1]["ended"]
        bad = lab.ask("/api/run/stream", {"points": points, "choices": {"order": "restart", "stop": "streak"}})
        assert bad[0] == 422


@pytest.mark.parametrize(
    ("part", "says"),
    [
        ({"features": {"degree": 7}}, "degree is not a whole number between 1 and 6"),
        ({"features": {"gamma": "1"}}, "gamma is not a number"),
        ({"features": {"path": "../x"}}, "features has the unknown field 'path'"),
        ({"learners": ["lda"] * 4}, "there are 4 learners; the lab takes at most 3"),
        ({"learners": ["os.system"]}, "learner 0 is 'os.system': it can be perceptron"),
        ({"study": {"share": 0.9}}, "share is not a number between 0 and 0.8"),
        ({"descent": {"steps": 10**9}}, "steps is not a whole number between 1 and 500"),
        ({"descent": {"step": True}}, "step is not a number"),
        ({"sql": "drop"}, "the scene has the unknown field 'sql'"),
        ({"learners": "lda"}, "learners is not a list"),
        ({"study": None}, "study is not an object"),
    ],
)
def test_other_parts_are_refused_in_a_sentence(part, says):
    with pytest.raises(SceneError) as refused:
        scene_of("xor", **part)
    assert says in str(refused.value)


def test_columns_that_grow_too_large_are_refused():
    points = [{"x": 1e6, "y": 1, "label": 1}, {"x": 2, "y": 3, "label": -1}]
    with pytest.raises(SceneError, match="lower the degree"):
        proof_of(read_scene({"points": points, "features": {"degree": 6}}))


def test_what_takes_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr(api, "SECONDS", 0.05)

    async def ask():
        with pytest.raises(TimeoutError):
            await api.Answering()(lambda scene: time.sleep(0.5), scene_of("xor"))

    with ThreadPoolExecutor(1) as beside:  # the browser's tests may have a loop in this thread
        beside.submit(anyio.run, ask).result()


def test_the_directions_of_a_table_show_its_classes():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 4)) * [1, 100, 0.01, 1]
    plus = X[:, 1] / 100 + X[:, 2] / 0.01 > 0
    table = presets.table_columns(X, ["a", "b", "c", "d"], np.where(plus, "yes", "no"), "t.csv")
    assert table.names == ["a", "b", "c", "d", *presets.DIRECTIONS]
    assert table.about == "no (-) and yes (+) of t.csv"
    first = np.array(table.columns[4])
    assert np.mean((first > np.median(first)) == plus) > 0.9
    assert np.std(table.columns[5]) > 0.5
    shown = presets.preset_of_table(table, presets.DIRECTIONS)
    assert [p.x for p in shown.points] == table.columns[4]
    with pytest.raises(DataError, match="no column 'z'"):
        presets.preset_of_table(table, ("a", "z"))
    with pytest.raises(DataError, match="3 classes"):
        presets.table_columns(X, ["a", "b", "c", "d"], np.arange(80) % 3, "t.csv")
    with pytest.raises(DataError, match="values beyond"):
        presets.table_columns(X * 1e9, ["a", "b", "c", "d"], plus, "t.csv")
