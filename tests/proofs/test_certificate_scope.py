"""What a certificate is about: bound to the data, said in the sentence, refused where it is about nothing."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pytest
from hard_sets import sealed, table_of

from second_checker import plain
from separatrix import checker, fewest_mistakes, margin, separability, verify
from separatrix.errors import CertificateError, DataError
from separatrix.proofs import Certificate

X3 = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 1.0], [4.0, 4.0], [5.0, 2.0]])
Y3 = np.array(["a", "b", "c", "a", "b", "c"])
FRAME = pd.DataFrame(X3, columns=["x", "size"])
TWO = np.array(["no", "no", "yes", "no", "yes", "yes"])

CLAIMS = [
    separability(X3, TWO).certificate,
    separability(X3, TWO).coefficients["x0"].certificate,
    fewest_mistakes(X3, TWO).certificate,
    margin(X3[:, :1], np.repeat(["no", "yes"], 3)).certificate,
]


def refused(certificate, X, y, match):
    with pytest.raises(CertificateError, match=match):
        verify(certificate, X, y)


def changed(certificate, data=(), **fields):
    content = copy.deepcopy(certificate.content)
    content["data"].update(data)
    return Certificate({**content, **fields})


def data_of(certificate):
    d = certificate.content["data"]["d"]
    return (X3, TWO) if d == 2 else (X3[:, :1], np.repeat(["no", "yes"], 3))


@pytest.mark.parametrize("certificate", CLAIMS, ids=lambda c: c.claim)
@pytest.mark.parametrize(
    ("fields", "match"),
    [
        ({"positive": ["no", "yes"], "negative": []}, "negative classes is missing or empty"),
        ({"positive": [], "negative": ["no", "yes"]}, "positive classes is missing or empty"),
        ({"positive": ["no", "yes"], "negative": None}, "a side has no rows"),
        ({"positive": ["yes"], "negative": ["yes"]}, "on both sides"),
        ({"positive": ["yes", "maybe"]}, "class 'maybe' has no rows"),
        ({"negative": ["no", "maybe"]}, "class 'maybe' has no rows"),
        ({"positive": ["yes", "yes"]}, "named twice"),
        ({"positive": "yes"}, "positive classes is missing"),
        ({"positive": [1]}, "not text"),
        ({"kesler": ["no", "yes"]}, "two sides and about all classes"),
        ({"intercept": 1}, "intercept"),
        ({"data": None}, "it does not say|malformed"),
    ],
)
def test_vacuous_sides_are_refused(certificate, fields, match):
    content = {**copy.deepcopy(certificate.content), **fields}
    refused(Certificate(content), *data_of(certificate), match)


@pytest.mark.parametrize("certificate", CLAIMS, ids=lambda c: c.claim)
@pytest.mark.parametrize(
    ("data", "match"),
    [
        ({"dropped": list(range(6))}, "has no rows"),
        ({"dropped": [0, 0]}, "repeated"),
        ({"dropped": [6]}, "does not exist"),
        ({"dropped": [-1]}, "does not exist"),
        ({"dropped": [True]}, "not a list of integers"),
        ({"dropped": None}, "not a list of integers"),
        ({"n": 5}, "other data"),
        ({"n": 7}, "other data"),
        ({"d": 3}, "it is about 3 columns"),
        ({"d": 0}, "positive integer"),
        ({"d": True}, "positive integer"),
        ({"columns": []}, "columns is missing or empty"),
        ({"columns": ["x", "x"]}, "named twice"),
        ({"columns": ["x", "y", "z"]}, "it names 3 columns"),
        ({"target": 7}, "target is not a name"),
        ({"classes": ["no", "yes", "maybe"]}, "other data: the classes are 'no', 'yes'"),
        ({"classes": ["yes", "no"]}, "other data"),
        ({"classes": []}, "classes is missing or empty"),
        ({"sha256": "0" * 64}, "other data"),
        ({"reading": "binary32"}, "reading"),
        ({"exponents": [0, 9]}, "other data"),
        ({"exponents": [1]}, "not two"),
        ({"exponents": "19"}, "not a list"),
        ({"decimals": [[0, 1]]}, "other data"),
        ({"sha256": None}, "other data"),
    ],
)
def test_the_table_is_as_described(certificate, data, match):
    refused(changed(certificate, data), *data_of(certificate), match)


def test_dropped_rows_are_named_in_the_sentence():
    weights = np.array([1.0, 1, 0, 1, 1, 0])
    found = separability(X3, TWO, sample_weight=weights)
    said = verify(found.certificate, X3, TWO)
    assert "4 of 6 rows, 2 dropped by the certificate (rows 2, 5)" in said
    refused(changed(found.certificate, {"dropped": [2]}), X3, TWO, "does not exist|strictly|sum|wrong|span|empty")


def test_classes_that_are_not_used_are_named_in_the_sentence():
    pairs = separability(X3, Y3, multiclass="pairs").certificate
    lines = verify(pairs, X3, Y3).splitlines()
    assert len(lines) == 3
    assert all("4 of 6 rows, none of class" in line for line in lines)
    assert "class 'b' against class 'a'; 4 of 6 rows, none of class 'c'" in lines[0]
    rest = verify(separability(X3, Y3, multiclass="ovr").certificate, X3, Y3).splitlines()
    assert "class 'a' against all other classes ('b', 'c'); all 6 rows" in rest[0]


def test_a_class_of_kesler_without_rows_is_refused():
    found = separability(X3, Y3, multiclass="kesler").parts["all"].certificate
    assert "classes 'a', 'b', 'c' at once" in verify(found, X3, Y3)
    for names, match in ((["a", "b", "c", "d"], "'d' has no rows"), (["a"], "one class only"), (["a", "a"], "twice")):
        refused(changed(found, kesler=names), X3, Y3, match)
    refused(changed(found, {"dropped": [0, 3]}), X3, Y3, "'a' has no rows")


@pytest.mark.parametrize("kind", ["ovr", "pairs", "kesler"])
def test_the_rows_of_all_classes_at_once_are_those_of_the_table(kind):
    weights = np.array([0.0, 1, 1, 1, 1, 1])
    found = separability(X3, Y3, multiclass=kind, sample_weight=weights)
    assert verify(found.certificate, X3, Y3)
    for part in found.parts.values():
        assert not {0} & {*part.witness.tolist(), *part.strict_rows.tolist(), *part.tied_rows.tolist()}


# -- columns and target ------------------------------------------------------------------------------------------


def test_columns_are_taken_by_name_and_others_are_named():
    found = separability(FRAME, TWO)
    assert "columns 'x', 'size'; class" in verify(found.certificate, FRAME, TWO)
    wide = FRAME.assign(extra=1.0)[["extra", "size", "x"]]
    assert "columns 'x', 'size' (not used: 'extra')" in verify(found.certificate, wide, TWO)
    refused(found.certificate, FRAME.rename(columns={"x": "z"}), TWO, "columns differ")
    refused(found.certificate, FRAME[["size", "x"]].set_axis(["x", "size"], axis=1), TWO, "other data")
    assert "2 columns without names, called 'x', 'size' by the certificate" in verify(found.certificate, X3, TWO)
    refused(found.certificate, X3[:, :1], TWO, "about 2 columns, and the table has 1")


def test_the_target_is_bound():
    found = separability(FRAME, TWO).certificate
    y = pd.Series(TWO, name="relapse")
    assert "target 'relapse'" in verify(found, FRAME, y)
    told = changed(found, {"target": "relapse"})
    sealed(told.content, X3, TWO)
    assert "; the labels given, called 'relapse' by the certificate;" in verify(told, FRAME, TWO)
    refused(told, FRAME, y.rename("other"), "target 'relapse', not 'other'")
    refused(changed(found, {"target": "x"}), FRAME, TWO, "target is one of the columns")
    refused(found, FRAME, y.rename("x"), "target is one of the columns")


def test_more_columns_than_the_table_has_are_refused():
    """With d too large, 'coefficient 1' would be that of a column that is not there, not the intercept."""
    X = X3[:, :1]
    found = separability(X, np.repeat(["no", "yes"], 3)).coefficients["x0"].certificate
    forged = changed(found, {"d": 2}, claim="coefficient-unidentifiable", coefficient=1, v=["0x0", "0x1", "0x0"])
    refused(forged, X, np.repeat(["no", "yes"], 3), "about 2 columns")


def test_coefficients_are_called_by_name():
    found = separability(FRAME, TWO)
    said = {name: verify(fate.certificate, FRAME, TWO) for name, fate in found.coefficients.items()}
    assert said["x"].startswith("the coefficient of 'x' ")
    assert said["intercept"].startswith("the intercept ")
    many = separability(FRAME, Y3, multiclass="kesler").parts["all"]
    j = list(many.coefficients)[1]
    assert "'size' for class 'a' against 'c'" in verify(many.coefficients[j].certificate, FRAME, Y3)


def test_control_characters_of_names_are_not_printed():
    y = np.where(TWO == "yes", "\x1b[31m", "\u202eno")
    said = verify(separability(FRAME.set_axis(["a\x9bz", "b"], axis=1), y).certificate, X3, y)
    assert said.isprintable()


# -- sentences -------------------------------------------------------------------------------------------------------


def test_intercept_and_reading_are_in_every_sentence():
    for intercept, reading in ((True, "binary64"), (False, "decimal")):
        said = verify(separability(X3, TWO, fit_intercept=intercept, reading=reading).certificate, X3, TWO)
        assert ("with an intercept" if intercept else "without an intercept") in said
        assert ("binary64" if intercept else "the decimals that they print as") in said


def test_a_row_on_the_hyperplane_counts_as_wrong_and_the_sentence_says_so():
    """sign(0) = +1 would get all three right: so 'every hyperplane gets one wrong' needs that said."""
    X, y = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, -1.0]]), np.array([1, 1, 0])
    said = verify(fewest_mistakes(X, y, fit_intercept=False).certificate, X, y)
    assert said.startswith("every hyperplane gets at least 1 of the 3 rows wrong")
    assert "(a row on the hyperplane counts as wrong)" in said
    told = verify(separability(X, y, fit_intercept=False).certificate, X, y)
    assert "no hyperplane has all of these 2 rows strictly on their correct sides: 0, 1" in told


def test_overlap_names_the_rows_of_the_witness():
    """The circulation that spans may have more rows than those that already rule separation out."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        X, y = rng.integers(-1, 2, (9, 3)).astype(float), rng.integers(0, 2, 9)
        if len(set(y.tolist())) < 2:
            continue
        found = separability(X, y)
        if found.verdict != "complete":
            k = len(found.witness)
            what = "this row" if k == 1 else f"all of these {k} rows"
            rows = ", ".join(map(str, found.witness.tolist()))
            assert f"no hyperplane has {what}" in verify(found.certificate, X, y)
            assert f": {rows} (rows count from 0)" in verify(found.certificate, X, y)


