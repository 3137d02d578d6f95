"""The compiled kernels: every module ``_native_<level>`` has these names, and so has ``reference``."""

from collections.abc import Callable
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
def class_scores(X: Rows, coef: Floats, intercept: Floats, out: Floats, model: Indices | None = None) -> None: ...
def first_nonfinite(x: NDArray[Any]) -> int: ...
def norms2(X: Rows, out: Floats) -> None: ...
def errors(X: Rows, y: Labels, lifted: Floats, zero_is_mistake: bool) -> int: ...
def class_errors(X: Rows, code: Indices, lifted: Floats, tie_is_mistake: bool) -> int: ...
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
    habit: Labels | None = None,
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

class _Rule:
    """A rule bound to the vectors that it moves; not a name of its own."""

    def binary(
        self,
        k: int,
        X: Rows,
        y: Labels,
        step: Floats | None,
        order: Indices | None,
        begin: int,
        end: int,
        limit: int,
        habit: Labels | None = None,
    ) -> tuple[int, int, int]: ...
    def kesler(
        self,
        X: Rows,
        y: NDArray[np.int32],
        step: Floats | None,
        order: Indices | None,
        begin: int,
        end: int,
        limit: int,
    ) -> tuple[int, int, int]: ...
    def learn(self, x: Floats, code: int, weight: float) -> None: ...
    def learn_pairs(self, value: Floats, column: Indices, code: int, weight: float) -> None: ...
    def learn_dict(self, x: dict[str, Any], index: dict[str, int], code: int, weight: float) -> None: ...
    def scores_dict(self, x: dict[str, Any], index: dict[str, int], skip_unknown: bool, out: Floats) -> None: ...
    def scores(self, x: Floats, out: Floats) -> None: ...
    def scores_pairs(self, value: Floats, column: Indices, out: Floats) -> None: ...
    def score(self, x: Floats, at: int) -> float: ...
    def best(self, x: Floats, count: int) -> int: ...

class PlainRule(_Rule):
    def __init__(
        self,
        lifted: Floats,
        updates: Indices,
        visits: Indices,
        seen: Labels | None,
        bias: bool,
        zero_is_mistake: bool,
    ) -> None: ...

class AveragedRule(_Rule):
    def __init__(
        self,
        lifted: Floats,
        updates: Indices,
        visits: Indices,
        seen: Labels | None,
        bias: bool,
        zero_is_mistake: bool,
        total: Floats,
        looks: Indices,
    ) -> None: ...

class MarginRule(_Rule):
    def __init__(
        self,
        lifted: Floats,
        updates: Indices,
        visits: Indices,
        seen: Labels | None,
        bias: bool,
        margin: float,
        relative: bool,
        norm2: Floats,
        moved: Indices,
    ) -> None: ...

class PassiveAggressiveRule(_Rule):
    def __init__(
        self,
        lifted: Floats,
        updates: Indices,
        visits: Indices,
        seen: Labels | None,
        bias: bool,
        variant: int,
        C: float,
    ) -> None: ...

class ArowDiagonalRule(_Rule):
    def __init__(
        self,
        lifted: Floats,
        updates: Indices,
        visits: Indices,
        seen: Labels | None,
        bias: bool,
        r: float,
        variance: Floats,
    ) -> None: ...

class ArowFullRule(_Rule):
    def __init__(
        self,
        lifted: Floats,
        updates: Indices,
        visits: Indices,
        seen: Labels | None,
        bias: bool,
        r: float,
        covariance: Floats,
    ) -> None: ...

block_rows: int

