"""Learners that move on mistakes, by iterative parameter mixing (McDonald, Hall and Mann 2010).

In an epoch every partition makes one pass over its own rows from the same weights w, and the next w is the mean of
where they end, with weights mu_i >= 0 that sum to 1. Let k_in be the mistakes of partition i in epoch n, R the length
of the longest lifted row and g the lifted margin. From zero, for any such weights (theorem 3 there),

    sum_n sum_i mu_in k_in <= (R/g)^2.

With mu_in = k_in / sum_j k_jn, as here for the perceptron, the inner sum is at least 1 in every epoch with a mistake:
on separable rows at most (R/g)^2 epochs have one, and the run ends with a clean epoch, whose weights separate all rows.
The averaged perceptron, passive-aggressive learning and AROW are mixed by the number of rows; nothing is guaranteed
of them. Partitions are those of the source, so that the result does not depend on the number of workers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import add
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.cluster.checkpoints import Checkpoint
from separatrix.cluster.encoded_source import EncodedSource
from separatrix.cluster.rounds import HeldPart
from separatrix.errors import IterationWarning, ParameterError, warn_user
from separatrix.models.perceptron.class_vectors import one_of_two
from separatrix.models.perceptron.mistake_driven import MistakeDriven
from separatrix.models.perceptron.passes import LabelledRows, OnlinePasses, OnlineState, Order, PassMeasure
from separatrix.numerics.driver import drive
from separatrix.numerics.status import Status, Stop, last_of, raise_interruption

GUARANTEE = "at most (R/g)^2 weighted mistakes on separable rows (McDonald, Hall and Mann 2010)"
NO_GUARANTEE = "none: mixing of this learner has no convergence guarantee"


@dataclass(frozen=True, slots=True)
class MixTask:
    """Which vectors are learned: one class (number) against the rest, or all at once by Kesler's rule (None)."""

    learner: MistakeDriven
    against: int | None
    by_mistakes: bool


@dataclass(slots=True)
class MixState:
    """Weights after so many epochs, and what the passes counted."""

    lifted: Floats
    final: Floats
    beside: dict[str, NDArray[Any]]
    passes: list[PassMeasure] = field(default_factory=list)
    weighted: float = 0.0  # the sum that the theorem bounds
    visits: int = 0


class MixSums(NamedTuple):
    """Sums over partitions of weights mu_i times where each ended, before they are divided by their sum."""

    share: float
    mistakes: int
    weighted: float
    rows: int
    lifted: Floats
    final: Floats
    beside: dict[str, Floats]


def mixed_pass(part: HeldPart, task: MixTask, lifted: Floats, beside: dict[str, Floats], epoch: int) -> MixSums:
    """One pass over the rows of a partition, from the weights of all."""
    learner, rule = task.learner, task.learner._rule()
    rows = kernels.rows(part.X)
    step, norm = learner._steps(rows, part.weights)
    labels: Any = part.y.astype(np.int32)
    if task.against is not None:
        labels = np.where(part.y == task.against, 1, -1).astype(np.int8)
    vectors = rule.fresh(kernels.aligned(lifted.copy()), kesler=task.against is None)
    if vectors.seen is not None:
        vectors.seen[:] = 1
    for name, own in beside.items():
        vectors.beside[name] = kernels.aligned(own.copy())
    chance = None
    if learner.order == "shuffle":
        seed = np.random.SeedSequence([int(learner.random_state or 0), epoch, part.partition.index])
        chance = seed.generate_state(1, np.uint64).astype(np.uint64)
    passes = OnlinePasses(Order(chance), habit=part.memo.get("habit") if task.against is not None else None)
    state = OnlineState(vectors, rule.kernel(vectors))
    passes.step(state, LabelledRows(rows, labels, step, norm))
    part.memo["habit"] = passes.habit
    k = state.mistakes
    share = float(k if task.by_mistakes else part.n)
    carried = {name: share * vectors.beside[name] for name in beside}
    return MixSums(share, k, share * k, part.n, share * vectors.lifted, share * rule.final(vectors), carried)


