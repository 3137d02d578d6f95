"""Certificates made to deceive: built from nothing, with the right fingerprint, for claims of every kind.

Each is a false statement, or breaks one hypothesis of one lemma of docs/certificates.md. All must be refused.
"""

from __future__ import annotations

import brute_force
import numpy as np
import pytest
from hard_sets import sealed, table_of

from separatrix import checker


def forged(X, y, claim, *, intercept=True, **fields):
    """A certificate of these data that says what it is told to."""
    classes = sorted({checker.label_name(t) for t in y.tolist()})
    data = {"n": len(X), "d": X.shape[1], "columns": None, "target": None, "classes": classes, "dropped": []}
    sides = {} if "kesler" in fields else {"positive": classes[1:], "negative": classes[:1]}
    head = {"format": checker.FORMAT, "claim": claim, "intercept": intercept}
    return sealed({**head, "data": data, **sides, **fields}, X, y)


def accepted(content, X, y):
    try:
        checker.check(content, table_of(X, y, content))
    except checker.Rejected:
        return False
    return True


def refused(X, y, claim, match, **fields):
    content = forged(X, y, claim, **fields)
    with pytest.raises(checker.Rejected, match=match):
        checker.check(content, table_of(X, y, content))


# Six rows on a line that 2.5 separates, and the same with two rows exchanged; four rows that nothing separates.
LINE, SORTED = np.arange(6.0)[:, None], np.repeat([0, 1], 3)
MIXED = np.array([0, 0, 1, 0, 1, 1])
XOR, SIDES = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])
TIED, EDGE = np.array([[0.0], [1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])  # quasi-complete
TWICE = np.column_stack([XOR, XOR[:, 0]])  # overlapping, and the first column is there twice

LAMBDA, ONES = "lambda", ["0x1"] * 4


@pytest.mark.parametrize(
    ("fields", "match"),
    [
        ({"support": [2, 3], LAMBDA: ["0x1", "0x1"]}, "sum to zero"),
        ({"support": [2, 3], LAMBDA: ["0x0", "0x0"]}, "not positive"),
        ({"support": [0, 1, 2], LAMBDA: ["0x1", "-0x2", "0x1"]}, "not positive"),
        ({"support": [0, 1, 2]}, "not positive|not a circuit"),
        ({"support": [0, 1, 3, 4]}, "not a circuit"),
        ({"support": []}, "empty"),
        ({"support": [], LAMBDA: []}, "empty"),
        ({"support": [2, 2], LAMBDA: ["0x1", "-0x1"]}, "repeated"),
        ({"support": [2, -4], LAMBDA: ["0x1", "0x1"]}, "does not exist"),
        ({"support": [2, 6], LAMBDA: ["0x1", "0x1"]}, "does not exist"),
        ({"support": [True, 2], LAMBDA: ["0x1", "0x1"]}, "not a number"),
        ({"support": [2.0, 3], LAMBDA: ["0x1", "0x1"]}, "not a number"),
        ({"support": [[2, 1]], LAMBDA: ["0x1"]}, "does not exist"),
        ({"support": {"2": 1}}, "list of rows"),
        ({"support": [2, 3], LAMBDA: ["0x1"]}, "list of 2 numbers"),
        ({"support": [2, 3], LAMBDA: {}}, "list of 2 numbers"),
        ({"support": [2, 3], LAMBDA: ["0x1", 1]}, "number is missing"),
        ({"support": [2, 3], LAMBDA: ["0x1", "0x1/0x0"]}, "denominator is zero"),
        ({"support": [2, 3], LAMBDA: ["0x1", "nan"]}, "not a number"),
        ({"support": [2, 3], LAMBDA: ["0x1", "0x_1"]}, "not a number"),
        ({"support": [2, 3], LAMBDA: ["0x1", "0x1/-0x1"]}, "not a number"),
        ({"support": [2, 3], LAMBDA: ["0x1", "１"]}, "not a number"),
    ],
)
@pytest.mark.parametrize("claim", ["not-complete", "quasi", "overlap", "coefficient-finite"])
def test_separable_rows_have_no_circulation(claim, fields, match):
    """L2, and the claims that rest on it."""
    more = {"w": ["0x1", "-0x5/0x2"], "coefficient": 0, "rows": [0, 1], "c": ["0x1", "-0x1"]}
    refused(LINE, SORTED, claim, match if claim != "coefficient-finite" else ".", **{**more, **fields})


@pytest.mark.parametrize(
    ("w", "match"),
    [
        (["0x1", "0x0"], "strictly"),
        (["0x1", "-0x5/0x2"], "strictly"),
        (["0x0", "0x1"], "strictly"),
        (["0x0", "0x0"], "zero"),
        (["0x1"], "list of 2"),
        (["0x1", "0x1", "0x1"], "list of 2"),
        (["0x1p+1023", "-0x1p+1023"], "strictly"),
        (None, "list of 2"),
    ],
)
def test_mixed_rows_are_not_separated(w, match):
    """L3."""
    refused(LINE, MIXED, "complete", match, w=w)


def test_a_row_on_the_hyperplane_is_not_strictly_right():
    refused(TIED, EDGE, "complete", "strictly", w=["0x1", "-0x1"])
    refused(LINE, MIXED, "quasi", "wrong side", w=["0x1", "-0x3"], support=[1, 2, 3])
    refused(TWICE, SIDES, "quasi", "every row lies on", w=["0x1", "0x0", "-0x1", "0x0"], support=[0, 1, 2, 3])


@pytest.mark.parametrize(
    ("fields", "match"),
    [
        ({}, "does not span"),
        ({"null": [["0x1", "-0x1"]]}, "does not vanish"),
        ({"null": [["0x0", "0x0"]]}, "zero"),
        ({"null": [["0x0", "0x1"]] * 2}, "does not vanish"),
        ({"null": [["0x0", "0x1"]] * 3}, "too many"),
        ({"null": "0x1"}, "too many"),
        ({"support": [0, 1, 2, 3], LAMBDA: ONES}, "sum to zero"),
    ],
)
def test_quasi_complete_rows_do_not_overlap(fields, match):
    """L6: without a spanning witness Zw = 0 does not follow."""
    refused(TIED, EDGE, "overlap", match, **{"support": [1, 2], **fields})


def test_null_vectors_that_are_counted_twice_do_not_make_a_witness_span():
    """Rows of rank 1 and a null space of dimension 1, in three coordinates; the same null vector twice."""
    X = np.array([[1.0, 1.0], [1.0, 1.0], [2.0, 2.0], [0.0, 0.0]])
    y = np.array([0, 1, 1, 0])
    assert brute_force.verdict(X, np.where(y, 1, -1))[0] == "quasi"
    null = ["0x1", "-0x1", "0x0"]
    refused(X, y, "overlap", "does not span", support=[0, 1], null=[null])
    refused(X, y, "overlap", "does not span", support=[0, 1], null=[null, null])
    refused(X, y, "overlap", "does not span", support=[0, 1], null=[null, ["-0x2", "0x2", "0x0"]])


def test_a_second_witness_is_checked_like_the_first():
    true = {"support": [0, 1, 2, 3], LAMBDA: ONES}
    refused(XOR, SIDES, "overlap", "sum to zero", **true, witness={"support": [0, 1], LAMBDA: ["0x1", "0x1"]})
    refused(XOR, SIDES, "overlap", "empty", **true, witness={"support": []})
    refused(XOR, SIDES, "overlap", "malformed", **true, witness=[0, 1])
    assert accepted(forged(XOR, SIDES, "overlap", **true, witness={"support": [0, 1, 2, 3]}), XOR, SIDES)


@pytest.mark.parametrize(
    ("claim", "fields", "match"),
    [
        ("finite", {"rows": [0, 1], "c": ["-0x1", "0x1"]}, "outside the circulation"),
        ("finite", {"rows": [], "c": []}, "do not add up"),
        ("finite", {"rows": [1, 2], "c": ["0x1", "0x1"]}, "do not add up"),
        ("finite", {"rows": [1, 1], "c": ["0x1", "-0x1"]}, "repeated"),
        ("finite", {"rows": [1, 2], "c": ["0x0", "0x0"]}, "do not add up"),
        ("unidentifiable", {"v": ["0x1", "-0x1"]}, "does not vanish"),
        ("unidentifiable", {"v": ["0x0", "0x1"]}, "does not move"),
        ("unidentifiable", {"v": ["0x0", "0x0"]}, "does not move"),
        ("infinite", {"sign": -1, "w": ["0x1", "-0x1"], "rows": [0, 3], "mu": ["0x1", "0x1"]}, "that way"),
        ("infinite", {"sign": 1, "w": ["-0x1", "0x1"], "rows": [0, 3], "mu": ["0x1", "0x1"]}, "wrong side"),
        ("infinite", {"sign": 1, "w": ["0x1", "-0x1"], "rows": [0, 1], "mu": ["0x1", "-0x1"]}, "negative"),
        ("infinite", {"sign": 1, "w": ["0x1", "-0x1"], "rows": [0], "mu": ["0x1"]}, "do not add up"),
        ("infinite", {"sign": True, "w": ["0x1", "-0x1"], "rows": [0, 3], "mu": ["0x1", "0x1"]}, "neither 1"),
        ("infinite", {"sign": 0, "w": ["0x1", "-0x1"], "rows": [0, 3], "mu": ["0x1", "0x1"]}, "neither 1"),
        ("infinite", {"sign": 1.0, "w": ["0x1", "-0x1"], "rows": [0, 3], "mu": ["0x1", "0x1"]}, "neither 1"),
        ("undetermined", {"w1": ["0x1", "-0x1"], "w2": ["0x1", "-0x1"], "rows": [0, 3], "c": ["0x1"] * 2}, "both"),
        ("undetermined", {"w1": ["0x1", "-0x1"], "w2": ["-0x1", "0x1"], "rows": [0, 3], "c": ["0x1"] * 2}, "wrong"),
    ],
)
def test_the_wrong_fate_of_a_coefficient(claim, fields, match):
    """L7 to L10, on quasi-complete rows where the slope tends to +infinity."""
    fields = {"coefficient": 0, "support": [1, 2], **fields}
    refused(TIED, EDGE, f"coefficient-{claim}", match, **fields)
    assert brute_force.fate(TIED, 2 * EDGE - 1, True, 0) == "+inf"


@pytest.mark.parametrize("j", [-1, 2, 10**30, True, 0.0, "0", None, [0]])
def test_coefficients_that_do_not_exist(j):
    good = {"sign": 1, "w": ["0x1", "-0x1"], "rows": [0, 3], "mu": ["0x1", "0x1"], "support": [1, 2]}
    good |= {"c": ["0x1", "0x1"], "w1": ["0x1", "-0x1"], "w2": ["0x1", "-0x1"], "v": ["0x1", "0x1"]}
    assert accepted(forged(TIED, EDGE, "coefficient-infinite", coefficient=0, **good), TIED, EDGE)
    for fate in ("finite", "infinite", "undetermined", "unidentifiable"):
        refused(TIED, EDGE, f"coefficient-{fate}", "does not exist", coefficient=j, **good)


# -- the fewest mistakes ---------------------------------------------------------------------------------------

SPLIT = [{"split": 0, "wrong": 1, "right": 2}, {"pack": []}, {"pack": []}]


@pytest.mark.parametrize(
    ("fields", "match"),
    [
        ({"nodes": [{"pack": [], "over": -1}]}, "positive integer"),
        ({"nodes": [{"pack": [], "over": 0}]}, "positive integer"),
        ({"nodes": [{"pack": [], "over": True}]}, "positive integer"),
        ({"nodes": [{"pack": [], "over": 0.5}]}, "positive integer"),
        ({"nodes": [{"pack": []}]}, "fewer than"),
        ({"nodes": [{"pack": [], "weights": [5]}]}, "weights are missing"),
        ({"nodes": [{"pack": [0], "weights": [1]}]}, "does not exist"),
        ({"nodes": [{"pack": [-1]}], "witnesses": [[0, 1]]}, "."),
        ({"nodes": []}, "tree is missing"),
        ({"nodes": {"0": {"pack": []}}}, "tree is missing"),
        ({"nodes": [[]]}, "not an object"),
        ({"nodes": [{"split": 0, "wrong": 0, "right": 0}]}, "occurs twice"),
        ({"nodes": [{"split": 0, "wrong": 1, "right": 1}, {"pack": []}]}, "fewer than|occurs twice"),
        ({"nodes": SPLIT}, "fewer than"),
        ({"nodes": [{"split": 0, "wrong": -1, "right": -1}]}, "does not exist"),
        ({"nodes": [{"split": 6, "wrong": 1, "right": 2}]}, "does not exist"),
        ({"witnesses": [[2, 3]], "nodes": [{"pack": [0]}]}, "not a circuit"),
        ({"witnesses": [[]], "nodes": [{"pack": [0]}]}, "empty"),
        ({"witnesses": [{"support": [0], LAMBDA: ["0x0"]}], "nodes": [{"pack": [0]}]}, "not positive"),
        ({"witnesses": [{"support": [0, -1], LAMBDA: ONES[:2]}], "nodes": [{"pack": [0]}]}, "repeated"),
        ({"witnesses": [[0, -2, 2]], "nodes": [{"pack": [0]}]}, "does not apply"),
        ({"lower": 3}, "bounds"),
        ({"lower": True}, "whole numbers"),
        ({"lower": 1.0}, "whole numbers"),
        ({"lower": -1}, "bounds"),
        ({"upper": 1}, "bounds"),
        ({"wrong": [3], "upper": 1, "lower": 1}, "as the certificate says"),
        ({"wrong": [3, 4, 5], "upper": 3}, "as the certificate says"),
        ({"w": ["0x0", "0x0"]}, "zero"),
    ],
)
def test_mistakes_of_separable_rows(fields, match):
    """L11 to L13: no row of these has to be wrong."""
    base = {"lower": 2, "upper": 2, "w": ["0x1", "-0x9/0x2"], "wrong": [3, 4], "witnesses": [], "nodes": []}
    refused(LINE, SORTED, "min-errors", match, **{**base, **fields})


@pytest.mark.parametrize(
    ("nodes", "match"),
    [
        ([{"pack": [0, 1]}], "share a row"),
        ([{"pack": [0, 0]}], "share a row"),
        ([{"pack": [0, 1], "weights": [2, 2], "over": 2}], "share a row"),
        ([{"pack": [0, 1], "weights": [1, 1], "over": 2}], "fewer than"),
        ([{"pack": [0, 1], "weights": [1, -1], "over": 1}], "positive integer"),
        ([{"split": 2, "wrong": 1, "right": 2}, {"pack": [0]}, {"pack": [0]}], "does not apply"),
        ([{"split": 2, "wrong": 1, "right": 2}, {"pack": []}, {"pack": [0]}], "fewer than"),
        ([{"split": 3, "wrong": 1, "right": 2}, {"split": 3, "wrong": 2, "right": 3}], "twice"),
    ],
)
def test_two_mistakes_where_one_is_enough(nodes, match):
    """Rows 2 and 3 are exchanged: each witness has one of them, and one mistake covers both."""
    fields = {"lower": 2, "upper": 2, "w": ["0x1", "-0x9/0x2"], "wrong": [2, 4], "witnesses": [[1, 2, 3], [2, 3, 4]]}
    good = {**fields, "w": ["0x2", "-0x3"], "wrong": [3], "lower": 1, "upper": 1, "nodes": [{"pack": [0]}]}
    assert accepted(forged(LINE, MIXED, "min-errors", **good), LINE, MIXED)
    fields |= {"w": ["0x1", "-0x9/0x2"], "wrong": [2, 4]}
    refused(LINE, MIXED, "min-errors", match, **fields, nodes=nodes)


def test_a_zero_row_is_always_wrong_and_never_split_on():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 1])
    nodes = [{"split": 0, "wrong": 1, "right": 2}, {"pack": [0]}, {"pack": [1]}]
    fields = {"lower": 3, "upper": 3, "w": ["-0x1"], "wrong": [0, 1, 2], "witnesses": [[-1], [0]], "nodes": nodes}
    refused(X, y, "min-errors", "zero row", intercept=False, **fields)