def moments_add(
    X: Rows,
    targets: Floats | None,
    code: Indices | None,
    weights: Floats | None,
    begin: int,
    end: int,
    rows: Indices,
    fill: Indices,
    weight: Floats,
    mean: Floats,
    scatter: Floats,
    block: Floats,
    block_weight: Floats,
) -> None: ...
def moments_flush(
    rows: Indices, fill: Indices, weight: Floats, mean: Floats, scatter: Floats, block: Floats, block_weight: Floats
) -> None: ...
def residual_gradient(
    X: Rows,
    y: Floats,
    weights: Floats | None,
    high: Floats,
    low: Floats,
    g_high: Floats,
    g_low: Floats,
    residuals: Floats | None,
) -> tuple[float, float]: ...
def augmented_defects(
    A: Rows,
    y: Floats,
    weights: Floats | None,
    x_high: Floats,
    x_low: Floats,
    u_high: Floats,
    u_low: Floats,
    f: Floats,
    g: Floats,
) -> None: ...
def decide(
    X: Rows,
    y: Labels,
    intercept: bool,
    active: Indices | None,
    extra: Floats | None,
    basis: Floats | None,
    seed: int,
    w: Floats,
    support: Indices,
    weights: Floats,
) -> tuple[int, int, int, int, float]: ...
def exact_signs(X: Rows, y: Labels, intercept: bool, w: Floats, active: Indices | None, sign: Labels) -> int: ...
def bounded_scores(X: Rows, lifted: Floats, score: Floats, bound: Floats) -> None: ...
def opposites(X: Rows, y: Labels, partner: Indices) -> int: ...
def line_minimum(s: Floats, q: Floats) -> tuple[float, int]: ...
def zero_one_descent(
    X: Rows,
    y: Labels,
    intercept: bool,
    center: Floats,
    scale: Floats,
    w: Floats,
    state: Word,
    restarts: int,
    lines: int,
) -> int: ...

class MistakeTree:
    best: int
    nodes: int
    questions: int
    doubtful: int
    def __init__(self, z: Floats, exact: bool) -> None: ...
    def start(self, witnesses: list[list[int]], prove: Callable[[list[int]], list[int]]) -> None: ...
    def run(self, more: int, gap: int, prove: Callable[[list[int]], list[int]]) -> None: ...
    def offer(self, mistakes: int, w: Floats) -> None: ...
    def take(self) -> list[float]: ...
    def tree(self) -> list[tuple[int, int, int, list[int]]]: ...
    @property
    def witnesses(self) -> list[list[int]]: ...
    @property
    def lower(self) -> int: ...

def nearest_products(
    K: Floats,
    group: Labels,
    start: Indices,
    start_weights: Floats,
    c: float,
    zero: float,
    max_steps: int,
    support: Indices,
    weights: Floats,
) -> tuple[int, int, int]: ...
def nearest_hulls(
    A: Floats,
    group: Labels,
    start: Indices,
    start_weights: Floats,
    c: float,
    zero: float,
    max_steps: int,
    support: Indices,
    weights: Floats,
    v: Floats,
) -> tuple[int, int, int]: ...
def voted_pass(
    X: Rows,
    y: Labels,
    step: Floats | None,
    order: Indices | None,
    lifted: Floats,
    bias: bool,
    zero_is_mistake: bool,
    kept: Floats,
    votes: Indices,
    born: Indices,
    account: Indices,
    begin: int,
    end: int,
    limit: int,
) -> tuple[int, int, int]: ...
def votes(X: Rows, vectors: Floats, counts: Indices, out: Floats) -> None: ...
def pocket_pass(
    X: Rows,
    y: Labels,
    step: Floats | None,
    order: Indices | None,
    lifted: Floats,
    bias: bool,
    zero_is_mistake: bool,
    pocket: Floats,
    error: Floats,
    weight: Floats | None,
    account: Indices,
    share: float,
    begin: int,
    end: int,
    limit: int,
) -> tuple[int, int, int]: ...
def pocket_count(
    X: Rows,
    y: Labels,
    lifted: Floats,
    zero_is_mistake: bool,
    pocket: Floats,
    error: Floats,
    weight: Floats | None,
    account: Indices,
) -> bool: ...
def kernel_column(
    X: Rows, norm2: Floats, i: int, kind: int, gamma: float, coef0: float, degree: int, out: Floats
) -> None: ...
def kernel_scores(
    S: Rows,
    support_norm2: Floats,
    a: Floats,
    X: Rows,
    norm2: Floats,
    kind: int,
    gamma: float,
    coef0: float,
    degree: int,
    one: float,
    out: Floats,
) -> None: ...
def kernel_update(
    X: Rows,
    norm2: Floats,
    kind: int,
    gamma: float,
    coef0: float,
    degree: int,
    row: Indices,
    a: Floats,
    one: float,
    begin: int,
    end: int,
    scores: Floats,
) -> None: ...
def first_mistake(s: Floats, y: Labels, order: Indices | None, begin: int, end: int, zero_is_mistake: bool) -> int: ...