# -- bundles ---------------------------------------------------------------------------------------------------------


def test_bundles_share_one_table():
    bundle = separability(FRAME, Y3, multiclass="ovr").certificate
    assert set(bundle.content) == {"format", "data", "certificates"}
    refused(Certificate({**bundle.content, "certificates": []}), FRAME, Y3, "holds no certificates")
    refused(Certificate({**bundle.content, "certificates": None}), FRAME, Y3, "holds no certificates")
    refused(Certificate({**bundle.content, "certificates": [1]}), FRAME, Y3, "not a certificate")
    other = {**bundle.content["data"], "columns": ["size", "x"]}
    for own in ({"data": other}, {"data": bundle.content["data"]}, {"format": checker.FORMAT}):
        parts = [*bundle.content["certificates"][:2], {**bundle.content["certificates"][2], **own}]
        refused(Certificate({**bundle.content, "certificates": parts}), FRAME, Y3, "data of its own")
    first, second = separability(FRAME, TWO).certificate, separability(FRAME + 1, TWO).certificate
    with pytest.raises(CertificateError, match="same table"):
        Certificate.bundle([first, second])
    with pytest.raises(CertificateError, match="at least one"):
        Certificate.bundle([])
    lines = verify(Certificate.bundle([first, separability(FRAME, TWO, fit_intercept=False).certificate]), FRAME, TWO)
    assert [("without" in line) for line in lines.splitlines()] == [False, True]


