"""The door for X: what comes in, what is used in place, and what is refused in one sentence."""

from __future__ import annotations

from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from separatrix import Perceptron
from separatrix.errors import DataError, DataTypeError, RoundingWarning
from separatrix.validation import check_table

NUMBERS = {"age": [1.5, 2.0, 3.0], "count": [4, 5, 6], "flag": [True, False, True]}
EXPECTED = np.array([[1.5, 4, 1], [2, 5, 0], [3, 6, 1]])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arrays_in_order_are_used_in_place(dtype):
    X = np.ones((4, 3), dtype=dtype)
    assert check_table(X).X is X or np.shares_memory(check_table(X).X, X)
    read_only = X.copy()
    read_only.setflags(write=False)
    assert np.shares_memory(check_table(read_only).X, read_only)
    mapped = check_table(X[1:])
    assert np.shares_memory(mapped.X, X)


@pytest.mark.parametrize(
    "X",
    [
        np.asfortranarray(EXPECTED),
        np.repeat(EXPECTED, 2, axis=0)[::2],
        EXPECTED[:, ::-1][:, ::-1],
        EXPECTED.astype(">f8"),
        EXPECTED.astype(object),
        EXPECTED.tolist(),
        EXPECTED.astype(np.longdouble),
        np.ma.masked_array(EXPECTED),
    ],
    ids=["fortran", "strided", "reversed", "big-endian", "object", "list", "longdouble", "unmasked"],
)
def test_other_layouts_are_converted_to_the_same_numbers(X):
    out = check_table(X).X
    assert out.flags.c_contiguous
    assert out.dtype == np.float64
    assert np.array_equal(out, EXPECTED)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.bool_, np.float16])
def test_small_kinds_of_numbers_are_converted_exactly(dtype):
    X = np.array([[0, 1], [1, 0]], dtype=dtype)
    assert np.array_equal(check_table(X).X, X.astype(np.float64))


FRAMES = {
    "pandas": lambda: pd.DataFrame(NUMBERS),
    "pandas-arrow": lambda: pd.DataFrame(NUMBERS).convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda: pl.DataFrame(NUMBERS),
    "polars-lazy": lambda: pl.DataFrame(NUMBERS).lazy(),
    "pyarrow": lambda: pa.table(NUMBERS),
    "duckdb": lambda: duckdb.from_arrow(pa.table(NUMBERS)),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_of_all_kinds_keep_their_names(kind):
    table = check_table(FRAMES[kind]())
    assert table.names == ("age", "count", "flag")
    assert np.array_equal(table.X, EXPECTED)
    assert table.X.flags.c_contiguous


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_of_all_kinds_fit_and_predict_alike(kind):
    frame = FRAMES[kind]()
    model = Perceptron().fit(frame, ["no", "yes", "yes"])
    assert model.feature_names_in_.tolist() == ["age", "count", "flag"]
    assert (
        model.predict(FRAMES[kind]()).tolist()
        == Perceptron().fit(EXPECTED, ["no", "yes", "yes"]).predict(EXPECTED).tolist()
    )


def test_float32_frames_stay_float32():
    assert check_table(pl.DataFrame({"a": [1.0, 2.0]}, schema={"a": pl.Float32})).X.dtype == np.float32
    assert check_table(pd.DataFrame({"a": [1.0], "b": [2]}).astype({"a": np.float32})).X.dtype == np.float64


@pytest.mark.parametrize("kind", ["pandas", "pandas-nullable", "polars", "pyarrow", "duckdb"])
def test_a_missing_value_is_named_by_row_and_column(kind):
    columns = {"age": [30.0, None, 50.0], "size": [1, 2, 3]}
    frame = {
        "pandas": lambda: pd.DataFrame(columns),
        "pandas-nullable": lambda: pd.DataFrame(columns).convert_dtypes(),
        "polars": lambda: pl.DataFrame(columns),
        "pyarrow": lambda: pa.table(columns),
        "duckdb": lambda: duckdb.from_arrow(pa.table(columns)),
    }[kind]()
    with pytest.raises(DataError, match=r"X has a NaN at row 1, column 0 \('age'\)\. Drop the row or impute it"):
        check_table(frame)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "duckdb"])
