"""``audit``: five questions about a table, each answered when its answer is needed, and the folder that is written."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from separatrix.auditing import assumptions, best_hyperplane, efficiency, prediction, separation
from separatrix.auditing.audit_certificate import Certified, certify
from separatrix.auditing.audit_facts import FORMAT, AuditFacts, RunFacts
from separatrix.auditing.audit_table import AuditTable, encode_table, table_facts
from separatrix.auditing.budget import AuditPlan, Clock, Session
from separatrix.auditing.candidate_learners import FullFits, candidates, inner
from separatrix.auditing.figure_numbers import make_pictures
from separatrix.auditing.fitted_hyperplanes import fit_learners
from separatrix.auditing.inputs import split_rule_of, task_for_audit
from separatrix.auditing.phrasing import Answer, count
from separatrix.auditing.recommendation import recommend
from separatrix.auditing.self_check import need_no_contradiction
from separatrix.data.frame import Frame
from separatrix.errors import DataError, ParameterError
from separatrix.evaluation.splits import seed_of
from separatrix.features.encoder import Choices
from separatrix.features.table_model import EncodedLearner, TableModel
from separatrix.statistics.distributions import need_level


@dataclass(frozen=True)
class Audit:
    """Five answers about a table; ``str`` is a screen, ``to_dict`` is audit.json, ``save`` writes the folder.

    Attributes
    ----------
    facts : AuditFacts
        Every number, typed.
    answers : dict
        The five answers: separation, best, algorithm, prediction, assumptions.
    model : TableModel or None
        The recommended learner, fitted.
    certificate : Certificate or None
        The proofs of the first two answers.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from separatrix import audit
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = audit("example:six-points", ledger=Path(folder) / "ledger.jsonl")
    ...
    >>> print(result.answers["best"].answer)
    The maximum margin, 1 on each side; it is unique (proved)
    """

    facts: AuditFacts
    model: TableModel | None
    certified: Certified | None

    @property
    def answers(self) -> dict[str, Answer]:
        """The answers by question: separation, best, algorithm, prediction, assumptions."""
        return self.facts.answers

    @property
    def certificate(self) -> Any:
        """The proof of the first two answers; None where there is none."""
        return None if self.certified is None else self.certified.certificate

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as audit.json has them.

        Returns
        -------
        dict
            Plain numbers, texts and lists.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from separatrix import audit
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result = audit("example:six-points", ledger=Path(folder) / "ledger.jsonl")
        ...
        >>> result.to_dict()["table"]["rows"]
        6
        """
        return self.facts.to_dict()

    def __str__(self) -> str:
        from separatrix.auditing.audit_facts import screen

        return "\n".join(screen(self.facts))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from separatrix.auditing.report.page import fragment

        return fragment(self.facts)

    def report(self, rows: bool = True) -> str:
        """The report as one HTML page.

        Parameters
        ----------
        rows : bool
            Whether it may contain rows of the table: those that its proof needs, up to 300 kB, and short excerpts.

        Returns
        -------
        str
            HTML that loads nothing from the network; its only script checks the proof.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from separatrix import audit
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result = audit("example:six-points", ledger=Path(folder) / "ledger.jsonl")
        ...
        >>> result.report().count("<h1")
        1
        """
        from separatrix.auditing.report.page import page

        return page(self.facts, self.certified, rows)

    def save(self, path: str | Path = "audit", rows: bool = True) -> Path:
        """Write report.html, audit.json, model.sepx and the certificate with its data into a folder.

        Parameters
        ----------
        path : str or Path
            The folder.
        rows : bool
            Whether report.html may contain rows of the table; the other files do in any case.

        Returns
        -------
        Path
            The folder.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from separatrix import audit
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result = audit("example:six-points", ledger=Path(folder) / "ledger.jsonl")
        ...     files = sorted(file.name for file in result.save(Path(folder) / "audit").iterdir())
        ...
        >>> files
        ['audit.json', 'certificate.json', 'certified.csv', 'report.html']
        """
        target = Path(path)
        write_folder(target, lambda folder: self._write(folder, rows))
        return target

    def _write(self, folder: Path, rows: bool) -> None:
        from separatrix.persistence.model_files import save

        text = json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=1)
        (folder / "audit.json").write_text(text + "\n", encoding="utf-8")
        (folder / "report.html").write_text(self.report(rows), encoding="utf-8")
        if self.certified is not None:
            self.certified.save(folder)
        if self.model is not None:
            save(self.model, folder / "model.sepx")