def test_one_false_part_refuses_the_bundle():
    bundle = copy.deepcopy(separability(FRAME, Y3, multiclass="ovr").certificate.content)
    bundle["certificates"].append({**bundle["certificates"][0], "claim": "complete", "w": ["0x1", "0x0", "0x0"]})
    refused(Certificate(bundle), FRAME, Y3, "strictly")


@pytest.mark.parametrize("number", [1, 2, 4])
def test_other_formats_are_refused(number):
    form = f"separability-certificate/{number}"
    told = Certificate({**separability(X3, TWO).certificate.content, "format": form})
    refused(told, X3, TWO, f"^it is not a certificate of the format '{checker.FORMAT}': its format is '{form}'.$")


@pytest.mark.parametrize("content", [{}, {"format": []}, {"format": None}])
def test_what_has_no_format_is_refused(content):
    refused(Certificate(content), X3, TWO, "^it is not a certificate of the format 'separability-certificate/3'.$")


# -- labels and fingerprints -----------------------------------------------------------------------------------------


def test_labels_that_doubles_merge_are_refused():
    y = np.where(TWO == "yes", str(2**60), str(2**60 + 1))
    with pytest.raises(DataError, match=r"not below 2\^53"):
        separability(X3, y)
    for text, name in (("+1", "1"), ("1.0", "1"), ("-0", "0"), (" a ", "a"), ("1_0", "1_0"), ("nan", "nan")):
        assert checker.label_name(text) == name


