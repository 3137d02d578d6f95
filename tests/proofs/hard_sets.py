"""Labelled sets that are hard on rounding: ties, duplicates, collinear columns, offsets, scales, tiny margins."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from separatrix import checker
from separatrix.proofs.certificate.checkable_rows import exact_table


def table_of(X, y, content=None):
    """Data as the checker takes them, in the reading of a certificate."""
    told = content.get("data") if isinstance(content, dict) else None
    reading = "decimal" if isinstance(told, dict) and told.get("reading") == "decimal" else "binary64"
    labels, codes = np.unique([checker.label_name(v) for v in np.asarray(y).tolist()], return_inverse=True)
    return exact_table(X, codes, labels.tolist(), reading)


def sealed(content, X, y):
    """Put the fingerprint of a forged or changed certificate right."""
    data = content["data"]
    data.setdefault("reading", content.pop("reading", "binary64"))
    table = table_of(X, y, content)
    data["exponents"] = table.spread()
    if (words := table.column_words()) is not None:
        data["decimals"] = words
    number = [data["classes"].index(name) for name in table.labels]
    data["sha256"] = checker.fingerprint(data, checker.top_node(checker.leaves(table, number)))
    return content


def small(rng):
    """A set that brute force can judge: at most 14 rows, 4 lifted columns, and both classes."""
    n, d = int(rng.integers(2, 13)), int(rng.integers(1, 4))
    kind = rng.integers(0, 8)
    X = rng.integers(-2, 3, (n, d)).astype(float)
    if kind == 1:
        X = np.round(rng.standard_normal((n, d)) * 4) / 4
    elif kind == 2:
        X = rng.standard_normal((n, d))
    elif kind == 3:
        X = X * 10.0 ** rng.integers(-6, 7, d)
    elif kind == 4:
        X = X + 10.0 ** rng.integers(3, 8)
    elif kind == 5:
        X = rng.integers(0, 10, (n, d)) / 10
    elif kind == 6 and d > 1:
        X[:, -1] = X[:, 0] * rng.integers(-2, 3) + rng.integers(-1, 2)
    elif kind == 7:
        X = rng.integers(0, 2, (n, d)).astype(float)
    w, b = rng.standard_normal(d), rng.standard_normal()
    how = rng.integers(0, 4)
    y = np.where((X - X.mean(0)) @ (w / np.maximum(X.std(0), 1e-12)) + b >= 0, 1, -1)
    if how == 1:
        y[rng.integers(n)] *= -1
    elif how == 2:
        y = rng.choice([-1, 1], n)
    if how == 3 and n > 2:
        i, j = rng.integers(n, size=2)
        X[i] = X[j]
    if abs(y.sum()) == n:
        y[0] = -y[0]
    return X, y


def nasty(rng):
    """A larger set near the edge of double precision; its verdict is known only by its certificate."""
    n, d = int(rng.integers(20, 400)), int(rng.integers(1, 12))
    kind = rng.integers(0, 8)
    X = rng.standard_normal((n, d))
    if kind == 1:
        X = X * 10.0 ** rng.uniform(-6, 6, d)
    elif kind == 2:
        X = X @ (rng.standard_normal((d, d)) * 10.0 ** rng.uniform(-4, 0, d))
    elif kind == 3:
        X = rng.standard_cauchy((n, d))
    elif kind == 4:
        X = np.exp(2 * X)
    elif kind == 5:
        X = X + 10.0 ** rng.uniform(0, 7) * rng.standard_normal(d)
    elif kind == 6:
        X = np.round(X * 4) / 4
    elif kind == 7:
        X = (X > 0.5).astype(float)
    sd = np.where(X.std(0) > 0, X.std(0), 1.0)
    w = rng.standard_normal(d) / sd
    s = X @ w - X.mean(0) @ w + 0.3 * rng.standard_normal()
    y = np.where(s >= 0, 1, -1)
    if rng.random() < 0.5:
        X = X + np.outer(y * 10.0 ** rng.uniform(-9, -1) * s.std(), w / (w @ w))
    q = rng.random()
    if q < 0.3:
        y[np.argsort(np.abs(s))[rng.integers(0, max(1, n // 20))]] *= -1
    elif q < 0.5:
        y[rng.random(n) < rng.choice([0.002, 0.02, 0.1])] *= -1
    if abs(y.sum()) == n:
        y[0] = -y[0]
    return X, y


def noisy(n, d, share, seed=0):
    """Standard normal rows, labels by a hyperplane, a share of them flipped."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(X @ rng.standard_normal(d) > 0, 1, -1)
    y[rng.choice(n, round(share * n), replace=False)] *= -1
    return X, y