def audit(
    table: Any,
    target: Any = None,
    *,
    positive: Any = None,
    task: str | None = None,
    budget: float = 60.0,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    text: Sequence[str] = (),
    category: Sequence[str] = (),
    number: Sequence[str] = (),
    feature_map: str | None = None,
    formula: str | None = None,
    groups: Any = None,
    time: Any = None,
    level: float = 0.95,
    random_state: Any = 0,
    ledger: Any = None,
    progress: Callable[[str], None] | None = None,
    began: float | None = None,
) -> Audit:
    """Answer five questions about a labelled table, with proofs and intervals.

    Can a hyperplane separate the classes? What is the best hyperplane, and is it unique? Can it be found
    efficiently? How well does it predict new rows? Which assumptions does that need, and do they hold?

    Parameters
    ----------
    table : a source (file, pattern, ``example:NAME``, SQL over files), a frame of pandas, polars, pyarrow or duckdb,
        a dict of columns, or an array or sparse matrix with its labels as ``target``
    target : name of the column to learn, or one label a row; guessed if a column is named target, label, class or y
    positive : the positive class of two; default: 1 of 0 and 1, yes, true, else the rarer
    task : {"classification", "regression"}, default: regression for numbers that are not whole, or of many values
    budget : seconds for everything, reading and the report included; which learners and proofs run depends on it and
        on the size of the table, and what was left out is reported
    drop, keep : columns to leave out; columns that look like leaks and are nevertheless to be used
    text, category, number : columns of this type, where the guess would be wrong
    feature_map : {"poly:2", ..., "poly:5", "splines"} or None; every answer is then about the mapped columns
    formula : such as "y ~ age + C(ward) * dose" with a frame as the table: every answer is then about its columns;
        functions that learn from rows, as splines, see all rows, test rows included
    groups : name of a column, or one value a row: no group (a person, a place) appears in both training and test
        rows; the column is not a feature
    time : name of a column, or one moment a row: later rows are predicted from earlier ones; the column is not a
        feature
    level, random_state : of the intervals; of splits and samples (the same seed gives the same audit)
    ledger : file in which the use of the test rows is recorded, as in :func:`separatrix.holdout`
    progress : called with the name of each stage
    began : ``time.perf_counter()`` when the budget began to run, default: now

    Returns
    -------
    Audit

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from separatrix import audit
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = audit("example:six-points", ledger=Path(folder) / "ledger.jsonl")
    ...
    >>> print(result.answers["separation"].answer)
    Yes (proved)
    """
    if isinstance(budget, bool) or not isinstance(budget, (int, float, np.number)) or not 0 < budget < np.inf:
        raise ParameterError(f"budget is {budget!r}: it must be a number of seconds above 0.")
    clock = Clock(float(budget), progress or (lambda stage: None), began)
    choices = Choices(_names(drop), _names(text), _names(category), _names(number), words="tfidf", map=feature_map)
    seed, level = seed_of(random_state), need_level(level)
    with clock.stage("read"):
        found, rule = split_rule_of(task_for_audit(table, target, positive, task, formula), groups, time)
    with clock.stage("encode"):
        named = tuple(found.table.names) if formula is not None and isinstance(found.table, Frame) else ()
        made = encode_table(found, choices, (*_names(keep), *named), rule)
        clock.start_steps()
        plan = AuditPlan.for_table(made.n, made.d, made.cells, made.score_vectors, clock.allowed)
    session = Session(clock, plan, seed, level)
    return _answer(made, session, ledger)