def test_text_is_named_by_row_and_column(kind):
    columns = {"age": [30.0, 40.0], "ward": ["C7", "A1"]}
    frame = {
        "pandas": lambda: pd.DataFrame(columns),
        "polars": lambda: pl.DataFrame(columns),
        "pyarrow": lambda: pa.table(columns),
        "duckdb": lambda: duckdb.from_arrow(pa.table(columns)),
    }[kind]()
    with pytest.raises(DataTypeError, match=r"X has 'C7' at row 0, column 1 \('ward'\): not a number"):
        check_table(frame)


@pytest.mark.parametrize(
    "container", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.csc_matrix, sp.coo_array, sp.lil_array]
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, bool])
def test_sparse_containers_of_both_interfaces(container, dtype):
    X = np.array([[0, 2.5, 0], [1, 0, 0]]).astype(dtype)
    out = check_table(container(X)).X
    assert out.format == "csr"
    assert out.has_canonical_format
    assert out.dtype == (np.float32 if dtype is np.float32 else np.float64)
    assert np.array_equal(out.toarray(), X.astype(np.float64))


def test_canonical_csr_is_used_in_place_and_others_are_copied():
    X = sp.csr_array(np.eye(3))
    assert np.shares_memory(check_table(X).X.data, X.data)
    repeated = sp.csr_array((np.ones(4), [0, 0, 1, 2], [0, 2, 3, 4]), shape=(3, 3))
    out = check_table(repeated).X
    assert out.toarray().tolist() == [[2, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert len(repeated.data) == 4


def test_a_corrupt_sparse_matrix_is_refused():
    X = sp.csr_array(np.eye(3))
    X.indices = X.indices.copy()
    X.indices[1] = 7
    with pytest.raises(DataError, match=r"column indices leave 0 \.\. 2"):
        check_table(X)


@pytest.mark.parametrize(
    ("X", "error", "says"),
    [
        (np.ones(3), DataError, r"X has 1 dimension\(s\) and needs 2.*Reshape your data"),
        (np.ones((2, 2, 2)), DataError, r"X has 3 dimension\(s\)"),
        (5.0, DataError, r"X has 0 dimension\(s\)"),
        (np.empty((0, 3)), DataError, r"X has 0 sample\(s\)"),
        (np.empty((3, 0)), DataError, r"X has 0 feature\(s\)"),
        (pd.DataFrame({"a": []}), DataError, r"X has 0 sample\(s\)"),
        (pd.DataFrame(index=[1, 2]), DataError, "feature"),
        (sp.csr_array((0, 3)), DataError, r"X has 0 sample\(s\)"),
        ([[1, 2], [3]], DataError, "rows of different lengths"),
        ([[1.0, "a"]], DataTypeError, r"X has 'a' at row 0, column 1: not a number, text where a number belongs"),
        (np.array([[1 + 2j]]), DataError, "Complex data not supported"),
        (sp.csr_array(np.array([[1 + 2j]])), DataError, "Complex data not supported"),
        (np.array([[1.0, np.nan]]), DataError, "X has a NaN at row 0, column 1"),
        (np.array([[1.0], [-np.inf]]), DataError, "X has an infinity .* at row 1, column 0"),
        (sp.csr_array(np.array([[0, 1.0], [0, np.inf]])), DataError, "infinity .* at row 1, column 1"),
        (np.array([[{}, 1]], dtype=object), DataTypeError, "X has a dict at row 0, column 0"),
        (np.array([["2026-01-01"]], dtype="datetime64[D]"), DataError, "row 0, column 0"),
        (np.ma.masked_array([[1.0, 2.0]], mask=[[False, True]]), DataError, "masked at row 0, column 1"),
        (pd.Series([1.0, 2.0]), DataTypeError, "not a table with rows and columns"),
        (None, DataError, "X is a NoneType, not a table"),
        ({"a": [1.0, 2.0]}, DataError, "X is a dict, not a table.*pass an array"),
        ((row for row in [[1.0], [2.0]]), DataError, "X is a generator, not a table"),
        ("rows.csv", DataError, "dimension"),
        (pd.DataFrame({"a": [1.0], 5: [2.0]}), DataTypeError, "string names"),
    ],
)
def test_bad_input_gets_one_clear_error(X, error, says):
    with pytest.raises(error, match=f"(?s){says}"):
        check_table(X)


def test_huge_finite_numbers_are_not_called_infinite():
    X = np.array([[1e200, -1e300]])
    assert check_table(X).X is X


@pytest.mark.parametrize(
    "X",
    [
        np.array([[2**53 + 1, 3]]),
        np.array([[2**53 + 1, 3]], dtype=object),
        np.array([[2**64 - 1, 3]], dtype=np.uint64),
        np.array([[Fraction(1, 3), Fraction(3)]], dtype=object),
    ],
)
def test_numbers_of_more_than_53_bits_are_rounded_with_a_warning_at_the_callers_line(X):
    with pytest.warns(RoundingWarning, match=r"1 number with more than 53 bits \(integers beyond 2\*\*53") as caught:
        out = check_table(X).X
    assert caught[0].filename == __file__
    assert out.tolist() == [[float(X[0, 0]), 3.0]]


@pytest.mark.parametrize("X", [np.array([[2**54]]), np.array([[2**70]], dtype=object), np.array([[-(2**63)]])])
def test_integers_that_float64_holds_exactly_raise_no_warning(X):
    assert check_table(X).X[0, 0] == float(X[0, 0])


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, bool, np.longdouble])
@pytest.mark.parametrize("kind", ["unsorted", "repeated"])
@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix, sp.csc_array])
def test_sparse_matrices_are_never_modified(dtype, kind, container):
    columns = np.array([2, 0, 1, 1, 0]) if kind == "unsorted" else np.array([2, 2, 1, 1, 0])
    X = container((np.arange(1, 6).astype(dtype), columns, np.array([0, 2, 3, 5])), shape=(3, 3))
    before = [part.copy() for part in (X.data, X.indices, X.indptr)]
    dense = X.astype(np.float64).toarray()
    assert np.array_equal(check_table(X).X.toarray(), dense)
    Perceptron(max_iter=2).fit(X, [0, 1, 1]).predict(X)
    assert all(np.array_equal(a, b) for a, b in zip(before, (X.data, X.indices, X.indptr), strict=True))


