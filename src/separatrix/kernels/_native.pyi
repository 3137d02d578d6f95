"""The compiled kernels: every module ``_native_<level>`` has these names, and so has ``reference``."""

from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]
Indices = NDArray[np.int64]
Word = NDArray[np.uint64]

level: str

class Rows:
    """A view of a table's rows, dense or CSR."""

    @property
    def n(self) -> int: ...
    @property
    def d(self) -> int: ...
    @overload
    @staticmethod
    def dense(X: NDArray[np.float64]) -> Rows: ...
    @overload
    @staticmethod
    def dense(X: NDArray[np.float32]) -> Rows: ...
    @staticmethod
    def csr(value: NDArray[Any], column: NDArray[Any], start: NDArray[Any], d: int) -> Rows: ...

def scores(X: Rows, lifted: Floats, out: Floats) -> None: ...
def class_scores(X: Rows, coef: Floats, intercept: Floats, out: Floats) -> None: ...
def first_nonfinite(x: NDArray[Any]) -> int: ...
def norms2(X: Rows, out: Floats) -> None: ...
def errors(X: Rows, y: Labels, lifted: Floats, zero_is_mistake: bool) -> int: ...
def words(out: Word, state: Word) -> None: ...
def shuffle(order: Indices, state: Word) -> None: ...
def perceptron_pass(
    X: Rows,
    y: Labels,
    step: Floats | None,
    order: Indices | None,
    lifted: Floats,
    bias: bool,
    zero_is_mistake: bool,
    log: Indices | None,
    begin: int,
    end: int,
    limit: int,
) -> tuple[int, int, int]: ...
def perceptron_restart(
    X: Rows,
    y: Labels,
    step: Floats | None,
    lifted: Floats,
    bias: bool,
    zero_is_mistake: bool,
    log: Indices | None,
    begin: int,
    limit: int,
    budget: int,
) -> tuple[int, int, int]: ...
def perceptron_worst(
    X: Rows,
    y: Labels,
    step: Floats | None,
    lifted: Floats,
    bias: bool,
    zero_is_mistake: bool,
    log: Indices | None,
    norm: Floats | None,
    limit: int,
    budget: int,
) -> tuple[int, int, int]: ...
def perceptron_any(
    X: Rows,
    y: Labels,
    step: Floats | None,
    lifted: Floats,
    bias: bool,
    zero_is_mistake: bool,
    log: Indices | None,
    state: Word,
    found: Indices,
    limit: int,
    budget: int,
) -> tuple[int, int, int]: ...
