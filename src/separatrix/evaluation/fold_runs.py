"""Learners fitted and evaluated fold by fold: in order, in threads, or by the executor that is passed.

A task says everything about one fold, so that it runs the same anywhere: results are collected in the
order of the folds, every fold has its own clone with its own seed, and nothing depends on how many
workers there are. Whatever a pipeline learns (scales, selected features) is learned inside the fold.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import enumerate as enumerate_threads
from threading import get_ident
from time import perf_counter, sleep
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import FoldError, ParameterError, held_warnings, warn_user
from separatrix.evaluation.predictions import Said, predictions_of
from separatrix.evaluation.splits import Fold
from separatrix.kernels import thread_count
from separatrix.protocol import unfitted_copy
from separatrix.validation import take_rows

GOES_ON = "on_failure='report' goes on without such folds"
Scorer = Callable[[Any, Any, Any], float]


@dataclass(frozen=True)
class FoldTask:
    """One fit and what it is judged on."""

    number: int
    learner: Any
    X: Any
    y: Any
    fold: Fold
    weights: NDArray[np.float64] | None
    regression: bool
    scorers: dict[str, Scorer] = field(default_factory=dict)
    beside: dict[str, Any] = field(default_factory=dict)  # what else fit takes, one entry a row
    fitted: bool = False  # already, from work that folds share ...
    own_scores: NDArray[np.float64] | None = None  # ... and perhaps the scores of the rows it is judged on

    @property
    def train(self) -> NDArray[np.intp]:
        """Rows to learn from."""
        return self.fold.train

    @property
    def test(self) -> NDArray[np.intp]:
        """Rows to judge."""
        return self.fold.test


@dataclass(frozen=True)
class FoldResult:
    """What a fold's learner said about the rows it had not seen, or the error that ended it."""

    number: int
    rows: NDArray[np.intp]
    learned_from: int
    said: Said | None
    seconds: float
    method: str | None = None
    status: str | None = None
    scores: dict[str, float] = field(default_factory=dict)
    error: str | None = None


def run_fold(task: FoldTask) -> FoldResult:
    """Fit on the training rows, predict the others; an error is a result too."""
    start = perf_counter()
    # A learner of its own, which ends with the fold: models keep the rows of their fit, and tasks live until the last.
    learner = task.learner if task.fitted else unfitted_copy(task.learner)
    try:
        if not task.fitted:
            beside = {name: take_rows(values, task.train) for name, values in task.beside.items()}
            fit(learner, take_rows(task.X, task.train), take_rows(task.y, task.train), _taken(task), **beside)
        X_test = take_rows(task.X, task.test) if task.scorers or task.own_scores is None else None
        said = predictions_of(learner, X_test, task.regression, task.own_scores)
        scores = {}
        if task.scorers:
            y_test = take_rows(task.y, task.test)
            scores = {name: float(scorer(learner, X_test, y_test)) for name, scorer in task.scorers.items()}
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        return FoldResult(task.number, task.test, task.fold.learned_from, None, perf_counter() - start, error=message)
    last = final_step(learner)
    status = getattr(last, "status_", None)
    return FoldResult(
        task.number,
        task.test,
        task.fold.learned_from,
        said,
        perf_counter() - start,
        method=getattr(last, "method_", None),
        status=getattr(status, "name", None),
        scores=scores,
    )


def _taken(task: FoldTask) -> NDArray[np.float64] | None:
    return None if task.weights is None else task.weights[task.train]


def fit(learner: Any, X: Any, y: Any, weights: NDArray[np.float64] | None, **beside: Any) -> Any:
    """Fit with weights where there are any; in a pipeline they belong to the last step."""
    if weights is None:
        return learner.fit(X, y, **beside)
    steps = getattr(learner, "steps", None)
    name = "sample_weight" if steps is None else f"{steps[-1][0]}__sample_weight"
    return learner.fit(X, y, **{name: weights}, **beside)


def final_step(learner: Any) -> Any:
    """The learner at the end of a pipeline."""
    steps = getattr(learner, "steps", None)
    return learner if not steps else final_step(steps[-1][1])


def need_learner(learner: Any) -> None:
    """A learner is an object with parameters, not a class and not anything else."""
    if isinstance(learner, type) or not hasattr(learner, "get_params"):
        raise ParameterError(f"learner is {learner!r}: pass an estimator, such as Perceptron() with its parentheses.")


def seeded_clone(learner: Any, seed: int) -> Any:
    """An unfitted copy; random states that were left open get this seed, so that a fold repeats anywhere."""
    need_learner(learner)
    copy = unfitted_copy(learner)
    params = copy.get_params(deep=not getattr(copy, "_seeds_candidates", False))
    is_open = [k for k in params if (k == "random_state" or k.endswith("__random_state")) and params[k] is None]
    return copy.set_params(**dict.fromkeys(sorted(is_open), seed)) if is_open else copy


def seeds_of_folds(seed: int, count: int) -> list[int]:
    """One seed a fold."""
    return [int(s) for s in np.random.SeedSequence(seed).generate_state(count) % 2**31]


def make_tasks(
    learner: Any,
    X: Any,
    y: Any,
    folds: Sequence[Fold],
    weights: NDArray[np.float64] | None,
    regression: bool,
    seed: int,
    scorers: dict[str, Scorer] | None = None,
    beside: dict[str, Any] | None = None,
) -> list[FoldTask]:
    """One task a fold, each with its own clone."""
    return [
        FoldTask(k, seeded_clone(learner, s), X, y, fold, weights, regression, scorers or {}, beside or {})
        for k, (fold, s) in enumerate(zip(folds, seeds_of_folds(seed, len(folds)), strict=True))
    ]


