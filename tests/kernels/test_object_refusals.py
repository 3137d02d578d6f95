"""Rules, late scores and the search for fewest mistakes refuse what would lead them outside their arrays."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_calls import CODES, ORDER, SIGNS, WORD, D, K, N, X, floats, rng

from separatrix import kernels


def rules():
    own = {
        "lifted": np.zeros((K, D + 1)),
        "updates": np.zeros(K, dtype=np.int64),
        "visits": np.zeros(K, dtype=np.int64),
        "seen": np.zeros(K, dtype=np.int8),
        "bias": True,
    }
    return {
        "PlainRule": own | {"zero_is_mistake": True},
        "AveragedRule": own
        | {"zero_is_mistake": True, "total": np.zeros((K, D + 1)), "looks": np.zeros(K, dtype=np.int64)},
        "MarginRule": own
        | {"margin": 1.0, "relative": True, "norm2": np.zeros(K), "moved": np.zeros(K, dtype=np.int64)},
        "PassiveAggressiveRule": own | {"variant": 1, "C": 1.0},
        "ArowDiagonalRule": own | {"r": 1.0, "variance": np.ones((K, D + 1))},
        "ArowFullRule": own | {"r": 1.0, "covariance": np.stack([np.eye(D + 1)] * K)},
    }


@pytest.mark.parametrize("name", rules())
def test_rules_refuse_what_leaves_their_vectors(name):
    good = rules()[name]
    for argument in [key for key, value in good.items() if isinstance(value, np.ndarray)]:
        with pytest.raises(ValueError):  # noqa: PT011
            getattr(kernels, name)(**good | {argument: good[argument][:-1].copy()})
    rule = getattr(kernels, name)(**good)
    view, codes = kernels.Rows.dense(X), CODES.astype(np.int32)
    call = {"X": view, "y": SIGNS, "step": np.ones(N), "order": ORDER.copy(), "begin": 0, "end": N, "limit": N}
    rule.binary(0, **call, habit=np.zeros(N, dtype=np.int8))
    rule.kesler(**call | {"y": codes})
    beyond = np.where(np.arange(N) == N - 1, K, codes).astype(np.int32)
    spoiled = [
        {"k": K}, {"k": -1}, {"y": SIGNS[:-1]}, {"step": np.ones(N - 1)}, {"habit": np.zeros(N - 1, dtype=np.int8)},
        {"begin": -1}, {"end": N + 1}, {"order": np.full(N, N)}, {"order": np.full(N, -1)},
        {"X": kernels.Rows.dense(np.ones((N, D + 1)))},
    ]  # fmt: skip
    for wrong in spoiled:
        with pytest.raises(ValueError):  # noqa: PT011
            rule.binary(**{"k": 0} | call | wrong)
    for wrong in [{"y": beyond}, {"y": codes[:-1].copy()}, *spoiled[3:4], *spoiled[5:]]:
        with pytest.raises(ValueError):  # noqa: PT011
            rule.kesler(**call | {"y": codes} | wrong)
    for wrong in ([D], [-1], [2**62]):
        with pytest.raises(ValueError, match="leaves the features"):
            rule.learn_pairs(np.ones(1), np.array(wrong), 0, 1.0)
        with pytest.raises(ValueError, match="leaves the features"):
            rule.scores_pairs(np.ones(1), np.array(wrong), np.zeros(K))
    for code in (K, -1, 2**40):
        with pytest.raises(ValueError, match="does not exist"):
            rule.learn(np.ones(D), code, 1.0)
    with pytest.raises(ValueError, match="every feature"):
        rule.learn(np.ones(D + 1), 0, 1.0)
    with pytest.raises(ValueError, match="every vector"):
        rule.scores(np.ones(D), np.zeros(K - 1))
    with pytest.raises(ValueError, match="leaves the features"):
        rule.learn_dict({"a": 1.0}, {"a": D}, 0, 1.0)
    for at in (-1, K):
        with pytest.raises(ValueError, match="does not exist"):
            rule.score(np.ones(D), at)


def test_late_scores_refuse_what_leaves_their_rows():
    view, norm2 = kernels.Rows.dense(X), (X**2).sum(axis=1)
    kernel = {"kind": 2, "gamma": 0.1, "coef0": 0.0, "degree": 1, "one": 1.0, "screened": True}
    with pytest.raises(ValueError, match="every row"):
        kernels.LateScores(view, norm2[:-1], **kernel)
    with pytest.raises(TypeError):
        kernels.LateScores(view, norm2.astype(np.float32), **kernel)
    scores = kernels.LateScores(view, norm2, **kernel)
    scores.add(0, 1.0)
    for i in (-1, N):
        with pytest.raises(ValueError, match="does not exist"):
            scores.add(i, 1.0)
        with pytest.raises(ValueError, match="does not exist"):
            scores.exact(np.array([i]), np.zeros(1))
    for begin, end in ((-1, 3), (0, N + 1), (3, 2), (0, 0)):
        for question in (scores.next_mistake, scores.mistakes):
            with pytest.raises(ValueError, match="leave the rows"):
                question(SIGNS, begin, end, True)
    with pytest.raises(ValueError, match="every row"):
        scores.next_mistake(SIGNS[:-1], 0, 1, True)
    with pytest.raises(ValueError, match="every row"):
        scores.bounds(np.zeros(N), np.zeros(N - 1))


def test_late_scores_of_what_is_not_a_number_stay_inside_the_arrays():
    spoiled = np.where(rng.random((200, 3)) < 0.4, np.nan, rng.normal(size=(200, 3)))
    for kind in range(3):
        scores = kernels.LateScores(kernels.Rows.dense(spoiled), np.ones(200), kind, 0.5, 1.0, 2, 1.0, True)
        for i in range(20):
            scores.add(i, 1.0)
        scores.bounds(np.zeros(200), np.zeros(200))


def test_the_search_for_fewest_mistakes_refuses_what_leaves_its_rows():
    z = floats(6, 2)
    for wrong in (np.nan, np.inf):
        with pytest.raises(ValueError, match="finite"):
            kernels.MistakeTree(np.full((3, 2), wrong), False)
    for witness in ([6], [~6], [2**31 - 1]):
        with pytest.raises(ValueError, match="does not exist"):
            kernels.MistakeTree(z, False).start([witness], lambda codes: [])
        with pytest.raises(ValueError, match="does not exist"):
            kernels.MistakeTree(np.zeros((3, 2)), False).start([], lambda codes, witness=witness: witness)
    tree = kernels.MistakeTree(z, False)
    tree.start([], lambda codes: [])
    with pytest.raises(ValueError, match="has been started"):
        tree.start([], lambda codes: [])
    with pytest.raises(ValueError, match="every column"):
        tree.offer(1, np.ones(3))


def test_questions_about_no_columns_are_refused():
    empty, w = kernels.Rows.dense(np.empty((3, 0))), np.empty(0)
    signs = np.ones(3, dtype=np.int8)
    with pytest.raises(ValueError, match="at least one column"):
        kernels.decide(empty, signs, False, None, None, None, 0, w, np.zeros(1, dtype=np.int64), np.zeros(1))
    with pytest.raises(ValueError, match="at least one column"):
        kernels.zero_one_descent(empty, signs, False, w, w, w, WORD.copy(), 1, 10)
