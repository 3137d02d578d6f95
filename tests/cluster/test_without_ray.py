"""What happens without Ray: nothing imports it, and the extra is named."""

from __future__ import annotations

import subprocess
import sys

import pytest

from separatrix import LeastSquares, cluster
from separatrix.errors import MissingPackageError, ParameterError


def test_ray_is_imported_only_where_a_cluster_is_asked_for(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n0,1\n1,3\n2,5\n")
    code = (
        "import sys, separatrix; from separatrix import cluster, LeastSquares; "
        f"cluster.fit(LeastSquares(), {str(path)!r}, address='here'); print('ray' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "False"


def test_the_extra_is_named_where_ray_is_absent(tmp_path, monkeypatch):
    (tmp_path / "rows.csv").write_text("x,y\n0,1\n1,3\n2,5\n")
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingPackageError, match=r"needs the package ray: pip install 'separatrix\[cluster\]'"):
        cluster.fit(LeastSquares(), tmp_path / "rows.csv")


@pytest.mark.parametrize("workers", [0, -1, 1.5, True])
def test_workers_are_counted(tmp_path, workers):
    (tmp_path / "rows.csv").write_text("x,y\n0,1\n1,3\n2,5\n")
    with pytest.raises(ParameterError, match="workers is"):
        cluster.fit(LeastSquares(), tmp_path / "rows.csv", workers=workers)
