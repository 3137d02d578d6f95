"""What an audit computes itself instead of importing large libraries agrees with those libraries."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse, stats

from separatrix.auditing.checks import noise, normality
from separatrix.auditing.efficiency import NearestNeighbour


def test_an_audit_does_without_scikit_learn_and_other_slow_imports(tmp_path):
    code = (
        "import sys\n"
        "from separatrix.cli.main import main\n"
        f"main(['audit', 'example:spam', '-q', '-o', {str(tmp_path / 'out')!r}])\n"
        "loaded = [name for name in ('sklearn', 'pandas', 'scipy.stats', 'pyarrow') if name in sys.modules]\n"
        "print(loaded)"
    )
    environment = {"SEPARATRIX_LEDGER": str(tmp_path / "ledger"), "PATH": ""}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_the_nearest_neighbour_is_that_of_scikit_learn(kind):
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(90, 4)), rng.normal(size=(40, 4))
    y, z = rng.integers(0, 3, 90), rng.normal(size=90)
    take = sparse.csr_array if kind == "sparse" else np.asarray
    ours = NearestNeighbour().fit(take(X), y), NearestNeighbour(regression=True).fit(take(X), z)
    assert (ours[0].predict(take(new)) == KNeighborsClassifier(1).fit(X, y).predict(new)).all()
    assert (ours[1].predict(take(new)) == KNeighborsRegressor(1).fit(X, z).predict(new)).all()
    assert ours[0].classes_.tolist() == [0, 1, 2]


def test_the_nearest_of_many_rows_is_found_block_by_block(monkeypatch):
    from separatrix.auditing import efficiency

    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(50, 3)), np.arange(50)
    whole = NearestNeighbour().fit(X, y).predict(X + 0.01)
    monkeypatch.setattr(efficiency, "BLOCK", 120)
    assert (NearestNeighbour().fit(X, y).predict(X + 0.01) == whole).all()
    assert (whole == y).all()


def test_tests_of_noise_are_those_of_scipy():
    rng = np.random.default_rng(2)
    residuals = rng.gamma(2.0, size=300)
    found = stats.jarque_bera(residuals)
    assert noise.jarque_bera(residuals) == pytest.approx((found.statistic, found.pvalue), rel=1e-9)
    Z = np.column_stack([np.ones(300), rng.normal(size=(300, 2))])
    statistic, p = noise.koenker(Z, 3, residuals)
    assert p == pytest.approx(float(stats.chi2.sf(statistic, 2)), rel=1e-9)
    tested = noise.ramsey(Z, 3, residuals, Z @ [0.0, 1.0, 2.0])
    assert tested is not None
    assert tested[1] == pytest.approx(float(stats.f.sf(tested[0], 2, 295)), rel=1e-9)


def test_tests_of_normal_classes_reject_what_is_skewed_and_keep_what_is_normal():
    rng = np.random.default_rng(3)
    assert min(normality.mardia(rng.normal(size=(400, 3)))) > 1e-3
    assert normality.mardia(rng.gamma(1.0, size=(400, 3)))[0] < 1e-10
    alike, wide = rng.normal(size=(400, 2)), 3 * rng.normal(size=(400, 2))
    assert normality.box_m([alike, rng.normal(size=(400, 2))])[0] > 1e-3
    assert normality.box_m([alike, wide])[0] < 1e-10
