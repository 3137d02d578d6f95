"""A call of every kernel that is accepted, for tests that spoil one argument at a time."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from separatrix import kernels

N, D, K = 40, 19, 3
rng = np.random.default_rng(7)
X = rng.normal(size=(N, D)) * (rng.random((N, D)) < 0.6)
SIGNS = np.where(rng.random(N) < 0.5, 1, -1).astype(np.int8)
CODES = rng.integers(0, K, N)
WORD = np.array([5], dtype=np.uint64)
ORDER = rng.permutation(N)


def floats(*shape):
    return rng.normal(size=shape)


def whole(*numbers):
    return np.array(numbers, dtype=np.int64)


def every_layout():
    csr = sparse.csr_array(X)
    wide, narrow = csr.indices.astype(np.int64), csr.indices.astype(np.int32)
    start = csr.indptr
    return {
        "float64": kernels.Rows.dense(X),
        "float32": kernels.Rows.dense(X.astype(np.float32)),
        "short": kernels.Rows.dense(np.ascontiguousarray(X[:, :6])),
        "csr64": kernels.Rows.csr(csr.data, wide, start.astype(np.int64), D),
        "csr32": kernels.Rows.csr(csr.data.astype(np.float32), narrow, start.astype(np.int32), D),
    }


def calls(rows):
    """Accepted arguments of every kernel, by name, for these rows; arrays are made anew by the caller."""
    d = rows.d
    lifted, signs, steps = floats(d + 1), SIGNS, np.ones(N)
    perceptron = {"X": rows, "y": signs, "step": steps, "lifted": lifted, "bias": True, "zero_is_mistake": True}
    span = {"begin": 0, "end": N}
    blocks = {
        "rows": np.zeros(K, dtype=np.int64),
        "fill": np.zeros(K, dtype=np.int64),
        "weight": np.zeros(K),
        "mean": np.zeros((2, K, d)),
        "scatter": np.zeros((1, -(-d // 8) * 8, -(-d // 8) * 8)),
        "block": np.zeros((K, kernels.block_rows, d)),
        "block_weight": np.zeros((K, kernels.block_rows)),
    }
    kernel = {"kind": 2, "gamma": 0.1, "coef0": 1.0, "degree": 2}
    half = np.full(N, 0.5)
    signed, one = np.where(np.arange(N) % 2, 1.0, -1.0), np.ones(N)
    margin = {"y": signed, "cost": one, "z": half, "s": half, "t": half, "score": half}
    net = {"order": ORDER.copy(), "alpha": 0.1, "ridge": 0.1, "v": floats(N)}
    A = np.ascontiguousarray(X[:, :5] + 1)
    text = np.frombuffer(b"1 1:2.5 3:4 # x\n-1 2:0.125\n" * 3, dtype=np.uint8)
    hull = {
        "group": (np.arange(N) % 2).astype(np.int8),
        "start": whole(0, 1),
        "start_weights": np.ones(2),
        "c": 1.0,
        "zero": 1e-13,
        "max_steps": 500,
    }
    return {
        "scores": {"X": rows, "lifted": lifted, "out": floats(N)},
        "class_scores": {
            "X": rows,
            "coef": floats(2 * K, d),
            "intercept": floats(2 * K),
            "out": floats(N, K),
            "model": CODES % 2,
        },
        "norms2": {"X": rows, "out": floats(N)},
        "errors": {"X": rows, "y": signs, "lifted": lifted, "zero_is_mistake": True},
        "class_errors": {"X": rows, "code": CODES.copy(), "lifted": floats(K, d + 1), "tie_is_mistake": True},
        "words": {"out": np.zeros(3, dtype=np.uint64), "state": WORD.copy()},
        "shuffle": {"order": ORDER.copy(), "state": WORD.copy()},
        "perceptron_pass": perceptron
        | span
        | {"order": ORDER.copy(), "log": np.zeros(N, dtype=np.int64), "limit": N, "habit": np.zeros(N, dtype=np.int8)},
        "perceptron_restart": perceptron | {"log": np.zeros(9, dtype=np.int64), "begin": 0, "limit": 9, "budget": 200},
        "perceptron_worst": perceptron
        | {"log": np.zeros(9, dtype=np.int64), "norm": np.ones(N), "limit": 9, "budget": 200},
        "perceptron_any": perceptron
        | {
            "log": np.zeros(9, dtype=np.int64),
            "state": WORD.copy(),
            "found": np.zeros(N, dtype=np.int64),
            "limit": 9,
            "budget": 200,
        },
        "moments_add": {"X": rows, "targets": None, "code": CODES.copy(), "weights": np.ones(N)} | span | blocks,
        "moments_flush": blocks,
        "moments_merge": blocks
        | {f"other_{name}": blocks[name].copy() for name in ("rows", "weight", "mean", "scatter")},
        "residual_gradient": {
            "X": rows,
            "y": floats(N),
            "weights": np.ones(N),
            "high": floats(d + 1),
            "low": np.zeros(d + 1),
            "g_high": floats(d + 1),
            "g_low": floats(d + 1),
            "residuals": floats(N),
        },
        "augmented_defects": {
            "A": rows,
            "y": floats(N),
            "weights": np.ones(N),
            "x_high": floats(d),
            "x_low": np.zeros(d),
            "u_high": floats(N),
            "u_low": np.zeros(N),
            "f": floats(N),
            "g": floats(d),
        },
        "sum_parts": {"parts": floats(3, d), "out": np.empty(d)},
        "descent_pass": {
            "X": rows,
            "y": signs.astype(float),
            "weights": np.ones(N),
            "order": ORDER.copy(),
            "alpha": np.full(N // 4 + 2, 0.01),
            "loss": 2,
            "lifted": lifted,
            "factor": np.ones(1),
            "velocity": np.zeros(d + 1),
            "average": np.zeros(d + 1),
            "gradient": np.zeros(d + 1),
            "counts": whole(0, 0),
            "sums": np.zeros(2),
            "reach": np.ones(1),
            "columns": np.ones(d),
            "batch": 4,
            "l2": 0.1,
            "l1": 0.1,
            "momentum": 0.5,
            "bias": True,
        }
        | span,
        "mean_loss": {
            "X": rows,
            "y": signs.astype(float),
            "weights": np.ones(N),
            "loss": 2,
            "lifted": lifted,
            "g": floats(d + 1),
        },
        "decide": {
            "X": rows,
            "y": signs,
            "intercept": True,
            "active": ORDER.copy(),
            "extra": floats(2, d + 1),
            "basis": floats(d + 1, d),
            "seed": 3,
            "w": floats(d + 1),
            "support": np.zeros(d + 1, dtype=np.int64),
            "weights": floats(d + 1),
        },
        "exact_signs": {
            "X": rows,
            "y": signs,
            "intercept": True,
            "w": floats(2, d + 1),
            "active": ORDER.copy(),
            "sign": np.zeros(N, dtype=np.int8),
        },
        "bounded_scores": {"X": rows, "lifted": lifted, "score": floats(N), "bound": floats(N)},
        "opposites": {"X": rows, "y": signs, "partner": np.zeros(N, dtype=np.int64)},
        "line_minimum": {"s": floats(N), "q": floats(N)},
        "zero_one_descent": {
            "X": rows,
            "y": signs,
            "intercept": True,
            "center": np.zeros(d),
            "scale": np.ones(d),
            "w": floats(d + 1),
            "state": WORD.copy(),
            "restarts": 2,
            "lines": 20,
        },
        "nearest_hulls": hull
        | {
            "A": A,
            "support": np.zeros(A.shape[1] + 2, dtype=np.int64),
            "weights": floats(A.shape[1] + 2),
            "v": floats(5),
        },
        "nearest_products": hull | {"K": A @ A.T, "support": np.zeros(N, dtype=np.int64), "weights": floats(N)},
        "voted_pass": perceptron
        | span
        | {
            "order": ORDER.copy(),
            "kept": np.zeros((4, d + 1)),
            "votes": np.zeros(4, dtype=np.int64),
            "born": np.zeros(4, dtype=np.int64),
            "account": whole(0, 0, 0, 0),
            "limit": N,
        },
        "votes": {"X": rows, "vectors": floats(4, d + 1), "counts": whole(1, 2, 3, 4), "out": floats(N)},
        "pocket_pass": perceptron
        | span
        | {
            "order": ORDER.copy(),
            "pocket": floats(d + 1),
            "error": np.full(1, 9.0),
            "weight": np.ones(N),
            "account": np.zeros(5, dtype=np.int64),
            "share": 1.0,
            "limit": N,
        },
        "pocket_count": {
            "X": rows,
            "y": signs,
            "lifted": lifted,
            "zero_is_mistake": True,
            "pocket": floats(d + 1),
            "error": np.full(1, 9.0),
            "weight": np.ones(N),
            "account": np.zeros(5, dtype=np.int64),
        },
        "kernel_column": {"X": rows, "norm2": np.ones(N), "i": 3, "out": floats(N)} | kernel,
        "kernel_scores": {
            "S": rows,
            "support_norm2": np.ones(N),
            "a": floats(2, N),
            "X": rows,
            "norm2": np.ones(N),
            "one": 1.0,
            "out": floats(N, 2),
        }
        | kernel,
        "kernel_update": {
            "X": rows,
            "norm2": np.ones(N),
            "row": ORDER[:5].copy(),
            "a": floats(5),
            "one": 1.0,
            "scores": floats(N),
        }
        | kernel
        | span,
        "first_mistake": {"s": floats(N), "y": signs, "order": ORDER.copy(), "zero_is_mistake": True} | span,
        "count_byte": {"text": text, "wanted": 10},
        "svmlight_chunk": {
            "text": text,
            "base": 1,
            "ends": np.zeros(6, dtype=np.int32),
            "indices": np.zeros(9, dtype=np.int32),
            "values": floats(9),
            "labels": floats(6),
        },
        "logistic_pass": {
            "X": rows,
            "y": signs,
            "weights": np.ones(N),
            "offset": np.zeros(N),
            "lifted": lifted,
            "gradient": np.zeros(d + 1),
            "curvature": floats(N),
            "wrong": floats(N),
        }
        | span,
        "curvature_product": {"X": rows, "curvature": np.ones(N), "v": floats(d + 1), "out": floats(d + 1)} | span,
        "curvature_diagonal": {"X": rows, "curvature": np.ones(N), "sums": floats(d + 1), "squares": floats(d + 1)}
        | span,
        "two_probabilities": {"scores": floats(N), "zero_is_second": True, "out": np.zeros((N, 2))},
        "class_probabilities": {
            "scores": np.zeros((K, N)),
            "shift": np.zeros(K),
            "codes": np.zeros(N, dtype=np.int64),
            "weights": np.ones(N),
            "P": np.zeros((K, N)),
            "residuals": np.zeros((K, N)),
            "wrong": floats(N),
            "losses": floats(N),
        },
        "rows_above": {"X": rows, "limits": np.ones(d), "out": np.zeros(N, dtype=np.int8)},
        "lasso_pass": net
        | {
            "Z": rows,
            "g": floats(N),
            "curvature": np.ones(N),
            "along": np.zeros(N),
            "moved": floats(d),
            "drift": np.zeros(1),
        },
        "curved_pass": net
        | {
            "X": rows,
            "h": np.ones(d),
            "g": floats(N),
            "curvature": np.ones(N),
            "along": np.zeros(N),
            "bent": floats(d),
            "drift": np.zeros(1),
        },
        "margin_system": margin | {"weight": floats(N), "right": floats(N)},
        "margin_predictor": margin | {"weight": np.ones(N), "moved": floats(N), "dz": floats(N)},
        "margin_corrector": margin
        | {"weight": np.ones(N), "dz": floats(N), "aim": 0.1, "low": floats(N), "high": floats(N), "right": floats(N)},
        "margin_direction": margin
        | {"weight": np.ones(N), "moved": floats(N), "dz": floats(N), "low": floats(N), "high": floats(N)},
        "hinge_pass": {
            "X": rows,
            "y": signs,
            "order": ORDER.copy(),
            "cost": np.ones(N),
            "curvature": np.ones(N),
            "rho": 1.0,
            "high": 1.0,
            "low": -1.0,
            "z": np.zeros(N),
            "w": np.zeros(d),
            "bias": np.zeros(1),
        },
        "gram_pass": net | {"A": np.eye(N), "slope": floats(N)},
        "weighted_sums": {"Z": rows, "order": ORDER.copy(), "h": np.ones(d), "first": floats(N), "second": floats(N)},
        "monomials": {
            "X": A,
            "products": whole((0, 0, 5, 5), (1, 1, 4, 10), (4, 9, 2, 14)),
            "out": np.zeros((N, 16)),
        },
        "combine": {"Z": rows, "order": ORDER.copy(), "v": floats(N), "out": floats(d)},
        "chosen_gram": {
            "X": rows,
            "h": np.ones(N),
            "place": np.where(np.arange(d) < 4, np.arange(d), -1),
            "sums": floats(4),
            "half": floats(16),
        }
        | span,
        "class_lasso_pass": {
            "X": rows,
            "order": rng.permutation(K * (N + 1)),
            "width": N + 1,
            "weights": np.ones(d),
            "P": np.full(K * d, 1 / K),
            "g": floats(K * (N + 1)),
            "curvature": np.ones(K * (N + 1)),
            "alpha": 0.1,
            "ridge": 0.1,
            "v": floats(K * (N + 1)),
            "U": floats(K * d),
            "mean": floats(d),
        },
    }


def own_copies(arguments):
    return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in arguments.items()}
