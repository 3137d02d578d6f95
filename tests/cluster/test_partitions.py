"""Every row of a source is in one partition, in order, and what a partition lacks is said with its name."""

from __future__ import annotations

import numpy as np
import pytest
from sources import CUTS, table, write_parts

from separatrix.cluster.partition_reading import loaded
from separatrix.cluster.partitions import partitions_of
from separatrix.cluster.rounds import LocalRounds
from separatrix.data.frame import join
from separatrix.data.reading_plan import Reading
from separatrix.data.sources import open_source
from separatrix.errors import DataError


def frame(source, partition_bytes=64 * 2**20, reading=None):
    """All partitions, one after the other."""
    rounds = LocalRounds(partitions_of(source, reading, partition_bytes))
    loaded(rounds, reading or Reading(), str(source))
    return join([part.table for part in rounds.worker.parts.values() if part.table is not None]), rounds


def same(one, two):
    assert one.names == two.names
    assert one.n == two.n
    for a, b in zip(one.columns, two.columns, strict=True):
        assert a.kind == b.kind
        np.testing.assert_array_equal(a.values, b.values)


@pytest.mark.parametrize("size", [20_000, 50_001])
def test_byte_ranges_of_a_table_are_its_rows(tmp_path, size):
    write_parts(tmp_path, *table())
    found, rounds = frame(tmp_path / "whole.csv", size)
    assert rounds.leaves > 1
    same(found, open_source(str(tmp_path / "whole.csv")).read())


@pytest.mark.parametrize("size", [40, 150])
def test_line_ends_between_quotes_do_not_end_a_row(tmp_path, size):
    cells = ['"one\ntwo, three"', '"a ""quoted"" word\n"', "plain", '"\n\n\n"', '"x"'] * 8
    lines = [f"{k},{cell},{k % 2}" for k, cell in enumerate(cells)]
    path = tmp_path / "quotes.csv"
    path.write_text("\n".join(["number,words,y", *lines]) + "\n")
    found, rounds = frame(path, size, Reading().with_text(["words"]))
    same(found, open_source(str(path), Reading().with_text(["words"])).read())
    assert rounds.leaves > 1


def test_a_file_without_header_is_divided_too(tmp_path):
    path = tmp_path / "bare.csv"
    path.write_text("".join(f"{k},{k * k},{k % 3}\n" for k in range(500)))
    found, rounds = frame(path, 600)
    same(found, open_source(str(path)).read())
    assert rounds.leaves > 4


@pytest.mark.parametrize("header", [",b,c", "b,b,c", ",column0,c"])
def test_a_header_with_a_column_without_a_name_is_no_row(header, tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text(header + "\n" + "".join(f"{k},{k * k},{k % 3}\n" for k in range(500)))
    found, rounds = frame(path, 600)
    same(found, open_source(str(path)).read())
    assert rounds.leaves > 4


@pytest.mark.parametrize("zero", [False, True])
def test_ranges_of_an_svmlight_file(tmp_path, zero):
    from separatrix.cluster.partition_reading import matrix_rows
    from separatrix.data.sparse_text import read_libsvm

    rng = np.random.default_rng(3)
    lines = []
    for k in range(300):
        columns = np.sort(rng.choice(20, 4, replace=False)) + (0 if zero else 1)
        lines.append(f"{k % 2} " + " ".join(f"{j}:{rng.normal():.4f}" for j in columns))
    path = tmp_path / "rows.svm"
    path.write_text("\n".join(lines) + "\n")
    rounds = LocalRounds(partitions_of(path, None, 1500))
    schema = loaded(rounds, Reading(), "rows")
    rounds.prepare("rows", matrix_rows, schema.features, schema.zero_based)
    X, y = read_libsvm(path)
    parts = rounds.worker.parts.values()
    assert rounds.leaves > 3
    np.testing.assert_array_equal(np.vstack([part.X.toarray() for part in parts]), X.toarray())
    np.testing.assert_array_equal(np.concatenate([part.y for part in parts]), y)


def test_row_groups_of_a_parquet_file(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "rows.parquet"
    duckdb.sql(
        f"COPY (SELECT i AS a, i * 0.5 AS b, 'w' || (i % 3) AS c FROM range(10000) t(i)) TO '{path}' "
        "(FORMAT parquet, ROW_GROUP_SIZE 2048)"
    )
    found, rounds = frame(path, 1000)
    assert rounds.leaves > 2
    same(found, open_source(str(path)).read())


def test_files_come_in_sorted_order_with_an_empty_one_among_them(tmp_path):
    header, lines = table()
    found, rounds = frame(write_parts(tmp_path, header, lines))
    assert [part.path[-6:-4] for part in rounds.partitions] == [f"{k:02d}" for k in range(len(CUTS) - 1)]
    same(found, open_source(str(tmp_path / "whole.csv")).read())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("p,other,label\n1,2,yes\n", "part03.csv has other columns than part00.csv: it has 'other' and it lacks 'q'"),
        ("q,p,label\n1,2,yes\n", "part03.csv has other columns than part00.csv: they come in another order"),
        (
            "p,q,label\nlow,2,yes\nhigh,2,no\nmiddling,2,no\n",
            "part03.csv line 2: 'p' is 'low', not a number like those above it",
        ),
    ],
)
def test_a_partition_with_another_schema_is_named(tmp_path, text, said):
    for k in range(5):
        (tmp_path / f"part{k:02d}.csv").write_text("p,q,label\n1.5,2,yes\n2.5,3,no\n")
    (tmp_path / "part03.csv").write_text(text)
    with pytest.raises(DataError, match=said):
        frame(str(tmp_path / "part*.csv"))


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("{}/none*.csv", "matches no file"),
        ("SELECT 1", "not a file that workers can read"),
        ("example:iris", "not a file that workers can read"),
        ("s3://bucket/rows.csv", "on the network: mount it"),
    ],
)
def test_sources_that_workers_cannot_see(tmp_path, source, said):
    with pytest.raises(DataError, match=said):
        partitions_of(source.format(tmp_path))


def test_files_of_several_kinds_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.svm").write_text("1 1:2\n")
    with pytest.raises(DataError, match=r"of several kinds \(csv, svmlight\)"):
        partitions_of(str(tmp_path / "*"))


def test_a_file_that_is_gone_on_the_worker_is_named(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n1,2\n")
    rounds = LocalRounds(partitions_of(path))
    path.unlink()
    with pytest.raises(DataError, match="not there on the worker"):
        loaded(rounds, Reading(), "rows")


def test_only_empty_files(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n")
    with pytest.raises(DataError, match="has no rows"):
        frame(tmp_path / "a.csv")
