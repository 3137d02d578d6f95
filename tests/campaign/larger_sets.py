"""Sets of 11 to 40 parameters, with columns of very different size and contradicting copies, proved and checked twice.

No oracle of the campaign can follow so many columns. So every claim is held against both checkers, which share no
code with the package or with each other, and what is printed is held against what they accepted.
"""

from __future__ import annotations

import json
from random import Random

import numpy as np

from separatrix import checker, fewest_mistakes, margin, mistake_bound, separability, verify
from separatrix.errors import CertificateError
from separatrix.proofs import Certificate

FEWEST_NODES = 30  # cases of a search: both bounds are proved whenever it ends
FEW = 60  # rows of such a search: nearly dependent columns of more take minutes of exact arithmetic


def grid(rng, n, d):
    return rng.integers(-2, 3, (n, d)).astype(float)


def sparse_grid(rng, n, d):
    return grid(rng, n, d) * (rng.random((n, d)) < rng.choice([0.1, 0.3]))


def gaussian(rng, n, d):
    return rng.standard_normal((n, d))


def low_rank(rng, n, d):
    """Columns that depend on others, but for rounding errors."""
    r = int(rng.integers(2, d))
    return rng.standard_normal((n, r)) @ rng.standard_normal((r, d))


def summed(rng, n, d):
    """Columns that are sums of others, stored."""
    X = np.round(rng.standard_normal((n, d)), 2)
    X[:, -1] = X[:, : d // 2].sum(axis=1)
    X[:, -2] = X[:, 0] + 0.1 * X[:, 1]
    return X


def offset(rng, n, d):
    return 10.0 ** rng.integers(2, 12, d) + rng.integers(-3, 4, (n, d)) / 4


FAMILIES = [grid, sparse_grid, gaussian, low_rank, summed, offset]


def make_larger(seed):
    """(X, y, options) of a seed."""
    rng = np.random.default_rng([seed, 11])
    intercept = bool(rng.random() < 0.7)
    d = int(rng.integers(11, 41)) - intercept
    n = int(rng.integers(d // 2, 4 * d))
    build = FAMILIES[rng.integers(len(FAMILIES))]
    X = build(rng, n, d)
    w = rng.standard_normal(d)
    with np.errstate(all="ignore"):
        score = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1) @ w
    y = (score > np.median(score)).astype(int) if rng.random() < 0.7 else rng.integers(0, 2, n)
    wrong = int(rng.integers(0, 4)) if rng.random() < 0.5 else 0
    y[rng.integers(0, n, wrong)] ^= 1
    if rng.random() < 0.5:  # columns of very different size
        most = rng.choice([3, 9, 60])
        X = X * (
            10.0 ** rng.integers(-most, most + 1, d) if rng.random() < 0.7 else 2.0 ** rng.integers(-most, most, d)
        )
    if rng.random() < 0.5:  # copies that contradict their originals
        ids = rng.integers(0, n, int(rng.integers(1, 4)))
        X, y = np.vstack([X, X[ids]]), np.append(y, 1 - y[ids])
    if len(set(y.tolist())) < 2:
        y[0] ^= 1
    reading = "decimal" if rng.random() < 0.15 else "binary64"
    return build.__name__, np.ascontiguousarray(X), y, {"fit_intercept": intercept, "reading": reading}


def accepted(result, X, y, tally):
    """Both checkers accept the certificate as a file has it, and the sentence."""
    content = json.loads(json.dumps(result.certificate.to_dict()))
    tally["certificates"] += 1
    tally[f"claim {result.certificate.claim}"] += 1
    assert verify(Certificate(content), X, y)
    return content


def check_larger(seed, tally):
    """Verdict, witness and a few coefficients always; margins, bounds and fewest mistakes each for a share."""
    family, X, y, options = make_larger(seed)
    rng = Random(-1 - seed)
    tally[family] += 1
    tally[f"{(X.shape[1] + options['fit_intercept']) // 10}0 parameters and more"] += 1
    found = separability(X, y, **options)
    assert found.verdict != "undecided", found.tried
    tally[found.verdict] += 1
    content = accepted(found, X, y, tally)
    if found.verdict != "complete":
        support = content.get("witness", content)["support"]
        assert sorted(support) == found.witness.tolist(), "another witness is printed than was checked"
        assert set(y[found.witness].tolist()) == {0, 1} or not options["fit_intercept"]
    names = list(found.coefficients)
    for name in rng.sample(names, 2):
        try:
            fate = found.coefficients[name]
        except CertificateError as why:  # an honest answer, within the work that one coefficient may take
            if "is undecided; tried" not in str(why):
                raise
            tally["undecided coefficients"] += 1
        else:
            accepted(fate, X, y, tally)
    if found.verdict == "complete" and rng.random() < 0.3:
        accepted(margin(X, y, **options), X, y, tally)
        if options["reading"] == "binary64":
            accepted(mistake_bound(X, y, fit_intercept=options["fit_intercept"]), X, y, tally)
    if rng.random() < 0.3 and len(y) <= FEW:
        bracket = fewest_mistakes(X, y, max_nodes=FEWEST_NODES, **options)
        assert bracket.lower <= bracket.upper == len(bracket.wrong)
        assert (bracket.upper == 0) == (found.verdict == "complete")
        accepted(bracket, X, y, tally)


def both_checkers():
    """Have every check of this process made by the second checker too; node is started before memory is limited."""
    from second_checker import NODE, SecondChecker, agreeing

    if NODE is None:
        return
    second = SecondChecker()
    second.verify("", "", "none.csv")
    checker.check = agreeing(checker.check, second)


def show_larger(seed):
    """The case in a few words: make_larger(seed) has its rows."""
    family, X, _, options = make_larger(seed)
    return f"{family}, {X.shape[0]} x {X.shape[1]}, {options}"