def join_mixed(left: MixSums, right: MixSums) -> MixSums:
    """Sums of two runs of partitions."""
    beside = {name: own + right.beside[name] for name, own in left.beside.items()}
    sums: Any = zip(left[:-1], right[:-1], strict=True)
    return MixSums._make((*(a + b for a, b in sums), beside))


def wrong_rows(part: HeldPart, lifted: Floats, ties_are_wrong: bool) -> int:
    """How many rows of a partition the weights misclassify."""
    rows = kernels.rows(part.X)
    if len(lifted) == 1:
        return kernels.errors(rows, np.where(part.y == 1, 1, -1).astype(np.int8), lifted[0], ties_are_wrong)
    return kernels.class_errors(rows, part.y, lifted, ties_are_wrong)


@dataclass(frozen=True, slots=True)
class Mixing:
    """A solver whose step is an epoch."""

    source: EncodedSource
    task: MixTask
    stop: Stop
    checkpoint: Checkpoint

    def terminate(self, state: MixState) -> Status | None:
        return self.stop(state.passes) if state.passes else None

    def step(self, state: MixState) -> MixState:
        epoch = len(state.passes)
        rounds = self.source.rounds
        sums: MixSums = rounds.reduce(
            f"epoch {epoch + 1}", mixed_pass, self.task, state.lifted, state.beside, epoch, join=join_mixed
        )
        updates = (state.passes[-1].updates if state.passes else 0) + sums.mistakes
        lifted, final, beside = state.lifted, state.final, state.beside
        if sums.share > 0:
            lifted = sums.lifted / sums.share
            beside = {name: own / sums.share for name, own in sums.beside.items()}
            ended = sums.final / sums.share
            final = final + (ended - final) / (epoch + 1) if self.task.learner._rule().averages else ended
        finite = kernels.first_nonfinite(lifted) < 0
        passes = [*state.passes, PassMeasure(sums.mistakes, updates, finite)]
        weighted = state.weighted + (sums.weighted / sums.share if sums.share > 0 else 0.0)
        moved = MixState(lifted, final, beside, passes, weighted, state.visits + sums.rows)
        self.keep(moved)
        return moved

    def keep(self, state: MixState) -> None:
        carried = {f"beside {name}": own for name, own in state.beside.items()}
        measured = np.array([[p.mistakes, p.updates] for p in state.passes], dtype=np.int64)
        about = {"weighted": state.weighted, "visits": state.visits, "against": self.task.against}
        self.checkpoint.save(lifted=state.lifted, final=state.final, measured=measured, **carried, **about)

    def resumed(self, fresh: MixState) -> MixState:
        kept = self.checkpoint.load()
        if kept is None or kept["against"] != self.task.against:
            return fresh
        passes = [PassMeasure(int(k), int(updates), True) for k, updates in kept["measured"]]
        beside = {name.removeprefix("beside "): own for name, own in kept.items() if name.startswith("beside ")}
        for count in range(1, len(passes)):  # what the rule remembers of the passes before
            self.stop(passes[:count])
        return MixState(kept["lifted"], kept["final"], beside, passes, float(kept["weighted"]), int(kept["visits"]))


def need_mixable(learner: Any) -> None:
    """Refuse options under which partitions cannot pass by themselves."""
    learner._check_parameters()
    start = getattr(learner, "start", "zeros")
    for said, bad in (
        (f"order={learner.order!r}", learner.order not in ("cyclic", "shuffle")),
        (f"start={start!r}", not (isinstance(start, str) and start == "zeros")),
        ("class_weight", learner.class_weight is not None),
        ("warm_start", learner.warm_start),
        ("trace=True", getattr(learner, "trace", False)),
        ("stop='streak'", getattr(learner, "stop", "pass") == "streak"),
        ("max_updates", learner.max_updates is not None),
        ("hashing", getattr(learner, "hashing", None) is not None),
        ("a random_state that is not a number", not isinstance(learner.random_state, (int, type(None)))),
    ):
        if bad:
            raise ParameterError(f"{type(learner).__name__} with {said} has no distributed form: leave it out.")


