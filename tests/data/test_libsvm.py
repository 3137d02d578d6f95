"""svmlight files: room for rows and pairs that the beginning of a piece does not foretell."""

from __future__ import annotations

import numpy as np
import pytest

from separatrix.data.sparse_text import SAMPLE, libsvm_chunks, read_libsvm

COMMENT = "# " + "z" * (2 * SAMPLE) + "\n"
DENSE = "".join(f"{i % 2} " + " ".join(f"{j}:{i + j / 4}" for j in range(1, 40)) + "\n" for i in range(300))
SHORT = "".join(f"{i % 2}\n" for i in range(SAMPLE))


@pytest.mark.parametrize("before", [COMMENT, SHORT, ""], ids=["a comment", "rows without pairs", "nothing"])
@pytest.mark.parametrize("after", [SHORT, ""], ids=["rows without pairs", "nothing"])
def test_pieces_that_change_on_the_way(before, after, tmp_path):
    path = tmp_path / "t.svm"
    path.write_text(before + DENSE + after + "1 1:7")
    X, y = read_libsvm(path)
    rows = before.count("\n") * (before is SHORT)
    assert X.shape == (rows + 300 + after.count("\n") + 1, 39)
    block = np.arange(300)[:, None] + np.arange(1, 40) / 4
    np.testing.assert_array_equal(X[rows : rows + 300].toarray(), block)
    assert X.nnz == 300 * 39 + 1
    assert y[-1] == 1
    chunks = list(libsvm_chunks(path, features=39, size=1 << 16))
    assert len(chunks) > 1 or before is COMMENT
    np.testing.assert_array_equal(np.concatenate([own.data for own, _ in chunks]), X.data)
    np.testing.assert_array_equal(np.concatenate([own.indices for own, _ in chunks]), X.indices)
    np.testing.assert_array_equal(np.concatenate([labels for _, labels in chunks]), y)
