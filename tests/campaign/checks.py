"""What the package says about a case, held against the oracle. Every disagreement is an AssertionError."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from random import Random

import hull_oracle
import numpy as np
import oracle
from cases import make
from judge import Truth, parts_of

from separatrix import fewest_mistakes, margin, mistake_bound, separability, verify
from separatrix.proofs import Certificate

TIGHT = Fraction(1, 10**6)  # how wide a proved bracket may be, relatively


def classes_of(rng):
    return rng.choice([2] * 9 + [3, 3, 4])


def check_set(seed, tally):
    """One labelled set: verdict and coefficients always; margins, bounds and fewest mistakes each for a share."""
    rng = Random(-1 - seed)
    classes = classes_of(rng)
    case = make(seed, classes)
    tally[case.family] += 1
    truth = Truth(case)
    if classes > 2:
        check_multiclass(case, truth, rng.choice(case.constructions), tally)
        return
    check_verdict(case, truth, tally)
    whole = case.weights is None
    if whole and rng.random() < 0.35:
        check_margin(case, truth, rng.random() < 0.5, tally)
    if whole and rng.random() < 0.35:
        check_fewest(case, truth, rng.choice([None, None, 0, 1, 3]), tally)
    if case.reading == "binary64" and rng.random() < 0.35:
        check_mistake_bound(case, truth, rng, tally)


def accepted(certificate, case, truth, claim, tally, **also):
    """The checker accepts the certificate, and the oracle finds its claim true and as told."""
    content = json.loads(json.dumps(certificate.to_dict()))
    assert verify(Certificate(content), truth.table, truth.names)
    tally["certificates"] += 1
    assert certificate.claim == claim, (certificate.claim, claim)
    parts = parts_of(content)
    for part in parts:
        assert truth.holds(part), f"the certificate's claim is false: {part}"
        for name, value in also.items():
            assert part[name] == value, (name, part[name], value)


def check_two_groups(result, rows, ids, tally, K=None):
    """Verdict, Tucker's partition and witness of two groups; ``ids`` are the numbers of the rows."""
    strict = oracle.strict_rows(rows, K)
    truth = "complete" if len(strict) == len(rows) else "quasi" if strict else "overlap"
    assert result.verdict == truth, (result.verdict, truth, result.tried)
    assert result.strict_rows.tolist() == [ids[i] for i in strict]
    assert result.tied_rows.tolist() == [ids[i] for i in range(len(rows)) if i not in set(strict)]
    tally[truth] += 1
    assert (len(result.witness) == 0) == (truth == "complete")
    return truth


def check_verdict(case, truth, tally):
    result = separability(truth.table, truth.names, sample_weight=case.weights, **case.options())
    ids = case.used
    rows = truth.rows(ids)
    K = oracle.cone(rows)
    verdict = check_two_groups(result, rows, ids, tally, K)
    if verdict != "complete":
        assert oracle.is_minimal_witness([rows[ids.index(i)] for i in result.witness.tolist()]), result.witness
        tally["witnesses"] += 1
    accepted(result.certificate, case, truth, verdict, tally)
    assert verdict in json.dumps(result.to_dict())
    check_fates(result, oracle.fates(rows, K), case, truth, tally)
    assert str(result)


def check_fates(result, wanted, case, truth, tally):
    assert list(map(str, result.coefficients.values())) == wanted, (dict(result.coefficients), wanted)
    for j, fate in enumerate(result.coefficients.values()):
        tally[f"coefficient {fate}"] += 1
        claim = "coefficient-" + ("infinite" if fate.endswith("inf") else str(fate))
        sign = {"sign": 1 if fate == "+inf" else -1} if fate.endswith("inf") else {}
        accepted(fate.certificate, case, truth, claim, tally, coefficient=j, **sign)


def check_multiclass(case, truth, kind, tally):
    result = separability(truth.table, truth.names, multiclass=kind, sample_weight=case.weights, **case.options())
    tally[kind] += 1
    order = sorted(range(case.classes), key=lambda k: case.names[k])
    found = []
    if kind == "kesler":
        rank = {k: r for r, k in enumerate(order)}
        ids = case.used
        codes = [rank[case.y[i]] for i in ids]
        X = [case.X[i] for i in ids]
        rows, owners = oracle.kesler(X, codes, case.classes, case.intercept, case.reading)
        part = result["all"]
        K = oracle.cone(rows)
        found.append(check_two_groups(part, rows, [ids[i] for i, _ in owners], tally, K))
        if found[0] != "complete":
            chosen = [z for z, (i, _) in zip(rows, owners, strict=True) if ids[i] in part.witness]
            assert oracle.verdict(chosen) != "complete"
        check_fates(part, oracle.fates(rows, K), case, truth, tally)
    else:
        names = np.unique(case.labels).tolist()
        pairs = [(a, b) for s, a in enumerate(order) for b in order[s + 1 :]]
        groups = [([k], None) for k in order] if kind == "ovr" else [([b], [a]) for a, b in pairs]
        keys = names if kind == "ovr" else [(a, b) for s, a in enumerate(names) for b in names[s + 1 :]]
        assert list(result.parts) == keys
        for part, (plus, minus) in zip(result.parts.values(), groups, strict=True):
            ids = [i for i in case.used if case.y[i] in plus or minus is None or case.y[i] in minus]
            rows = truth.rows(ids, [1 if case.y[i] in plus else -1 for i in ids])
            found.append(check_two_groups(part, rows, ids, tally))
            if found[-1] != "complete":
                assert oracle.is_minimal_witness([rows[ids.index(i)] for i in part.witness.tolist()])
                tally["witnesses"] += 1
            accepted(part.certificate, case, truth, found[-1], tally)
    assert result.verdict == max(found, key=["complete", "quasi", "overlap"].index)
    accepted(result.certificate, case, truth, ", ".join(found), tally)
    assert str(result)