def fit_by_mixing(learner: Any, source: EncodedSource, checkpoint: Checkpoint) -> dict[str, Any]:
    """Mix until a clean epoch or a limit; what was counted, for the account of the model."""
    count = len(source.classes)
    need_mixable(learner)
    by_mistakes = learner._distributed == "mistakes"
    kesler = learner.multiclass == "kesler"
    wanted: list[int | None] = [None] if kesler else [1] if count == 2 else list(range(count))
    start = np.zeros((count if kesler else 1, source.d + 1))
    rule = learner._rule()
    ends, statuses = list[MixState](), list[Status]()
    for k in wanted:
        # The average of a pass begins anew with it; anything else beside the vectors is mixed as they are.
        beside = {} if rule.averages else rule.beside(start)
        fresh = MixState(start.copy(), start.copy(), beside)
        solver = Mixing(source, MixTask(learner, k, by_mistakes), learner._stop(source.n), checkpoint)
        run = drive(solver, solver.resumed(fresh))
        ends.append(run.state)
        statuses.append(run.status)
        if run.status is Status.INTERRUPTED:
            break
    ends += [MixState(start, start, {})] * (len(wanted) - len(ends))
    _show(learner, source, ends, last_of(statuses))
    raise_interruption(learner.status_)
    _judge(learner, source, by_mistakes)
    return {
        "epochs": int(learner.n_iter_),
        "mistakes": int(learner.mistakes_),
        "weighted_mistakes": [end.weighted for end in ends],
        "guarantee": GUARANTEE if by_mistakes and learner.tie == "mistake" else NO_GUARANTEE,
    }


def _show(learner: Any, source: EncodedSource, ends: list[MixState], status: Status) -> None:
    """The weights and the account as attributes; a stream may go on from the weights."""
    lifted = one_of_two(np.vstack([end.final for end in ends]))
    counts = np.zeros((len(ends), max(1, *(len(end.passes) for end in ends))), dtype=np.int64)
    for row, end in zip(counts, ends, strict=True):
        row[: len(end.passes)] = [measure.mistakes for measure in end.passes]
    learner._forget_stream()
    learner._remember_features(source.table)
    learner.classes_, learner.status_, learner.trace_ = source.classes, status, None
    learner.coef_, learner.intercept_ = np.ascontiguousarray(lifted[:, :-1]), lifted[:, -1].copy()
    learner.n_iter_, learner.epoch_mistakes_ = counts.shape[1], counts.sum(axis=0)
    learner.mistakes_, learner.visits_ = int(counts.sum()), sum(end.visits for end in ends)


def _judge(learner: Any, source: EncodedSource, by_mistakes: bool) -> None:
    """How many rows are wrong; a run that stopped at a limit may have separated them all the same."""
    lifted = np.ascontiguousarray(np.column_stack([learner.coef_, learner.intercept_]))
    ties = getattr(learner, "tie", "mistake") == "mistake" and len(lifted) == 1
    learner.errors_ = int(source.rounds.reduce("rows that are wrong", wrong_rows, lifted, ties, join=add))
    stopped = learner.status_ in (Status.PLATEAU, Status.MAX_ITERATIONS)
    if stopped and not learner.errors_:
        learner.status_ = Status.SEPARATED
    elif stopped and by_mistakes:
        warn_user(
            f"mixing stopped after {learner.n_iter_:,} epochs with {learner.errors_:,} rows misclassified: raise "
            "max_iter if the classes are separable.",
            IterationWarning,
        )