# -- margins ---------------------------------------------------------------------------------------------------

WIDTH = {
    "w": ["0x2", "-0x5"],
    "m": "0x1",
    "lo2": "0x1/0x4",
    "support": [2, 3],
    LAMBDA: ["0x1", "0x1"],
    "hi2": "0x1/0x4",
}


@pytest.mark.parametrize(
    ("fields", "match"),
    [
        ({"lo2": "0x1/0x3"}, "lower bound"),
        ({"hi2": "0x1/0x5"}, "upper bound"),
        ({"hi2": "-0x1"}, "upper bound"),
        ({"lo2": "-0x1", "hi2": "0x1"}, "not positive"),
        ({"lo2": "0x0"}, "not positive"),
        ({"m": "0x0", "lo2": "0x1"}, "not positive"),
        ({"m": "-0x1"}, "not positive"),
        ({"m": "0x2", "lo2": "0x1"}, "nearer than m"),
        ({"w": ["0x0", "0x1"], "lo2": "0x100"}, "nearer than m"),
        ({"w": ["0x0", "0x0"]}, "zero"),
        ({"w": "0x1"}, "w is missing"),
        ({"support": [2], LAMBDA: ["0x1"], "hi2": "0x0"}, "lacks a class"),
        ({"support": [], LAMBDA: [], "hi2": "0x0"}, "not positive"),
        ({"support": [2, 3, 4], LAMBDA: ["0x1", "0x2", "-0x1"], "hi2": "0x0"}, "not positive"),
        ({"support": [2, 3], LAMBDA: ["0x0", "0x0"], "hi2": "0x0"}, "not positive"),
        ({"support": [3, 3], LAMBDA: ["0x1", "0x1"]}, "repeated"),
    ],
)
def test_margins(fields, match):
    """L15: the half-width is 1/2."""
    assert accepted(forged(LINE, SORTED, "margin", **WIDTH), LINE, SORTED)
    refused(LINE, SORTED, "margin", match, **{**WIDTH, **fields})


def test_a_half_width_is_no_lifted_margin():
    refused(LINE, SORTED, "margin-lifted", "lower bound", **WIDTH)
    refused(LINE, MIXED, "margin", "nearer than m", **WIDTH)


# -- claims that are only for two groups -----------------------------------------------------------------------


@pytest.mark.parametrize("claim", ["min-errors", "margin", "margin-lifted"])
def test_all_classes_at_once_have_neither_mistakes_nor_margins(claim):
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 2])
    fields = {**WIDTH, "w": ["0x1"] * 4, "lower": 0, "upper": 0, "wrong": [], "witnesses": [], "nodes": []}
    refused(X, y, claim, "two groups", kesler=["0", "1", "2"], **fields)


def test_comparisons_of_a_class_with_itself_do_not_exist():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 2])
    for key in ([0, 0], [0, 3], [0, -1], [3, 0], [0], [0, 1, 2], 0):
        refused(X, y, "not-complete", "exist|not a number", kesler=["0", "1", "2"], support=[key])


@pytest.mark.parametrize("claim", ["", "Complete", "proved", 1, None, ["complete"], {"complete": 1}])
def test_unknown_claims(claim):
    refused(LINE, SORTED, claim, "unknown claim", w=["0x2", "-0x5"])