def _names(given: Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _answer(table: AuditTable, session: Session, ledger: Any) -> Audit:
    """Ask the five questions; about a quantity the first two are answered by a least-squares fit to all rows."""
    clock, fits = session.clock, FullFits(table)
    decided: separation.DecidedSeparation | None = None
    best: best_hyperplane.BestHyperplane | None = None
    full: best_hyperplane.FullFit | None = None
    certified = None
    if table.regression:
        full = best_hyperplane.fit_all_rows(table, session)
    else:
        with clock.stage("separation"):
            decided = separation.decide(table, session)
        best = best_hyperplane.find(table, session, decided)
    listed = candidates(table, session, None if decided is None else decided.verdict)
    predicted = prediction.estimate(table, session, listed, ledger)
    _keep_fit(session, fits, predicted)
    fitted = fit_learners(table, session, fits, listed, decided)
    if decided is not None and best is not None:
        best = best_hyperplane.with_mistakes(table, session, decided, best, fitted)
        with clock.stage("certificate"):
            certified = certify(table, session, decided, best)
    separable = decided is not None and decided.facts.separable
    algorithm = efficiency.measure(table, session, best, separable, fitted, listed, predicted)
    checked, quantiles = assumptions.check(table, session, predicted, decided, best, full)
    drawn = make_pictures(table, session, fits, listed, predicted, decided, best, quantiles, full)
    model = _model(table, session, fits, predicted)
    facts = table_facts(table, seed=session.seed, level=session.level, budget=clock.allowed)
    first, second = None if decided is None else decided.facts, None if best is None else best.facts
    advice = recommend(facts, predicted.facts, predicted.chosen, algorithm.neighbour, first, second, checked)
    found = AuditFacts(
        table=facts,
        separation=first,
        exact_fit=None if full is None else full.exact_fit,
        best=second,
        least_squares=None if full is None else full.best,
        algorithm=algorithm,
        prediction=predicted.facts,
        assumptions=checked,
        recommendation=advice,
        pictures=drawn,
        certificate=None if certified is None else certified.facts,
        left_out=clock.omissions,
        run=_run_facts(clock, predicted),
    )
    need_no_contradiction(found, None if certified is None else certified.certificate)
    return Audit(found, model, certified)


def _keep_fit(session: Session, fits: FullFits, predicted: prediction.Prediction) -> None:
    """Where another fit of the choice, on all rows, would take too long, the one on the training rows stays."""
    clock, learned = session.clock, predicted.learned_from
    if predicted.chosen is None:
        return
    planned = 2 * session.plan.fitted_rows >= fits.table.n
    if planned and predicted.seconds * fits.table.n <= 0.5 * clock.left * learned:
        return
    fits.done[predicted.chosen.name] = predicted.model, predicted.seconds
    why = f"the model is the one that was fitted on {count(learned)} training rows"
    clock.leave_out("a fit on all rows", f"{why}{'; the clock cut another one' if planned else ''}")


def _model(table: AuditTable, session: Session, fits: FullFits, predicted: prediction.Prediction) -> TableModel | None:
    """The chosen learner fitted on all rows."""
    if predicted.chosen is None:
        return None
    with session.clock.stage("fit the choice"):
        model, _ = fits.of(predicted.chosen)
    encoder = model.encoder_ if isinstance(model, EncodedLearner) else table.encoder
    rows = predicted.learned_from if model is predicted.model else table.n
    about = {"source": table.task.source.name, "rows": rows, **table.task.read_by}
    return TableModel(inner(model), encoder, table.task.target, table.task.positive, about)


def _run_facts(clock: Clock, predicted: prediction.Prediction) -> RunFacts:
    import separatrix

    date = datetime.now(UTC).isoformat(timespec="seconds")
    used = None if predicted.test is None else str(predicted.test.openings)
    return RunFacts(date, separatrix.__version__, {**clock.stages, "total": clock.spent}, used)


FORMATS = ("separatrix-audit/1", FORMAT)  # those that may be replaced
OURS = frozenset(
    {"report.html", "audit.json", "certificate.json", "certified.csv", "certified.svm", "model.sepx"},
)


def need_place(path: Path) -> None:
    """The folder may be made, or holds an audit of ours and nothing else."""
    if not path.parent.is_dir():
        raise DataError(f"{path} cannot be written: the folder {path.parent} does not exist.")
    if not path.exists() and not path.is_symlink():
        return
    if not path.is_dir() or path.is_symlink():
        raise DataError(f"{path} exists and is not a folder; choose another name.")
    found = sorted(entry.name for entry in path.iterdir())
    if found and not _is_ours(path):
        raise DataError(f"{path}/ exists and was not written by separatrix audit; choose another folder.")
    strange = [name for name in found if name not in OURS]
    if strange:
        raise DataError(f"{path}/ holds {strange[0]!r}, which is not part of an audit; choose another folder.")


def _is_ours(path: Path) -> bool:
    try:
        with (path / "audit.json").open(encoding="utf-8") as file:
            return bool(json.loads(file.read(1 << 28)).get("format") in FORMATS)
    except (OSError, ValueError, AttributeError):
        return False


def write_folder(path: Path, write: Callable[[Path], None]) -> None:
    """Let ``write`` fill a folder, and put it in place; whatever happens, nothing half-written is left."""
    need_place(path)
    made = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    old: Path | None = None
    try:
        write(made)
        mask = os.umask(0)
        os.umask(mask)
        made.chmod(0o777 & ~mask)
        if path.exists():
            old = made.with_name(made.name + ".old")
            os.rename(path, old)
        os.rename(made, path)
    except BaseException:
        if old is not None and old.exists() and not path.exists():
            os.rename(old, path)
        shutil.rmtree(made, ignore_errors=True)
        raise
    if old is not None:
        shutil.rmtree(old, ignore_errors=True)