def test_the_fingerprint_is_that_of_its_blocks():
    from scipy import sparse

    rng = np.random.default_rng(0)
    X = np.where(rng.random((9000, 4)) < 0.5, 0.0, rng.standard_normal((9000, 4)))
    X[0, 0] = -0.0
    y = rng.integers(0, 3, 9000)
    whole = hashes(X, y)
    assert whole == hashes(sparse.csr_array(X), y)
    assert whole == checker.leaves(plain(table_of(X, y)), range(3))
    top = checker.top_node(whole)
    cut = [slice(0, 4096), slice(4096, 8192), slice(8192, 9000)]
    blocks = [checker.block_digest(table_of(X[part], y[part]), range(3), part.start) for part in cut]
    told = {"n": 9000, "d": 4, "exponents": [0, 1]}
    assert checker.fingerprint(told, top) == checker.joined_fingerprint(told, blocks)
    assert checker.fingerprint(told, top) != checker.joined_fingerprint(told, blocks[::-1])
    assert checker.fingerprint({**told, "n": 9001}, top) != checker.fingerprint(told, top)


def hashes(X, y):
    return checker.leaves(table_of(X, y), range(len(set(y.tolist()))))


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("d", [1, 3, 30, 31, 62, 63, 130])
@pytest.mark.parametrize("n", [1, 7, 8, 9, 31, 4097])
def test_leaves_are_the_same_row_by_row_and_all_at_once(n, d, form):
    from scipy import sparse

    rng = np.random.default_rng(n * d)
    X = np.where(rng.random((n, d)) < rng.random((n, 1)), 0.0, rng.standard_normal((n, d)))
    X = X if form == "dense" else sparse.csr_array(X)
    y = np.arange(n) % 2
    assert hashes(X, y) == checker.leaves(plain(table_of(X, y)), range(2))


def test_a_fingerprint_worked_out_by_hand():
    """The rows (0, 2.5) of class 1 and (0, 0) of class 0: written out as the page says."""
    import hashlib
    import struct

    leaf = struct.pack("<Q", 0) + struct.pack("<QQdd", 1, 1, 0.0, 2.5) + struct.pack("<QQ", 0, 0)
    head = b'[2,2,null,null,["0","1"],"binary64",[1,2],null]'
    parts = [hashlib.sha256(part).digest() for part in (head, leaf)]
    expected = hashlib.sha256(struct.pack("<Q", 255 << 56) + b"".join(parts)).hexdigest()
    found = separability(np.array([[0.0, 2.5], [0.0, 0.0]]), np.array([1, 0])).certificate
    assert found.content["data"]["sha256"] == expected


def test_sparse_tables_keep_their_last_columns(tmp_path):
    """svmlight states the number of columns by its largest index only."""
    from scipy import sparse

    from separatrix.proofs.certificate.checkable_rows import put_svmlight

    X, y = sparse.csr_array(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])), np.array([0, 1])
    found = separability(X, y).certificate
    found.save(tmp_path / "c.json")
    with (tmp_path / "t.svm").open("w") as file:
        put_svmlight(file, X, ["0", "1"])
    assert checker.main([str(tmp_path / "c.json"), str(tmp_path / "t.svm")]) == 0
    (tmp_path / "u.svm").write_text("0 1:1\n1 2:1\n")
    assert checker.main([str(tmp_path / "c.json"), str(tmp_path / "u.svm")]) == 1


@pytest.mark.parametrize("zero", [None, 0.0, -0.0])
def test_the_fingerprint_of_rows_without_zeros(zero):
    """Blocks without zeros are hashed as one matrix; those with a zero, of either sign, take the other way."""
    X = np.random.default_rng(0).standard_normal((4100, 3)).astype(np.float32).astype(float)
    if zero is not None:
        X[7, 1] = zero
    codes = np.arange(len(X)) % 2
    wanted = checker.leaves(plain(table_of(X, codes)), range(2))
    for given in (X, np.asfortranarray(X), X.astype(np.float32), np.repeat(X, 2, axis=0)[::2]):
        assert hashes(given, codes) == wanted
