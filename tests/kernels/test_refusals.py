"""Kernels refuse what would lead them outside their arrays, whatever the caller passes.

Every kernel has a call here that is accepted. Then one argument at a time is spoiled: too short, too long, a number
of a row that does not exist, a range that leaves the rows, a value that is not a number. A spoiled call is refused
with a ValueError, or harmless; under the sanitizers (make sanitize) a read outside an array ends the run.
"""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from kernel_calls import D, N, X, calls, every_layout, own_copies, rng

import reference
from separatrix import kernels

NAMES = sorted(calls(every_layout()["float64"]))
# Arrays of any length, or whose length is room, are as good shorter or longer.
ROOM = {
    ("shuffle", "order"), ("words", "out"), ("count_byte", "text"), ("svmlight_chunk", "*"),
    ("*", "log"), ("weighted_sums", "order"), ("combine", "order"), ("lasso_pass", "order"), ("curved_pass", "order"),
    ("gram_pass", "order"), ("class_lasso_pass", "order"), ("hinge_pass", "order"),
}  # fmt: skip
LONGER = {("descent_pass", "alpha")} | {
    (name, "order") for name in ("perceptron_pass", "descent_pass", "voted_pass", "pocket_pass", "first_mistake")
}
ANY_ROWS = {("decide", "active"), ("decide", "extra"), ("exact_signs", "w"), ("class_errors", "lifted")} | {
    ("sum_parts", "parts")
}
ANY_COLUMNS = {("class_scores", "out")}
# Numbers of rows, coordinates and classes: beyond the last one, and below the first one.
NUMBERS = {"order", "active", "row", "start", "model", "code", "place"}
# Not an index but how long to go on.
PATIENCE = {"limit", "budget", "restarts", "lines", "max_steps", "seed", "degree"}


CELLS = ("number_forms", "cell_forms", "cell_number", "cell_dates")  # take bytes, and no arrays


def test_every_kernel_that_takes_arrays_has_a_call_here():
    functions = {name for name, value in vars(reference).items() if callable(value) and not isinstance(value, type)}
    assert functions == {*NAMES, "turned", "first_nonfinite", "pair_products", *CELLS}


@pytest.mark.parametrize("name", NAMES)
def test_the_calls_are_accepted(name):
    for rows in every_layout().values():
        getattr(kernels, name)(**own_copies(calls(rows)[name]))


@pytest.mark.parametrize("name", NAMES)
def test_arrays_of_another_length_are_refused(name):
    kernel, good = getattr(kernels, name), calls(every_layout()["csr64"])[name]
    for argument in [key for key, value in good.items() if isinstance(value, np.ndarray)]:
        if {(name, argument), (name, "*"), ("*", argument)} & ROOM:
            continue
        array, wrong = good[argument], []
        if (name, argument) not in ANY_ROWS:
            wrong.append(array[:-1].copy())
        if array.ndim > 1 and (name, argument) not in ANY_COLUMNS:
            wrong.append(np.ascontiguousarray(array[..., :-1]))
        if (name, argument) not in LONGER | ANY_ROWS:
            wrong.append(np.concatenate([array, array[-1:]]))
        for spoiled in wrong:
            with pytest.raises(ValueError):  # noqa: PT011, the sentences are many
                kernel(**own_copies(good | {argument: spoiled}))


@pytest.mark.parametrize("name", NAMES)
def test_numbers_of_rows_that_do_not_exist_are_refused(name):
    for rows in (every_layout()["csr32"], every_layout()["float64"]):
        kernel, good = getattr(kernels, name), calls(rows)[name]
        for argument in NUMBERS & good.keys():
            if name == "shuffle" or not isinstance(good[argument], np.ndarray):
                continue
            for wrong in (-2, 10**6, 2**62):
                if wrong < 0 and (name, argument) == ("class_errors", "code"):  # the row does not count
                    continue
                for place in (0, -1):
                    spoiled = own_copies(good)
                    spoiled[argument][place] = wrong
                    with pytest.raises(ValueError):  # noqa: PT011
                        kernel(**spoiled)


@pytest.mark.parametrize("name", NAMES)
def test_ranges_and_choices_that_do_not_exist_are_refused_or_harmless(name):
    kernel, good = getattr(kernels, name), calls(every_layout()["csr64"])[name]
    for argument, value in good.items():
        if isinstance(value, bool) or not isinstance(value, int) or argument in PATIENCE:
            continue
        for wrong in (-1, 2**40):
            refuse = argument in {"begin", "i", "loss", "kind", "base", "width"} or (argument, wrong) in {
                ("end", -1), ("end", 2**40), ("batch", -1), ("columns", -1), ("target", 2**40)
            }  # fmt: skip
            if refuse:
                with pytest.raises((ValueError, TypeError)):
                    kernel(**own_copies(good | {argument: wrong}))
            else:
                with contextlib.suppress(ValueError, TypeError):
                    kernel(**own_copies(good | {argument: wrong}))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_a_number_stays_inside_the_arrays(name):
    for rows in every_layout().values():
        kernel, good = getattr(kernels, name), calls(rows)[name]
        for argument in [k for k, v in good.items() if isinstance(v, np.ndarray) and v.dtype.kind == "f"]:
            for wrong in (np.nan, np.inf, 1e300):
                spoiled = own_copies(good)
                spoiled[argument][...] = np.where(rng.random(spoiled[argument].shape) < 0.5, wrong, spoiled[argument])
                with contextlib.suppress(ValueError):
                    kernel(**spoiled)


