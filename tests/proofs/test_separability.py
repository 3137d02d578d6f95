"""Verdicts: the golden facts, the truths of real data, and brute force on thousands of small sets."""

from __future__ import annotations

import brute_force
import hard_sets
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from separatrix import separability, verify
from separatrix.errors import DataError, ParameterError
from separatrix.proofs.exact.simplex import Patience, alternative

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])


def proved(X, y, **options):
    found = separability(X, y, **options)
    assert verify(found.certificate, X, y)
    return found


# -- golden facts ---------------------------------------------------------------------------------


def test_the_witness_of_xor_is_its_four_points():
    found = proved(*XOR)
    assert found.verdict == "overlap"
    assert found.witness.tolist() == [0, 1, 2, 3]
    assert set(found.coefficients.values()) == {"finite"}


def test_without_an_intercept_the_origin_alone_is_a_witness():
    found = proved(*XOR, fit_intercept=False)
    assert found.verdict == "overlap"
    assert found.witness.tolist() == [0]


def test_iris():
    iris = load_iris()
    names = iris.target_names[iris.target]
    found = proved(iris.data, names, multiclass="ovr")
    assert [part.verdict for part in found.parts.values()] == ["complete", "overlap", "overlap"]
    pairs = proved(iris.data, names, multiclass="pairs")
    assert pairs["versicolor", "virginica"].verdict == "overlap"
    assert len(pairs["versicolor", "virginica"].witness) == 6
    assert pairs["setosa", "versicolor"].verdict == "complete"
    assert proved(iris.data, names, multiclass="kesler").verdict == "quasi"


@pytest.mark.parametrize("reading", ["binary64", "decimal"])
def test_breast_cancer_is_separable_and_its_first_ten_features_are_not(reading):
    cancer = load_breast_cancer()
    assert proved(cancer.data, cancer.target, reading=reading).verdict == "complete"
    ten = proved(cancer.data[:, :10], cancer.target, reading=reading)
    assert ten.verdict == "overlap"
    assert len(ten.witness) == 12


def test_standardised_breast_cancer():
    cancer = load_breast_cancer()
    Z = (cancer.data - cancer.data.mean(0)) / cancer.data.std(0)
    found = proved(Z, cancer.target)
    assert found.verdict == "complete"
    signs = np.where(cancer.target == 1, 1, -1)
    assert ((Z @ found.coef + found.intercept) * signs > 0).all()


def test_wine():
    wine = load_wine()
    assert proved(wine.data, wine.target, multiclass="ovr").verdict == "complete"


@pytest.mark.slow
def test_digits():
    digits = load_digits()
    for k in range(10):
        found = proved(digits.data, digits.target == k)
        assert found.verdict == ("quasi" if k >= 8 else "complete")
        assert len(found.strict_rows) == {8: 108, 9: 24}.get(k, 1797)


def test_ties_at_the_boundary():
    X, y = np.array([[1.0], [2], [3], [3], [4], [5]]), np.array([0, 0, 0, 1, 1, 1])
    found = proved(X, y)
    assert found.verdict == "quasi"
    assert found.strict_rows.tolist() == [0, 1, 4, 5]
    assert found.tied_rows.tolist() == [2, 3]
    assert dict(found.coefficients) == {"x0": "+inf", "intercept": "-inf"}


# -- real data, when they are there ---------------------------------------------------------------

TRUTHS = {
    "spambase.csv": ("spam", "overlap"),
    "banknote.csv": ("class", "overlap"),
    "breast_cancer.csv": ("malignant", "complete"),
    "endometrial.csv": ("HG", "quasi"),
    "spector.csv": ("GRADE", "overlap"),
    "titanic_numeric.csv": ("survived", "overlap"),
}


@pytest.mark.parametrize("reading", ["binary64", "decimal"])
def test_tables(real_files, reading):
    import pandas as pd

    for name, path in real_files(TRUTHS).items():
        frame = pd.read_csv(path)
        target, verdict = TRUTHS[name]
        found = proved(frame.drop(columns=target), frame[target], reading=reading)
        assert found.verdict == verdict, name
        if name == "endometrial.csv":
            assert dict(found.coefficients) == {"NV": "+inf", "PI": "finite", "EH": "finite", "intercept": "finite"}
            assert len(found.strict_rows) == 13
            for fate in found.coefficients.values():
                assert verify(fate.certificate, frame.drop(columns=target), frame[target])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "verdict", "strict"), [("a9a.svm", "quasi", 87), ("a9a_test.svm", "quasi", 49)])