@pytest.mark.parametrize(
    ("indices", "pointers"), [(np.int32, np.int64), (np.int64, np.int32), (np.uint32, np.int32), (">i4", ">i4")]
)
def test_indices_of_any_kind_are_accepted(indices, pointers):
    X = sp.csr_array(np.eye(3))
    X.indices, X.indptr = X.indices.astype(indices), X.indptr.astype(pointers)
    assert Perceptron().fit(X, [0, 1, 1]).score(np.eye(3), [0, 1, 1]) == 1


def test_a_sparse_matrix_with_too_few_pointers_is_refused():
    X = sp.csr_array(np.eye(3))
    X.indptr = X.indptr[:-1]
    with pytest.raises(DataError, match="row pointers"):
        check_table(X)


def test_frames_of_numbers_in_other_dress():
    from decimal import Decimal

    plain = np.array([[1.0, 0.0], [2.5, 3.0]])
    frame = pd.DataFrame(plain, columns=["a", "b"])
    for dressed in (
        frame.astype(object),
        pd.DataFrame.sparse.from_spmatrix(sp.csr_array(plain), columns=["a", "b"]),
        pl.DataFrame({"a": [Decimal("1.0"), Decimal("2.5")], "b": [Decimal("0"), Decimal("3")]}),
        pa.RecordBatch.from_pandas(frame),
    ):
        table = check_table(dressed)
        assert np.array_equal(table.X, plain)
        assert table.names == ("a", "b")


def test_subclasses_of_frames_are_frames():
    class Survey(pd.DataFrame):
        pass

    assert check_table(Survey({"age": [1.0], "size": [2.0]})).names == ("age", "size")


@pytest.mark.parametrize(
    "X", [pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), pa.table([[1.0], [2.0]], names=["a", "a"])]
)
def test_repeated_column_names_are_refused(X):
    with pytest.raises(DataError, match="several columns of one name"):
        check_table(X)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (10**400, "too large for float64"),
        (np.ones(1), "a ndarray at row 1, column 0"),
        (None, "a NaN at row 1, column 0"),
    ],
)
def test_objects_that_are_no_numbers_are_named(value, says):
    X = np.empty((2, 1), dtype=object)
    X[0, 0], X[1, 0] = 1.0, value
    with pytest.raises(DataError, match=says):
        check_table(X)