def contradicted(d, seed):
    """Each row once in each class; the last column is nearly a combination of the others, and far larger."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-(10**9), 10**9, (int(rng.integers(d + 1, 2 * d)), d)).astype(float)
    X[:, -1] = np.rint(X[:, :-1] @ (rng.integers(-100, 101, d - 1) / 7))
    order, y = rng.permutation(len(X)), rng.integers(0, 2, len(X))
    return np.vstack([X, X[order]]), np.concatenate([y, 1 - y[order]])


def extreme(rng):
    """A few rows whose numbers are as large, or as small, as doubles get."""
    n, d = int(rng.integers(2, 8)), int(rng.integers(1, 4))
    powers = [308, 307.9] if rng.random() < 0.5 else [308, 300, 200, 0, -200, -300, -308, -320]
    X = np.clip(rng.standard_normal((n, d)), -1.79, 1.79) * 10.0 ** rng.choice(powers, (n, d))
    y = rng.integers(0, 2, n)
    y[0], y[-1] = 0, 1
    return X, y


def keywords(n, d, seed, *, density=12, share=0.03, contradicted=40, dependent=0.1, chain=0):
    """Sparse rows of 0 and 1 as keywords give them.

    A few columns are common and most are rare, so that many occur in one class only; a third of the rows repeat others,
    some with the other label; some columns repeat others or their opposites; and each of ``chain`` columns links two
    rows of different classes.
    """
    rng = np.random.default_rng(seed)
    base = d - chain - int(dependent * d)
    often = rng.permutation(1 / (1 + np.arange(base)) ** 1.1)
    often = np.minimum(often * density / often.sum(), 0.6)
    where = [rng.choice(n, rng.binomial(n, share_of), replace=False) for share_of in often]
    X = sparse.csc_array(
        (np.ones(sum(map(len, where))), np.concatenate(where), np.cumsum([0, *map(len, where)])), shape=(n, base)
    ).tocsr()
    score = X @ rng.standard_normal(base) + 0.5 * rng.standard_normal(n)
    y = np.where(score > np.quantile(score, 1 - share), 1, -1)
    source = np.arange(n)
    source[rng.choice(n, n // 3, replace=False)] = rng.integers(0, n, n // 3)
    X, y = X[source], y[source]
    source, copies = np.arange(n), rng.choice(n, contradicted, replace=False)
    source[copies] = rng.choice(np.setdiff1d(np.arange(n), copies), contradicted, replace=False)
    X, y = X[source], y[source]
    y[copies] = -y[copies]
    links = rng.choice(n, chain + 1, replace=False)
    y[links] = np.where(np.arange(chain + 1) % 2, 1, -1)
    at = np.arange(chain)
    linked = sparse.csr_array(
        (np.ones(2 * chain), (np.concatenate([links[:-1], links[1:]]), np.concatenate([at, at]))), shape=(n, chain)
    )
    X = sparse.hstack([X, linked], format="csc")
    copied = rng.integers(0, X.shape[1], d - X.shape[1])
    parts = [X[:, [j]] if rng.random() < 0.5 else sparse.csc_array(1 - X[:, [j]].toarray()) for j in copied]
    return sparse.csr_array(sparse.hstack([X, *parts], format="csr")), y


def nested(depth, copies, seed, values=2):
    """Circuits that close only one after another.

    Each pair of rows cancels in its own column and leaves numbers in the columns before, whose pairs have to cancel
    them; beside them as many columns in which rows are strictly separated.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(depth):
        for sign in (1, -1):
            row = np.zeros(2 * depth)
            row[k] = sign
            row[:k] = rng.integers(-values, values + 1, k) * (rng.random(k) < 4 / max(k, 1))
            rows.append(row)
    for k in range(copies):
        row = np.zeros(2 * depth)
        row[:depth] = rng.integers(-values, values + 1, depth)
        row[depth + k % depth] = rng.integers(1, 4)
        rows.append(row)
    Z = np.array(rows)[rng.permutation(len(rows))]
    y = rng.choice([-1, 1], len(Z))
    return Z * y[:, None], y


def ladder(depth, seed):
    """Rows that are separated by weights that double from column to column, and two that contradict each other."""
    rng = np.random.default_rng(seed)
    Z = np.eye(depth) - np.tril(np.ones((depth, depth)), -1)
    Z = np.vstack([Z, np.eye(depth)[:1], np.zeros((2, depth))])
    Z = np.column_stack([Z, np.zeros(len(Z))])
    Z[-2, -1], Z[-1, -1] = 1, -1
    y = rng.choice([-1, 1], len(Z))
    order = rng.permutation(len(Z))
    return (Z * y[:, None])[order], y[order]


def rounded_product(n, d, rank, seed):
    """A product of low rank but for rounding errors, and labels of a hyperplane, some of them flipped."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d)) * 10.0 ** rng.integers(-4, 5, d)
    y = np.where(X @ rng.standard_normal(d) > 0, 1, -1)
    y[rng.random(n) < 0.02] *= -1
    return X, y


def texts(n, d, contradicted, seed):
    """Word counts of short texts, more words than texts; some texts occur with both labels."""
    rng = np.random.default_rng(seed)
    often = 1 / (1 + np.arange(d))
    lengths = np.maximum(3, rng.lognormal(3.2, 0.8, n).astype(int))
    words = rng.choice(d, lengths.sum(), p=often / often.sum())
    X = sparse.csr_array((np.ones(len(words)), (np.repeat(np.arange(n), lengths), words)), shape=(n, d))
    y = np.where(X @ rng.standard_normal(d) > 0, 1, -1)
    source = np.arange(n)
    chosen = rng.choice(n, 2 * contradicted, replace=False)
    source[chosen[:contradicted]] = chosen[contradicted:]
    X, y = X[source], y[source]
    y[chosen[:contradicted]] *= -1
    return X, y
