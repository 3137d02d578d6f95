"""Verdicts and margins with pricing: those of one machine, with certificates that the stand-alone checker accepts."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from sources import rows_in_parts, write_parts

from separatrix import checker, cluster, mistake_bound, separability, verify
from separatrix.cluster.separation import RemoteTable, decided
from separatrix.cluster.source_proofs import bound_of
from separatrix.errors import DataError, ParameterError
from separatrix.proofs.certificate.certificate import CertifiedTable
from separatrix.validation import check_labels, check_table


def rows(seed):
    """Small whole numbers, so that ties, quasi-separation and dependent columns are common."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 40)), int(rng.integers(1, 5))
    X = rng.integers(-2, 3, size=(n, d)).astype(np.float64)
    w = rng.integers(-2, 3, size=d)
    score = X @ w + rng.integers(-1, 2)
    codes = np.where(score == 0, rng.integers(0, 2, n), score > 0).astype(np.int64)
    flips = rng.random(n) < rng.choice([0.0, 0.0, 0.05])
    codes[flips] = 1 - codes[flips]
    codes[:2] = [0, 1]
    return X, codes, int(rng.integers(1, 6)), bool(rng.integers(0, 2))


@pytest.mark.parametrize("seed", range(60))
def test_the_verdict_of_one_machine(seed, monkeypatch):
    monkeypatch.setattr("separatrix.cluster.separation.FIRST", 4)  # so that pricing has to find the rest
    monkeypatch.setattr("separatrix.cluster.separation.PER_COLUMN", 1)
    X, codes, parts, intercept = rows(seed)
    alone = separability(X, codes, fit_intercept=intercept)
    found = decided(rows_in_parts(X, codes, parts), None, intercept, certify=True)
    assert found.verdict == alone.verdict
    assert (found.strict, found.tied) == (len(alone.strict_rows), len(alone.tied_rows))
    assert found.certificate is not None
    sentence = verify(found.certificate, X, codes)
    assert f"all {len(X)} rows" in sentence


@pytest.mark.parametrize("parts", [1, 3, 7])
@pytest.mark.parametrize("n", [5, 4096, 9000, 12_288])
def test_fingerprints_of_blocks_that_lie_in_several_partitions(n, parts):
    rng = np.random.default_rng(n)
    X, codes = rng.integers(-3, 4, size=(n, 2)).astype(np.float64), rng.integers(0, 2, n)
    codes[:2] = [0, 1]
    alone = CertifiedTable(check_table(X), check_labels(codes)).data
    there = RemoteTable(rows_in_parts(X, codes, parts)).data
    assert (there["sha256"], there["exponents"]) == (alone["sha256"], alone["exponents"])


@pytest.mark.parametrize("seed", range(12))
def test_the_bound_of_one_machine(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(3000, 3))
    score = X @ rng.normal(size=3) + 0.1
    kept = np.abs(score) > 0.05
    X, codes = np.ascontiguousarray(X[kept]), (score[kept] > 0).astype(np.int64)
    alone, found = mistake_bound(X, codes), bound_of(rows_in_parts(X, codes, 6), True)
    assert found.bound == pytest.approx(alone.bound, rel=1e-8)
    assert found.radius == alone.radius
    assert found.most_visits == len(X) * (found.most + 1)
    assert "lifted margin" in verify(found.certificate, X, codes)


def test_a_table_in_byte_ranges_and_the_stand_alone_checker(tmp_path):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(3000, 3)), 2)
    label = np.where(X @ [1.0, -1.0, 0.5] > 0.003, "high", "low")
    lines = [f"{a!r},{b!r},{c!r},{t}" for (a, b, c), t in zip(X.tolist(), label.tolist(), strict=True)]
    write_parts(tmp_path, "a,b,c,level", lines, [0, 1000, 3000])
    for labels, expected in ((lines, "complete"), ([*lines[:-1], lines[-1].rsplit(",", 1)[0] + ",high"], "overlap")):
        path = tmp_path / f"{expected}.csv"
        path.write_text("\n".join(["a,b,c,level", *labels]) + "\n")
        found = cluster.separability(path, target="level", address="here", partition_bytes=10_000)
        assert found.verdict in (expected, "complete")
        found.certificate.save(tmp_path / "proof.json")
        command = [sys.executable, checker.__file__, str(tmp_path / "proof.json"), str(path), "--target", "level"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stdout
        assert done.stdout.startswith("proved: ")


def test_what_cannot_be_asked(tmp_path):
    (tmp_path / "text.csv").write_text("a,b,y\n1,red,0\n2,blue,1\n3,red,1\n")
    with pytest.raises(DataError, match="'b' is text: proofs are about numbers; drop the column"):
        cluster.separability(tmp_path / "text.csv", target="y", address="here")
    (tmp_path / "gap.csv").write_text("a,b,y\n1,2,0\n2,,1\n3,1,1\n")
    with pytest.raises(DataError, match=r"'b' is missing in 1 rows of gap.csv \(first: row 1"):
        cluster.separability(tmp_path / "gap.csv", target="y", address="here")
    (tmp_path / "three.csv").write_text("a,b,y\n1,2,0\n2,5,1\n3,1,2\n")
    with pytest.raises(ParameterError, match="has 3 classes"):
        cluster.separability(tmp_path / "three.csv", target="y", address="here")