def stop_at_failure(results: Sequence[FoldResult], learner: Any, on_failure: str) -> tuple[str, ...]:
    """The failures as text; or an error, if one is enough to stop or none is left."""
    failed = [r for r in results if r.error is not None]
    if not failed:
        return ()
    told = [f"fold {r.number}, learned from {r.learned_from} rows: {r.error}" for r in failed]
    name = type(final_step(learner)).__name__
    if on_failure == "raise":
        raise FoldError(f"{name} failed in {told[0]} ({GOES_ON})")
    if len(failed) == len(results):
        raise FoldError(f"{name} failed in every fold; the first: {told[0]}")
    return tuple(told)


Warned = list[tuple[type[Warning], str]]
PATIENCE = 0.05  # seconds between two looks at threads and signals
Task = TypeVar("Task")
Result = TypeVar("Result")


def executor_of(executor: Any, n_jobs: int | None) -> Any:
    """The executor, or a number of threads in scikit-learn's way: -1 for all processors, -2 for all but one."""
    if n_jobs is None:
        return executor
    if executor is not None:
        raise ParameterError("executor and n_jobs are both given: they say the same, pass one of them.")
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0:
        raise ParameterError(f"n_jobs is {n_jobs!r}: it can be a number of threads, or -1 for all processors.")
    return int(n_jobs) if n_jobs > 0 else max(1, thread_count() + 1 + int(n_jobs))


@contextmanager
def _pool(executor: Any) -> Iterator[Any]:
    if isinstance(executor, (int, np.integer)) and not isinstance(executor, bool):
        if executor < 1:
            raise ParameterError(f"executor is {executor}: a number of threads is at least 1.")
        with ThreadPoolExecutor(int(executor)) as pool:
            yield pool
    elif executor is None or hasattr(executor, "submit"):
        yield executor
    else:
        raise ParameterError(f"executor is {executor!r}: it can be None, a number of threads, or have submit().")


def spread(
    work: Callable[[Task], Result], tasks: Iterable[Task], executor: Any = None, progress: Any = None
) -> list[Result]:
    """The results of all tasks, in their order; what their fits warn of is said once."""
    queue = list(tasks)
    tell = _progress(progress)
    quiet = Quiet(work)
    out: list[tuple[Result, Warned]] = []
    with _pool(executor) as pool:
        if pool is None:
            for task in queue:
                out.append(quiet(task))
                tell(len(out), len(queue))
            return _results(out)
        stoppable = Stoppable(quiet) if isinstance(pool, ThreadPoolExecutor) else None
        futures: list[Future[tuple[Result, Warned]]] = []
        try:
            futures.extend(pool.submit(stoppable or quiet, task) for task in queue)
            for future in futures:
                out.append(_awaited(future))
                tell(len(out), len(queue))
        except BaseException:
            for future in futures:
                future.cancel()
            if stoppable is not None:
                stoppable.stop()
            raise
        return _results(out)


def _awaited(future: Future[Result]) -> Result:
    """The result of a future. A wait without a limit would miss a Ctrl-C that comes just before it."""
    while True:
        try:
            return future.result(timeout=PATIENCE)
        except TimeoutError:
            if future.done():  # the error is the work's own
                return future.result()


@dataclass(frozen=True)
class Quiet(Generic[Task, Result]):
    """Work with its result and what it warned of, also in another process."""

    work: Callable[[Task], Result]

    def __call__(self, task: Task) -> tuple[Result, Warned]:
        with held_warnings() as warned:
            return self.work(task), warned


def _results(out: list[tuple[Result, Warned]]) -> list[Result]:
    """The results alone; of the warnings the first of each kind, with how many pieces of work had one."""
    for kind in dict.fromkeys(kind for _, warned in out for kind, _ in warned):
        had = [texts[0] for _, warned in out if (texts := [text for k, text in warned if k is kind])]
        warn_user(had[0] if len(out) == 1 else f"in {len(had)} of {len(out)} fits, the first: {had[0]}", kind)
    return [result for result, _ in out]


class Stoppable:
    """Work on threads that ends when everything ends: Ctrl-C reaches the main thread alone, and a fit may be long."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self.work = work
        self.busy: set[int] = set()
        self.over = False

    def __call__(self, task: Any) -> Any:
        self.busy.add(get_ident())
        try:
            if self.over:
                raise KeyboardInterrupt
            return self.work(task)
        finally:
            self.busy.discard(get_ident())

    def stop(self) -> None:
        """Raise KeyboardInterrupt in every thread at work until it ends: where it is raised it may be ignored."""
        import ctypes

        self.over = True  # for tasks that a thread is about to take
        while working := self.busy & {thread.ident for thread in enumerate_threads() if thread.ident is not None}:
            for thread in working:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt))
            sleep(PATIENCE)


def _progress(progress: Any) -> Callable[[int, int], None]:
    if progress is None or progress is False:
        return lambda done, total: None
    if callable(progress):
        return progress  # type: ignore[no-any-return]  # a function of (done, total)
    if progress is not True:
        raise ParameterError(f"progress is {progress!r}: it can be True, False or a function of (done, total).")

    def write(done: int, total: int) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{done} of {total} fits" + ("\n" if done == total else ""))
            sys.stderr.flush()

    return write
