"""Sources: whatever the file looks like, the same table comes out, or one clear sentence."""

from __future__ import annotations

import gzip
import io
import json

import numpy as np
import pytest

from separatrix import separability
from separatrix.data.examples import EXAMPLES, load_example
from separatrix.data.examples import SHAPES as LISTED
from separatrix.data.reading_plan import Reading
from separatrix.data.row_files import Matrix
from separatrix.data.sources import open_source
from separatrix.errors import DataError

PLAIN = "age,ward,ok,day,label\n31.5,A,true,2026-01-02,yes\n,B,false,2026-01-03,no\n40,,true,,yes\n"


def read(text, name="t.csv", folder=None, reading=None):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return open_source(str(path), reading).read()


def same(a, b):
    assert a.names == b.names
    assert [c.kind for c in a.columns] == [c.kind for c in b.columns]
    for one, two in zip(a.columns, b.columns, strict=True):
        if one.kind == "text":
            assert one.values.tolist() == two.values.tolist()
        else:
            assert np.array_equal(one.values, two.values, equal_nan=True)


def test_kinds_and_missing_values(tmp_path):
    frame = read(PLAIN, folder=tmp_path)
    assert [(c.name, c.kind) for c in frame.columns] == [
        ("age", "number"),
        ("ward", "text"),
        ("ok", "text"),
        ("day", "date"),
        ("label", "text"),
    ]
    assert np.array_equal(frame["age"].values, [31.5, np.nan, 40], equal_nan=True)
    assert frame["ward"].values.tolist() == ["A", "B", None]
    assert frame["ok"].values.tolist() == ["true", "false", "true"]
    assert frame["label"].values.tolist() == ["yes", "no", "yes"]
    assert frame["day"].values[0] == 1767312000
    assert frame["ok"].missing.sum() == 0
    assert frame["ward"].missing.tolist() == [False, False, True]


@pytest.mark.parametrize(
    "changed",
    [
        b"\xef\xbb\xbf" + PLAIN.encode(),
        PLAIN.replace("\n", "\r\n").encode(),
        PLAIN.encode("utf-16"),
        PLAIN.replace(",", ";").encode(),
        PLAIN.replace(",", "\t").encode(),
        PLAIN.replace(",", "|").encode(),
        gzip.compress(PLAIN.encode()),
        PLAIN.rstrip("\n").encode(),
        PLAIN.replace("31.5", '"31.5"').replace("A", '"A"').encode(),
        PLAIN.replace(",", ";").replace("31.5", "31,5").encode(),
    ],
    ids=["bom", "crlf", "utf-16", "semicolon", "tab", "bar", "gzip", "no-newline", "quotes", "decimal-comma"],
)
def test_habits_of_delimited_text_do_not_matter(changed, tmp_path):
    same(read(changed, "changed.csv", tmp_path), read(PLAIN, folder=tmp_path))


def test_parquet_and_json_give_what_csv_gives(tmp_path):
    import duckdb

    table = read(PLAIN, folder=tmp_path)
    source = f"read_csv('{tmp_path / 't.csv'}', types={{'ok': 'VARCHAR', 'label': 'VARCHAR'}})"
    duckdb.execute(f"COPY (FROM {source}) TO '{tmp_path / 't.parquet'}'")
    same(open_source(str(tmp_path / "t.parquet")).read(), table)
    same(open_source(f"SELECT * FROM '{tmp_path}/t.parquet'").read(), table)
    rows = [
        {"age": 31.5, "ward": "A", "ok": "true", "day": "2026-01-02", "label": "yes"},
        {"age": None, "ward": "B", "ok": "false", "day": "2026-01-03", "label": "no"},
        {"age": 40.0, "ward": None, "ok": "true", "day": None, "label": "yes"},
    ]
    same(read(json.dumps(rows), "t.json", tmp_path), table)
    same(read("\n".join(map(json.dumps, rows)), "t.jsonl", tmp_path), table)


