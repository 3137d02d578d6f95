"""Audits as a new user would make them: seconds against the budget, the headline, the advice, and whether it is good.

``python -m benchmarks tour`` runs both parts; ``--budgets`` or ``--advice`` runs one of them, ``--quick`` fewer.
``--budget=30`` runs one budget alone, ``--world=churn`` one table alone (both may be repeated), ``--seeds=5`` fewer
seeds of advice. With ``--processor`` audits read the time of their processor, as on a machine that has nothing else
to do.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._tour_tables import WORLDS, World, write

CODE = "import sys; from separatrix.cli.main import main; main(sys.argv[1:])"
PROCESSOR = "import time; time.perf_counter = time.process_time; "
BUDGETS = (10, 30, 120)
SEEDS = 20
QUICK_ROWS = 20_000  # rows of the largest table of a quick run
EXAMPLES = {"example:spam": "example:spam", "example:xor (4 rows)": "example:xor"}
FRESH = 4000  # rows on which learners are judged


def main() -> None:
    asked = _asked(sys.argv[1:])
    if not asked.advice:
        budgets(asked)
    if not asked.budgets:
        advice(asked)


def _asked(words: list[str]) -> argparse.Namespace:
    """The options; words that are not ours name other benchmarks."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks tour")
    for flag in ("--budgets", "--advice", "--quick", "--processor"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--budget", type=float, action="append")
    parser.add_argument("--world", action="append", choices=[*EXAMPLES, *(world.name for world in WORLDS)])
    parser.add_argument("--seeds", type=int)
    asked = parser.parse_known_args(words)[0]
    asked.budget = asked.budget or list(BUDGETS[:1] if asked.quick else BUDGETS)
    asked.seeds = asked.seeds or (2 if asked.quick else SEEDS)
    return asked


# -- seconds against the budget ------------------------------------------------------------------


def budgets(asked: argparse.Namespace) -> None:
    """Every table in a process of its own, from start to exit; at most 1.2 budgets and 3 seconds are wanted."""
    print("| table | budget | at most | seconds | CPU | load | headline | advice |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    kept = total = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, source, target in _tables(Path(folder), asked):
            for budget in asked.budget:
                _, cpu, wall, found = run(source, target, budget, Path(folder), asked.processor)
                most, counted = 1.2 * budget + 3, cpu if asked.processor else wall
                kept, total = kept + (counted <= most), total + 1
                over = "" if counted <= most else " **over**"
                print(
                    f"| {name} | {budget:g} | {most:.0f} | {wall:.1f} | {cpu:.1f}{over} "
                    f"| {os.getloadavg()[0]:.1f} | {found['answers']['prediction']['answer']} "
                    f"| {found['recommendation']['use']} |",
                    flush=True,
                )
    print(
        f"\nWithin 1.2 budgets and 3 seconds: {kept} of {total}, by {'CPU' if asked.processor else 'elapsed'} seconds."
    )


def _tables(folder: Path, asked: argparse.Namespace) -> Iterator[tuple[str, str, str | None]]:
    for name, source in EXAMPLES.items():
        if asked.world is None or name in asked.world:
            yield name, source, None
    for world in WORLDS:
        small = not asked.quick or world.rows <= QUICK_ROWS
        if small and (asked.world is None or world.name in asked.world):
            path = write(world, folder / "table", world.rows)
            yield world.name, str(path), world.target


def run(
    source: str, target: str | None, budget: float, folder: Path, by_processor: bool = False
) -> tuple[int, float, float, dict[str, Any]]:
    """Exit code, CPU seconds, elapsed seconds and audit.json of one command; the test rows were never used before."""
    out = folder / "audit"
    environment = {**os.environ, "SEPARATRIX_LEDGER": str(folder / f"ledger-{time.monotonic_ns()}")}
    code = PROCESSOR + CODE if by_processor else CODE
    command = [sys.executable, "-c", code, "audit", source, "--budget", str(budget), "-q", "-o", str(out)]
    command += [] if target is None else ["-t", target]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, check=True, env=environment)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.returncode, cpu, wall, json.loads((out / "audit.json").read_text(encoding="utf-8"))


# -- is the advice good? -------------------------------------------------------------------------


def advice(asked: argparse.Namespace) -> None:
    """Compared learners, fitted on all rows, judged on fresh ones: is the advised one within an error of the best?"""
    print("\n| world | rows | compared | advised | within a standard error of the best | median loss | worst loss |")
    print("| --- | --- | --- | --- | --- | --- | --- |", flush=True)
    good, total, seeds = 0, 0, asked.seeds
    clock = time.process_time if asked.processor else time.perf_counter
    for world in WORLDS:
        if not world.few or (asked.world is not None and world.name not in asked.world):
            continue
        told = []
        for seed in range(seeds):
            told.append(judged(world, seed, asked.budget[0], clock))
            name, loss, compared = told[-1]
            print(
                f"  {world.name}, seed {seed}: {name}, of {compared} compared, {loss:.2f}", file=sys.stderr, flush=True
            )
        losses = [loss for _, loss, _ in told]
        within = sum(loss <= 1 for loss in losses)
        good, total = good + within, total + seeds
        names = {name: sum(own == name for own, _, _ in told) for name, _, _ in told}
        listed = ", ".join(f"{name} {n}" for name, n in sorted(names.items(), key=lambda own: -own[1]))
        compared = _span([own for _, _, own in told])
        print(
            f"| {world.name} | {world.few:,} | {compared} | {listed} | {within} of {seeds} "
            f"| {np.median(losses):.2f} | {max(losses):.2f} |",
            flush=True,
        )
    print(f"\nWithin a standard error: {good} of {total} ({100 * good / total:.0f}%); losses in standard errors.")


def _span(numbers: list[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low}" if low == high else f"{low} to {high}"


def judged(
    world: World, seed: int, budget: float = 10.0, now: Callable[[], float] = time.perf_counter
) -> tuple[str, float, int]:
    """The advised learner, by how many standard errors the best compared one is better on fresh rows, and of how many.

    The error is that of the best learner's estimate by cross-validation: what a table of this size can tell. Only the
    steps of an audit run that the advice depends on.
    """
    from separatrix.auditing import prediction, separation
    from separatrix.auditing.audit_table import encode_table
    from separatrix.auditing.budget import Clock, Plan, Session
    from separatrix.auditing.candidate_learners import candidates
    from separatrix.auditing.inputs import SplitRule, task_for_audit
    from separatrix.features.encoder import Choices

    with tempfile.TemporaryDirectory() as folder:
        path = write(world, Path(folder) / "table", world.few, seed)
        fresh = write(world, Path(folder) / "fresh", FRESH, 10_000 + seed)
        task = task_for_audit(str(path), world.target, None, None)
        table = encode_table(task, Choices((), (), (), (), words="tfidf"), (), SplitRule())
        plan = Plan(table.n, table.d, table.cells, table.score_vectors, budget)
        session = Session(Clock(budget, now=now), plan, seed, 0.95)
        verdict = None if table.regression else separation.decide(table, session).verdict
        listed = candidates(table, session, verdict)
        facts = prediction.estimate(table, session, listed, Path(folder) / "ledger").facts
        new = task_for_audit(str(fresh), world.target, None, "regression" if table.regression else "classification")
    values = dict(_on_fresh_rows(table, listed, facts, new))
    sign = 1 if facts.greater_is_better else -1
    best = max(values, key=lambda name: sign * values[name])
    e = facts.learner(best).estimates[facts.metric]
    error = (e.high - e.low) / (2 * 1.959964) if e.low is not None and e.high is not None else np.inf
    advised = None if facts.better_than_guessing is False else facts.chosen
    own = facts.baseline if advised is None else values[advised]
    return advised or "none", max(0.0, sign * (values[best] - own) / error), len(values)


def _on_fresh_rows(table: Any, listed: list[Any], facts: Any, new: Any) -> Iterator[tuple[str, float]]:
    """The metric of every compared learner, fitted on all rows of the table, on fresh rows."""
    from separatrix.auditing.candidate_learners import FullFits, inner
    from separatrix.features.table_model import EncodedLearner

    fits, compared = FullFits(table), {learner.name for learner in facts.learners}
    for candidate in listed:
        if candidate.name in compared:
            model, _ = fits.of(candidate)
            encoder = model.encoder_ if isinstance(model, EncodedLearner) else table.encoder
            rows = encoder.encode(new.table)[0]
            yield candidate.name, measured(facts.metric, inner(model), rows, new.y, facts.metric_class)


def measured(metric: str, learner: Any, rows: Any, truth: Any, label: str | None) -> float:
    """The value of a metric, computed here from predictions and scores alone."""
    predicted = learner.predict(rows)
    if metric == "rmse":
        return float(np.sqrt(np.mean((predicted - truth) ** 2)))
    if metric == "accuracy":
        return float(np.mean(predicted == truth))
    if metric == "balanced_accuracy":
        return float(np.mean([np.mean(predicted[truth == own] == own) for own in np.unique(truth)]))
    positive = truth.astype(str) == label
    first = str(learner.classes_[0]) == label
    order = np.argsort(learner.decision_function(rows) * (1 if first else -1), kind="stable")
    hits = np.cumsum(positive[order])
    return float(np.sum((hits / np.arange(1, len(hits) + 1))[positive[order]]) / hits[-1])


if __name__ == "__main__":
    main()