def test_adult(real_data, name, verdict, strict):
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(real_data(name)))
    found = proved(X, y)
    assert (found.verdict, len(found.strict_rows)) == (verdict, strict)
    if name == "a9a.svm":
        fates = {j: found.coefficients[f"x{j}"] for j in (12, 88, 122, 11, 33)}
        assert fates == {12: "-inf", 88: "-inf", 122: "-inf", 11: "unidentifiable", 33: "unidentifiable"}
        assert verify(fates[12].certificate, X, y)
        assert verify(fates[11].certificate, X, y)


def test_more_columns_than_rows(real_files):
    from sklearn.datasets import load_svmlight_file

    for name, path in real_files(["sms_spam_bow.svm", "rcv1_small.svm", "rcv1_small_test.svm"]).items():
        X, y = load_svmlight_file(str(path))
        assert proved(X, y).verdict == "complete", name


# -- brute force ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_verdicts_and_partitions_equal_brute_force(seed):
    rng = np.random.default_rng(seed)
    for _ in range(150):
        X, y = hard_sets.small(rng)
        intercept, reading = bool(rng.integers(2)), ["binary64", "decimal"][rng.integers(2)]
        truth, strict = brute_force.verdict(X, y, intercept, reading == "decimal")
        found = proved(X, y, fit_intercept=intercept, reading=reading)
        assert found.verdict == truth, (X.tolist(), y.tolist(), intercept, reading)
        assert set(found.strict_rows.tolist()) == strict
        assert len(found.strict_rows) + len(found.tied_rows) == len(y)


@pytest.mark.parametrize("seed", range(3))
def test_numbers_from_the_smallest_to_the_largest_double(seed):
    rng = np.random.default_rng(50 + seed)
    for k in range(60):
        n, d = int(rng.integers(2, 9)), int(rng.integers(1, 4))
        X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-300, 300, (n, d) if k % 2 else d)
        if k % 5 == 0:
            X = rng.integers(-3, 4, (n, d)) * 5e-324
        elif k % 7 == 0:
            X = np.sign(X) * 1.7e308
        y = rng.choice([-1, 1], n)
        y[0] = -y[1]
        found = proved(X, y)
        assert found.verdict == brute_force.verdict(X, y)[0]
        for fate in found.coefficients.values():
            assert verify(fate.certificate, X, y)


def test_witnesses_are_minimal():
    rng = np.random.default_rng(5)
    for _ in range(60):
        X, y = hard_sets.small(rng)
        found = separability(X, y)
        for left_out in found.witness:
            rest = [i for i in found.witness if i != left_out]
            if rest:
                assert brute_force.verdict(X[rest], y[rest])[0] == "complete"


@pytest.mark.parametrize("form", ["float32", "csr", "fortran", "memory map", "frame", "csr int64"])
def test_every_form_of_the_data_gives_the_same_verdict(form, tmp_path):
    rng = np.random.default_rng(3)
    for _ in range(25):
        X, y = hard_sets.nasty(rng)
        X = X.astype(np.float32).astype(np.float64)
        expected = separability(X, y).verdict
        if form == "float32":
            given = X.astype(np.float32)
        elif form.startswith("csr"):
            given = sparse.csr_array(X)
            if form.endswith("int64"):
                given.indices, given.indptr = given.indices.astype(np.int64), given.indptr.astype(np.int64)
        elif form == "fortran":
            given = np.asfortranarray(X)
        elif form == "memory map":
            np.save(tmp_path / "X.npy", X)
            given = np.load(tmp_path / "X.npy", mmap_mode="r")
        else:
            import pandas as pd

            given = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
        before = X.copy()
        found = separability(given, y)
        assert found.verdict == expected
        assert verify(found.certificate, X, y)
        assert (before == X).all()


def test_scaling_and_shifting_columns_by_powers_of_two_changes_nothing():
    rng = np.random.default_rng(8)
    for _ in range(60):
        X, y = hard_sets.small(rng)
        X = np.round(X * 8) / 8
        moved = X * 2.0 ** rng.integers(-30, 31, X.shape[1])
        assert separability(X, y).verdict == separability(moved, y).verdict


def test_rows_of_weight_zero_do_not_count():
    X, y = np.array([[0.0], [1.0], [2.0], [-5.0]]), np.array([0, 0, 1, 1])
    weights = [1, 2, 0.5, 0]
    assert separability(X, y).verdict == "overlap"
    found = separability(X, y, sample_weight=weights)
    assert found.verdict == "complete"
    assert found.strict_rows.tolist() == [0, 1, 2]
    assert verify(found.certificate, X, y)
    assert found.certificate.content["data"]["dropped"] == [3]