def test_a_glob_joins_files_in_order(tmp_path):
    read("x,y\n1,0\n2,1\n", "a.csv", tmp_path)
    read("x,y\n3,0\n", "b.csv", tmp_path)
    frame = open_source(str(tmp_path / "*.csv")).read()
    assert frame["x"].values.tolist() == [1, 2, 3]


def test_order_and_values_of_many_batches(tmp_path):
    n = 200_000
    x = np.random.default_rng(1).normal(size=n)
    lines = "\n".join(f"{i},{v!r},g{i % 7}" for i, v in enumerate(x.tolist()))
    frame = read("i,x,g\n" + lines + "\n", folder=tmp_path)
    assert np.array_equal(frame["i"].values, np.arange(n))
    assert np.array_equal(frame["x"].values, x)
    assert frame["g"].values[[0, 1, n - 1]].tolist() == ["g0", "g1", f"g{(n - 1) % 7}"]


def test_a_cell_that_breaks_the_plan_is_named_left_out_or_called_missing(tmp_path):
    """The first megabyte decides; the words of later rows do not change what a column is."""
    cells = ["many" if i == 200_000 else str(i) for i in range(210_000)]
    text = "a,x\n" + "\n".join(f"1,{v}" for v in cells) + "\n"
    with pytest.raises(DataError, match=r"t.csv line 200002: 'x' is 'many', not a number like those above it"):
        read(text, folder=tmp_path)
    for reading, n in (
        (Reading(na=("many",)), 210_000),
        (Reading(broken="missing"), 210_000),
        (Reading(broken="skip"), 209_999),
    ):
        source = open_source(str(tmp_path / "t.csv"), reading)
        frame = source.read()
        assert (frame.n, frame["x"].kind, frame["x"].missing.sum()) == (n, "integer", n - 209_999)
        said = {"missing": "cells called missing: 1 of 'x' (line 200,002", "skip": "1 row left out (line 200,002"}
        assert said.get(reading.broken, "") in " ".join(source.notes)
    words = open_source(str(tmp_path / "t.csv"), Reading().with_text(["x"])).read()
    assert words["x"].values[200_000] == "many"


def test_quotes_that_are_letters_and_a_table_of_text_without_header(tmp_path):
    text = 'ham\tI said "no\nspam\tWIN 5" screens\nham\tok\nham\t"quoted" word\n'
    frame = read(text, "t.txt", tmp_path)
    assert frame.n == 4
    assert frame.columns[0].values.tolist() == ["ham", "spam", "ham", "ham"]
    assert frame.columns[1].values[1] == 'WIN 5" screens'