class LateScores:
    def __init__(
        self,
        X: Rows,
        norm2: Floats,
        kind: int,
        gamma: float,
        coef0: float,
        degree: int,
        one: float,
        screened: bool,
    ) -> None: ...
    def another(self) -> LateScores: ...
    def add(self, i: int, a: float) -> None: ...
    def next_mistake(self, y: Labels, begin: int, end: int, zero_is_mistake: bool) -> int: ...
    def mistakes(self, y: Labels, begin: int, end: int, zero_is_mistake: bool) -> int: ...
    def exact(self, rows: Indices, out: Floats) -> None: ...
    def bounds(self, s: Floats, e: Floats) -> None: ...
    def finite(self, begin: int, end: int) -> bool: ...
    @property
    def n(self) -> int: ...
    @property
    def block(self) -> int: ...
    @property
    def screened(self) -> bool: ...

def descent_pass(
    X: Rows,
    y: Floats,
    weights: Floats | None,
    order: Indices | None,
    alpha: Floats,
    begin: int,
    end: int,
    loss: int,
    lifted: Floats,
    factor: Floats,
    velocity: Floats | None,
    average: Floats | None,
    gradient: Floats,
    counts: Indices,
    sums: Floats,
    reach: Floats | None,
    batch: int,
    l2: float,
    l1: float,
    momentum: float,
    bias: bool,
) -> None: ...
def mean_loss(X: Rows, y: Floats, weights: Floats | None, loss: int, lifted: Floats, g: Floats) -> float: ...
def count_byte(text: NDArray[np.uint8], wanted: int) -> int: ...
def svmlight_chunk(
    text: NDArray[np.uint8],
    base: int,
    ends: NDArray[np.int32],
    indices: NDArray[np.int32],
    values: Floats,
    labels: Floats,
) -> tuple[int, int, int, int, int, int]: ...
def delimited_chunk(
    text: NDArray[np.uint8], delimiter: int, columns: int, target: int, values: Floats, labels: Floats
) -> tuple[int, int, int, int, int, int]: ...
def logistic_pass(
    X: Rows,
    y: Labels,
    weights: Floats | None,
    offset: Floats | None,
    lifted: Floats,
    begin: int,
    end: int,
    gradient: Floats,
    curvature: Floats | None,
    wrong: Floats | None,
) -> float: ...
def curvature_product(X: Rows, curvature: Floats, v: Floats, begin: int, end: int, out: Floats) -> None: ...
def curvature_diagonal(
    X: Rows, curvature: Floats, begin: int, end: int, sums: Floats | None, squares: Floats
) -> None: ...
def rows_above(X: Rows, limits: Floats, out: NDArray[np.int8]) -> None: ...
def weighted_sums(
    Z: Rows, order: NDArray[np.int64], h: Floats, first: Floats | None, second: Floats | None
) -> None: ...
def combine(Z: Rows, order: NDArray[np.int64], v: Floats, out: Floats) -> None: ...
def chosen_gram(
    X: Rows, h: Floats, place: NDArray[np.int64], begin: int, end: int, sums: Floats, half: Floats
) -> None: ...
def lasso_pass(
    Z: Rows,
    order: NDArray[np.int64],
    g: Floats,
    curvature: Floats,
    along: Floats,
    alpha: float,
    ridge: float,
    v: Floats,
    moved: Floats,
    drift: Floats,
) -> float: ...
def turned(X: Rows, start: NDArray[np.int32], row: NDArray[np.int32], value: NDArray[Any]) -> None: ...
def curved_pass(
    X: Rows,
    order: NDArray[np.int64],
    h: Floats,
    g: Floats,
    curvature: Floats,
    along: Floats,
    alpha: float,
    ridge: float,
    v: Floats,
    bent: Floats,
    drift: Floats,
) -> float: ...
def gram_pass(A: Floats, order: NDArray[np.int64], alpha: float, ridge: float, v: Floats, slope: Floats) -> float: ...
def class_lasso_pass(
    X: Rows,
    order: NDArray[np.int64],
    width: int,
    weights: Floats | None,
    P: Floats,
    g: Floats,
    curvature: Floats,
    alpha: float,
    ridge: float,
    v: Floats,
    U: Floats,
    mean: Floats,
) -> float: ...