# -- thousands of columns ----------------------------------------------------------------------------


@pytest.fixture
def wide():
    rng = np.random.default_rng(0)
    return rng.standard_normal((40, 1600)), rng.integers(0, 2, 40)


def test_independent_rows_are_always_separable(wide):
    X, y = wide
    found = proved(X, y)
    assert found.verdict == "complete"
    assert found.coefficients["x7"] == "unidentifiable"
    assert verify(found.coefficients["x7"].certificate, X, y)


def test_a_contradicted_row_is_tied_and_the_others_are_not(wide):
    X, y = wide
    X[1], y[0], y[1] = X[0], 0, 1
    found = proved(X, y)
    assert found.verdict == "quasi"
    assert found.tied_rows.tolist() == [0, 1] == found.witness.tolist()


def test_a_margin_of_one_rounding_error_is_still_a_margin(wide):
    """z_2 is -(z_3 + z_4 + z_5) but for rounding: hopeless in floating point, decided in integers."""
    X, y = wide
    y[2:6] = [0, 1, 1, 0]
    X[2] = X[3] + X[4] - X[5]
    exactly = np.round(X * 1024) / 1024
    exactly[2] = exactly[3] + exactly[4] - exactly[5]
    assert proved(exactly, y).verdict == "quasi"
    found = proved(X, y)
    assert found.verdict == "complete"


def test_all_rows_contradicted(wide):
    X, _ = wide
    found = proved(np.vstack([X, X]), np.repeat([0, 1], len(X)))
    assert found.verdict == "overlap"


def test_the_table_is_not_copied():
    import tracemalloc

    rng = np.random.default_rng(0)
    X = rng.standard_normal((200_000, 10))
    y = np.where(X @ rng.standard_normal(10) > 0, 1, -1)
    separability(X[:100], y[:100])
    tracemalloc.start()
    found = separability(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.verdict == "complete"
    assert peak < X.nbytes / 2


def test_hard_for_interior_points():
    """HiGHS' interior point method calls this set infeasible; it is separable."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((10_000, 20))
    w = rng.standard_normal(20)
    w /= np.linalg.norm(w)
    y = np.where(X @ w + 0.3 >= 0, 1, -1)
    X += np.outer(y * 1e-4, w)
    y[np.argsort(np.abs(X @ w + 0.3))[50]] *= -1
    assert separability(X, y).verdict == "complete"


# -- the result as people and programs see it -------------------------------------------------------


def test_how_it_reads():
    X, y = np.array([[1.0], [2], [3], [3], [4], [5]]), np.array([0, 0, 0, 1, 1, 1])
    text = str(separability(X, y))
    assert text.startswith("Separability: quasi-complete (proved)\n  4 of 6 rows can be separated strictly, 2 overlap")
    assert "x0 → +∞;  intercept → −∞" in text
    assert "proved" in separability(*XOR)._repr_html_()
    assert separability(*XOR).to_dict()["witness"] == [0, 1, 2, 3]


def test_bad_input():
    X, y = XOR
    with pytest.raises(ParameterError, match="reading"):
        separability(X, y, reading="hex")
    with pytest.raises(ParameterError, match="multiclass"):
        separability(X, [0, 1, 2, 2])
    with pytest.raises(ParameterError, match="multiclass"):
        separability(X, y, multiclass="all")
    with pytest.raises(DataError, match="one class"):
        separability(X, [1, 1, 1, 1])
    with pytest.raises(DataError, match="NaN at row 1"):
        separability([[1.0], [np.nan]], [0, 1])
    with pytest.raises(DataError, match="float32"):
        separability(X.astype(np.float32), y, reading="decimal")


# -- the long run -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_a_thousand_more_sets_each(seed):
    rng = np.random.default_rng(1000 + seed)
    for _ in range(500):
        X, y = hard_sets.small(rng)
        assert proved(X, y).verdict == brute_force.verdict(X, y)[0]
    for _ in range(500):
        assert proved(*hard_sets.nasty(rng)).verdict != "undecided"


def test_the_simplex_method_gives_up_when_its_patience_ends():
    rows = [[int(v) for v in row] for row in np.random.default_rng(0).integers(-9, 10, (40, 8))]
    weights, u = alternative(rows)
    assert (weights is None) != (u is None)
    assert alternative(rows, Patience(100)) == (None, None)
    assert alternative(rows, Patience(10**9)) == (weights, u)