def test_arrays(tmp_path):
    X, y = np.arange(12.0).reshape(4, 3), np.array([0, 1, 0, 1])
    np.savez(tmp_path / "t.npz", X=X, y=y)
    matrix = open_source(str(tmp_path / "t.npz")).read()
    assert isinstance(matrix, Matrix)
    assert np.array_equal(matrix.X, X)
    assert np.array_equal(matrix.y, y)
    np.save(tmp_path / "t.npy", X)
    assert open_source(str(tmp_path / "t.npy")).read().y is None
    np.save(tmp_path / "o.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="Python objects"):
        open_source(str(tmp_path / "o.npy")).read()
    np.savez(tmp_path / "no.npz", Z=X)
    with pytest.raises(DataError, match="no array named X"):
        open_source(str(tmp_path / "no.npz")).read()
    (tmp_path / "cut.npz").write_bytes((tmp_path / "t.npz").read_bytes()[:50])
    with pytest.raises(DataError, match="cannot be read"):
        open_source(str(tmp_path / "cut.npz")).read()


@pytest.mark.parametrize(
    ("content", "name", "says"),
    [
        (b"", "t.csv", "is empty"),
        (b"a,b\n", "t.csv", "has no rows"),
        (b"\x80\x04K\x01.", "t.bin", "is a pickle"),
        (b"\x1f\x8bbroken", "t.csv", "cannot be unpacked"),
        (b'[{"a": 1}, {"a": ', "t.json", "cannot be read"),
        (b"PAR1 no", "t.parquet", "cannot be read"),
        (b"x,y\n1,K\x81ln\n2,K\xf6ln\n", "t.csv", "not in UTF-8, and its bytes are not text in cp1252 or latin-1"),
        (b"x,y\n1," + b"z" * 5_000_000 + b"\n", "t.csv", "line 2 is longer than 2 MB"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(content, name, says, tmp_path):
    with pytest.raises(DataError, match=says) as caught:
        read(content, name, tmp_path)
    assert "\n" not in str(caught.value)
    assert name.split(".")[0] in str(caught.value)


@pytest.mark.parametrize("text", ["nowhere.csv", "http://x.test/t.csv", "SELECT 1 FROM nothing", "example:nope"])
def test_sources_that_are_not_there(text):
    with pytest.raises(DataError) as caught:
        open_source(text).read()
    assert "\n" not in str(caught.value)


def test_a_folder_and_an_unknown_column(tmp_path):
    with pytest.raises(DataError, match="is a folder"):
        open_source(str(tmp_path))
    frame = read(PLAIN, folder=tmp_path)
    with pytest.raises(DataError, match="did you mean 'label'"):
        frame["labl"]


def test_ten_thousand_columns(tmp_path):
    header = ",".join(f"c{j}" for j in range(10_000))
    frame = read(f"{header}\n" + ",".join(["1"] * 10_000) + "\n", folder=tmp_path)
    assert len(frame.columns) == 10_000


def test_repeated_and_empty_names_get_names_of_their_own(tmp_path):
    frame = read("a,a,,b\n1,2,3,4\n5,6,7,8\n", folder=tmp_path)
    assert len(set(frame.names)) == 4
    assert frame.columns[1].values.tolist() == [2, 6]


@pytest.mark.parametrize(
    ("line", "names", "notes"),
    [
        (",{0},y", ["{0}_1", "{0}", "y"], ["a column without a name is called '{0}_1'"]),
        (",b,", ["{0}", "b", "{2}"], ["columns without a name are called '{0}', '{2}'"]),
        ("x,x,X_1", ["x", "x_2", "X_1"], ["another column named 'x' got a number behind its name"]),
        ("1,1,2", ["{0}", "{1}", "{2}"], []),  # no header, but a row
    ],
)
@pytest.mark.parametrize("more", [0, 600])  # columns; wide files are read in their own way
def test_invented_names_take_no_name_from_a_column_that_has_it(line, names, notes, more, tmp_path):
    invented = [f"column{j:0{len(str(2 + more))}}" for j in range(3)]
    line, names, notes = (
        line.format(*invented),
        [own.format(*invented) for own in names],
        [s.format(*invented) for s in notes],
    )
    others = [f"c{j}" if notes else "7" for j in range(more)]
    rows = [",".join([*cells, *["8"] * more]) for cells in ("123", "456", "719")]
    path = tmp_path / "t.csv"
    path.write_text("\n".join([",".join([line, *others]), *rows]) + "\n")
    source = open_source(str(path))
    frame = source.read()
    assert source.notes == notes
    assert list(frame.names[:3]) == names
    assert frame.columns[1].values.tolist()[-3:] == [2, 5, 1]
    if notes:
        kept = open_source(str(path), Reading().with_text([names[1]])).read()
        assert {own.name for own in kept.columns if own.kind == "text"} == {names[1]}


def test_odd_file_names_are_no_patterns(tmp_path):
    frame = read("x,y\n1,2\n", "it's [1]*.csv", tmp_path)
    assert frame["x"].values.tolist() == [1]


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_examples_have_rows_names_and_two_classes_or_a_number(name):
    example = load_example(name)
    assert example.X.shape == (len(example.y), len(example.names) - len(example.words))
    assert example.X.shape == LISTED.get(name, example.X.shape)
    assert np.isfinite(example.X).all() or name == "visits"
    assert len(np.unique(example.y.astype(str))) > 1
    frame = open_source(f"example:{name}").read()
    assert frame.names == [*example.names, example.target]


def test_the_examples_are_what_they_say():
    from separatrix import separability

    verdicts = {"separable": "complete", "tiny-margin": "complete", "overlap": "overlap", "quasi": "quasi"}
    for name, verdict in verdicts.items():
        example = load_example(name)
        assert separability(example.X, example.y).verdict == verdict, name
    once, again = load_example("spam"), load_example("spam")
    assert np.array_equal(once.X, again.X)
    assert once.X.sum() == pytest.approx(load_example("spam").X.sum())


SHAPES = {
    "spambase.csv": (4601, 58),
    "breast_cancer.csv": (569, 31),
    "banknote.csv": (1372, 5),
    "endometrial.csv": (79, 4),
    "spector.csv": (32, 4),
    "iris.csv": (150, 5),
    "wine.csv": (178, 14),
    "digits.csv": (1797, 65),
    "titanic.csv": (891, 15),
    "titanic_numeric.csv": (712, 9),
    "sms_spam.txt": (5574, 2),
    "diabetes.csv": (442, 11),
    "nist_longley.csv": (16, 7),
    "nist_norris.csv": (36, 2),
}
SPARSE = {
    "sms_spam_bow.svm": (5574, 8745, 81823, 747),
    "a9a.svm": (32561, 123, 451592, 7841),
    "a9a_test.svm": (16281, 122, None, 3846),
    "rcv1_small.svm": (1000, 47117, 77739, 459),
    "rcv1_small_test.svm": (500, 47042, None, 245),
}


def test_real_tables_have_their_shapes_and_types(real_files):
    words = {
        "titanic.csv": {*["sex", "embarked", "class", "who", "deck", "embark_town", "alive", "alone", "adult_male"]},
        "iris.csv": {"species"},
        "sms_spam.txt": {"column0", "column1"},
    }
    for name, path in real_files(SHAPES).items():
        frame = open_source(str(path)).read()
        assert (frame.n, len(frame.columns)) == SHAPES[name], name
        assert {c.name for c in frame.columns if c.kind == "text"} == words.get(name, set()), name


def test_real_sparse_files_have_their_shapes(real_files):
    for name, path in real_files(SPARSE).items():
        matrix = open_source(str(path)).read()
        rows, features, entries, positive = SPARSE[name]
        assert matrix.X.shape == (rows, features), name
        assert entries is None or matrix.X.nnz == entries, name
        assert np.count_nonzero(matrix.y == 1) == positive, name


def test_standard_input(monkeypatch):
    class Piped:
        buffer = io.BytesIO(PLAIN.encode())

    monkeypatch.setattr("sys.stdin", Piped)
    assert open_source("-").read().n == 3


@pytest.mark.slow
def test_a_row_group_larger_than_the_lean_limit_is_read(tmp_path):
    """pyarrow writes up to a million rows into one group, which DuckDB reads whole."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = np.random.default_rng(0).normal(size=(1_000_000, 20))
    path = tmp_path / "large.parquet"
    pq.write_table(pa.table({f"x{j}": rows[:, j] for j in range(20)}), path)
    assert path.stat().st_size > 150_000_000
    assert open_source(str(path)).read().n == 1_000_000


def test_the_noise_is_twenty_flipped_labels():
    clean, noisy = load_example("separable"), load_example("noise")
    assert np.array_equal(clean.X, noisy.X)
    assert int((clean.y != noisy.y).sum()) == 20
    assert separability(noisy.X, noisy.y).verdict == "overlap"


def test_rows_of_typed_tables_keep_their_order(tmp_path):
    """Marks of missing text used to be looked up by a join, which shuffled the row groups of a Parquet file."""
    import duckdb

    path = tmp_path / "rows.parquet"
    rows = "SELECT i AS number, 'w' || (i % 3) AS word FROM range(10000) t(i)"
    duckdb.sql(f"COPY ({rows}) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 2048)")
    for _ in range(3):
        values = open_source(str(path)).read()["number"].values
        assert (values == np.arange(10000)).all()