@pytest.mark.parametrize("name", NAMES)
def test_rows_that_are_not_numbers_stay_inside_the_arrays(name):
    spoiled = np.where(rng.random(X.shape) < 0.2, np.nan, np.where(rng.random(X.shape) < 0.1, np.inf, X))
    for rows in (kernels.Rows.dense(spoiled), kernels.Rows.dense(spoiled.astype(np.float32))):
        with contextlib.suppress(ValueError):
            getattr(kernels, name)(**own_copies(calls(rows)[name]))


@pytest.mark.parametrize("module", [kernels, reference], ids=["native", "readable"])
@pytest.mark.parametrize("integer", [np.int32, np.int64])
@pytest.mark.parametrize("number", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("column", "start", "d", "says"),
    [
        ([0, 2, 1], [0, 2, 1], 3, "must not descend"),
        ([0, 2, 1], [0, 4, 3], 3, "must not descend"),
        ([0, 2, 1], [0, -5, 3], 3, "must not descend"),
        ([0, 2, 1], [0, 2, 4], 3, "at most the stored numbers"),
        ([0, 2, 1], [1, 2, 3], 3, "from 0"),
        ([0, 2, 1], [0, -1], 3, "from 0"),
        ([0, 2, 1], [], 3, "from 0"),
        ([0, 2], [0, 2, 3], 3, "at most the stored numbers"),
        ([0, 3, 1], [0, 2, 3], 3, "does not exist"),
        ([0, -1, 1], [0, 2, 3], 3, "does not exist"),
        ([0, 2, 1], [0, 2, 3], 2, "does not exist"),
        ([0, 0, 0], [0, 3], 2, "more numbers than there are columns"),
        ([], [0, 0], -1, "negative"),
    ],
)
def test_sparse_rows_that_leave_their_arrays_are_refused(module, integer, number, column, start, d, says):
    with pytest.raises(ValueError, match=says):
        module.Rows.csr(np.ones(3, dtype=number), np.array(column, dtype=integer), np.array(start, dtype=integer), d)


@pytest.mark.parametrize("module", [kernels, reference], ids=["native", "readable"])
def test_sparse_rows_may_have_room_behind_them_and_rows_without_numbers(module):
    view = module.Rows.csr(np.ones(4), np.array([2, 0, 9, 9]), np.array([0, 1, 1, 2]), 3)
    out = np.empty(3)
    module.scores(view, np.array([1.0, 10.0, 100.0, 0.5]), out)
    assert out.tolist() == [100.5, 0.5, 1.5]
    assert module.Rows.csr(np.ones(0), np.zeros(0, dtype=np.int64), np.array([0, 0]), 0).n == 1


def test_columns_are_turned_only_into_arrays_that_hold_them():
    view = every_layout()["csr64"]
    stored = int(np.count_nonzero(X))
    good = {"start": np.zeros(D + 1, np.int32), "row": np.zeros(stored, np.int32), "value": np.zeros(stored)}
    kernels.turned(view, **good)
    for argument, array in good.items():
        with pytest.raises(ValueError, match="must hold"):
            kernels.turned(view, **good | {argument: array[:-1].copy()})


def test_pairs_are_made_only_of_sparse_rows_into_arrays_that_hold_them():
    view = every_layout()["csr64"]
    each = np.count_nonzero(X, axis=1)
    stored = int((each + each * (each + 1) // 2).sum())
    good = {"offset": np.arange(D), "squares": True, "column": np.zeros(stored, np.int32), "value": np.zeros(stored)}
    kernels.pair_products(view, **good)
    for argument in ("offset", "column", "value"):
        with pytest.raises(ValueError, match="must hold"):
            kernels.pair_products(view, **good | {argument: good[argument][:-1].copy()})
    with pytest.raises(ValueError, match="32-bit"):
        kernels.pair_products(view, **good | {"offset": np.full(D, 2**31)})
    with pytest.raises(ValueError, match="sparse rows"):
        kernels.pair_products(every_layout()["float64"], **good)


def test_no_sign_is_claimed_of_what_is_not_a_number():
    good = calls(every_layout()["float64"])["exact_signs"]
    for wrong in (np.nan, np.inf):
        with pytest.raises(ValueError, match="infinity or NaN"):
            kernels.exact_signs(**own_copies(good) | {"X": kernels.Rows.dense(np.full((N, D), wrong))})