def squares(lower, upper):
    """Squares of the ends of a bracket of doubles; an infinite end is the largest double, which it is above."""
    return Fraction(lower) ** 2, math.inf if math.isinf(upper) else Fraction(upper) ** 2


def check_margin(case, truth, exact, tally):
    result = margin(truth.table, truth.names, exact=exact, **case.options())
    true2, verdict = truth.margin2(), truth.verdict
    assert result.verdict == verdict, (result.verdict, verdict)
    tally["margins"] += 1
    low2, high2 = squares(result.lower, result.upper)
    assert low2 <= true2 <= high2, (result.lower, result.upper, true2)
    if exact or verdict != "complete":
        assert result.squared == true2, (result.squared, true2)
        tally["exact margins"] += 1
    assert result.squared in (None, true2)
    if verdict == "complete":
        bracket = truth.bracket(result.certificate.to_dict())
        assert bracket[0] <= true2 <= bracket[1] <= bracket[0] * (1 + TIGHT) ** 2, "the bracket is wide"
    accepted(result.certificate, case, truth, "margin" if verdict == "complete" else verdict, tally)
    assert str(result)
    json.dumps(result.to_dict())


def check_fewest(case, truth, max_nodes, tally):
    result = fewest_mistakes(truth.table, truth.names, max_nodes=max_nodes, **case.options())
    fewest = truth.fewest()
    assert result.lower <= fewest <= result.upper == len(result.wrong), (result.lower, fewest, result.upper)
    assert max_nodes is not None or result.proved, "the bounds of a small set do not meet"
    right = sorted(set(range(len(case.y))) - set(result.wrong.tolist()))
    if right:
        assert oracle.verdict(truth.rows(right)) == "complete", "the rows that are not wrong cannot all be right"
    tally["fewest mistakes"] += 1
    accepted(result.certificate, case, truth, "min-errors", tally, lower=result.lower, upper=result.upper)
    assert str(result)


def check_mistake_bound(case, truth, rng, tally):
    """The lifted margin and the radius, and that no run of a perceptron in exact arithmetic exceeds the bound."""
    p = len(case.X[0]) + case.intercept
    unit = rng.random() < 0.2 and truth.tame and truth.no_zero_rows
    start = [float(rng.randint(-3, 3)) for _ in range(p)] if rng.random() < 0.3 else None
    options = {"normalize_rows": unit, "start": start, "sample_weight": case.weights, "fit_intercept": case.intercept}
    result = mistake_bound(truth.table, truth.names, **options)
    ids = case.used
    rows = truth.rows(ids)
    verdict = oracle.verdict(rows)
    assert result.verdict == verdict, (result.verdict, verdict)
    tally["mistake bounds"] += 1
    assert str(result)
    if verdict != "complete":
        assert result.bound == math.inf
        assert result.most is None
        accepted(result.certificate, case, truth, verdict, tally)
        return
    points = hull_oracle.unit_rows(rows) if unit else rows
    true2, radius2 = hull_oracle.nearest2(points), max(sum(q * q for q in z) for z in points)
    slack = Fraction(1, 1 << 200) if unit else Fraction(0)
    low2, high2 = squares(*result.margin)
    assert low2 <= true2 * (1 + slack), (result.margin, true2)
    assert true2 * (1 - slack) <= high2, (result.margin, true2)
    assert squares(0, result.radius)[1] >= radius2 * (1 - slack)
    steps = [Fraction(1 if case.weights is None else case.weights[i]) for i in ids]
    if start is None:
        exact = radius2 * max(steps) ** 2 / (true2 * min(steps) ** 2)
        assert result.most >= math.floor(exact * (1 - slack))
        assert unit or result.most <= exact * (1 + TIGHT) ** 2, (result.most, float(exact))
    if math.isfinite(result.bound):
        assert math.floor(result.bound) >= result.most
    if result.most <= 300:
        first = [Fraction(v) for v in start or [0] * p]
        order = rng.sample(range(len(ids)), len(ids))
        made = hull_oracle.perceptron_mistakes(points, steps, first, order, result.most)
        assert made <= result.most, f"a perceptron made more than {result.most} mistakes"
        tally["perceptron runs"] += 1
    if not unit:
        accepted(result.certificate, case, truth, "margin-lifted", tally)
