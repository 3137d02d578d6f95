"""``audit``: the five questions asked of a table, answered in the order in which answers need each other."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from separatrix.auditing import algorithm, assumptions, best, curves, existence, new_points, regression
from separatrix.auditing.budget import Clock
from separatrix.auditing.certified import Certified, certify
from separatrix.auditing.dealing import dealing_of
from separatrix.auditing.folder import FORMAT, write_folder
from separatrix.auditing.inputs import task_for_audit
from separatrix.auditing.learners import Entrant, entrants, fitted_on, inner
from separatrix.auditing.phrasing import brief, plain, short
from separatrix.auditing.projection import Cut, project
from separatrix.auditing.recommend import recommend
from separatrix.auditing.study import Study, study_of
from separatrix.auditing.weights import in_units, table_of
from separatrix.errors import ParameterError
from separatrix.evaluation.intervals import check_level
from separatrix.evaluation.splits import seed_of
from separatrix.features.encode import Choices
from separatrix.features.in_folds import EncodedLearner
from separatrix.features.table_model import TableModel


@dataclass(frozen=True)
class Audit:
    """Five answers about a table; ``str`` is a screen, ``to_dict`` is audit.json, ``save`` writes the folder."""

    content: dict[str, Any]
    model: TableModel | None
    certified: Certified | None

    @property
    def answers(self) -> dict[str, Any]:
        """The answers by question: existence, best, algorithm, new_points, assumptions."""
        return dict(self.content["answers"])

    @property
    def certificate(self) -> Any:
        """The proof of the first answer; None where there is none."""
        return None if self.certified is None else self.certified.certificate

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as audit.json has them."""
        return dict(self.content)

    def __str__(self) -> str:
        from separatrix.auditing.screen import screen

        return "\n".join(screen(self.content))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from separatrix.auditing.report.page import fragment

        return fragment(self.content)

    def report(self) -> str:
        """The report as one HTML page."""
        from separatrix.auditing.report.page import page

        return page(self.content)

    def save(self, path: str | Path = "audit") -> Path:
        """Write report.html, audit.json, model.sepx and the certificate with its data into a folder."""
        target = Path(path)
        write_folder(target, self._write)
        return target

    def _write(self, folder: Path) -> None:
        from separatrix.persistence.model_files import save

        text = json.dumps(self.content, ensure_ascii=False, allow_nan=False, indent=1)
        (folder / "audit.json").write_text(text + "\n", encoding="utf-8")
        (folder / "report.html").write_text(self.report(), encoding="utf-8")
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
    groups: Any = None,
    time: Any = None,
    level: float = 0.95,
    random_state: Any = 0,
    ledger: Any = None,
    progress: Callable[[str], None] | None = None,
) -> Audit:
    """Ask five questions of a labelled table, and answer them with proofs and intervals.

    Does a separating hyperplane exist? Which is best? Is there an efficient algorithm? How will it do on new
    rows? Which assumptions does that need?

    Parameters
    ----------
    table : a source (file, pattern, ``example:NAME``, SQL over files), a frame of pandas, polars, pyarrow or duckdb,
        a dict of columns, or an array or sparse matrix with its labels as ``target``
    target : name of the column to learn, or one label a row; guessed if a column is named target, label, class or y
    positive : the class that scores speak for, of two; default: the rarer
    task : {"classification", "regression"}, default: regression for numbers that are not whole, or of many values
    budget : seconds; which learners and proofs run depends on it and on the size of the table, and what was left
        out is said
    drop, keep : columns to leave out; columns that look like leaks and are nevertheless to be used
    text, category, number : what columns are, where the guess would be wrong
    groups : name of a column, or one value a row: rows of a group (a person, a place) are never learned from and
        judged at once; the column is no feature
    time : name of a column, or one moment a row: later rows are judged by earlier ones; the column is no feature
    level, random_state : of the intervals; of splits and samples (the same seed gives the same audit)
    ledger : file in which the opening of the test rows is recorded, as in :func:`separatrix.holdout`
    progress : called with the name of each stage
    """
    if isinstance(budget, bool) or not isinstance(budget, (int, float, np.number)) or not 0 < budget < np.inf:
        raise ParameterError(f"budget is {budget!r}: it must be a number of seconds above 0.")
    clock = Clock(float(budget), progress or (lambda stage: None))
    choices = Choices(_names(drop), _names(text), _names(category), _names(number), words="tfidf")  # words can be read
    with clock.stage("read"):
        asked, dealing = dealing_of(task_for_audit(table, target, positive, task), groups, time)
    with clock.stage("encode"):
        study = study_of(asked, choices, _names(keep), seed_of(random_state), check_level(level), clock)
        study = replace(study, dealing=dealing)
    return _Run(study, ledger).audit()


def _names(given: Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


class _Run:
    """The questions in the order in which they are asked of each other."""

    def __init__(self, study: Study, ledger: Any) -> None:
        self.study, self.ledger = study, ledger
        self.existence: existence.Existence | None = None
        self.best: best.Best | None = None
        self.fit: regression.Fit | None = None

    def audit(self) -> Audit:
        study, clock = self.study, self.study.clock
        certified = None
        if study.regression:
            self.fit = regression.ask(study)
            first, second = self.fit.first, self.fit.second
        else:
            with clock.stage("existence"):
                self.existence = existence.ask(study)
            self.best = best.ask(study, self.existence)
            with clock.stage("certificate"):
                certified = certify(study, self.existence, self.best)
            first, second = self.existence.content, self.best.content
        listed = entrants(study, self.existence)
        found = new_points.ask(study, listed, self.ledger)
        third = algorithm.ask(study, self.existence, self.best, listed, found.chosen)
        fifth = self._assumptions(found)
        answers = {
            "existence": first,
            "best": second,
            "algorithm": third,
            "new_points": found.content,
            "assumptions": fifth,
        }
        pictures = self._pictures(listed, found, fifth)
        model = self._model(found)
        content = {
            "format": FORMAT,
            "table": self._table(),
            "answers": answers,
            "recommendation": recommend(study, self.existence, self.best, found, answers),
            "pictures": pictures,
            "certificate": None if certified is None else certified.content,
            "left_out": clock.left_out,
            "run": self._about_run(found),
        }
        return Audit(plain(content), model, certified)

    def _assumptions(self, found: new_points.NewPoints) -> dict[str, Any]:
        if self.fit is not None:
            return assumptions.ask_regression(self.study, self.fit.residuals, self.fit.fitted, self.fit.duplicates)
        assert self.existence is not None
        assert self.best is not None
        return assumptions.ask(self.study, self.existence, self.best, found)

    def _pictures(self, listed: list[Entrant], found: new_points.NewPoints, fifth: dict[str, Any]) -> dict[str, Any]:
        study = self.study
        out: dict[str, Any] = {
            "projection": None,
            "coefficients": None,
            "growth": None,
            "fit": None if self.fit is None else self.fit.picture(study.seed),
            "quantiles": fifth["quantiles"],
        }
        fates = {} if self.best is None else self.best.content["coefficients"]["fates"]
        with_intervals = [own for own in listed if own.name in ("logistic", "logistic (Firth)", "least squares")]
        chosen = with_intervals[0] if with_intervals else found.chosen
        if chosen is not None and study.plan.groups == 1:
            out["coefficients"] = table_of(study, chosen, fates)
        if not study.regression:
            with study.clock.stage("pictures"):
                out["projection"] = self._projection(found)
        if found.chosen is not None:
            out["growth"] = curves.growth(study, found.chosen, listed, found)
        out["curves"] = curves.of_test(study, found) if found.chosen is not None else None
        return out

    def _projection(self, found: new_points.NewPoints) -> Any:
        """The hyperplane of the widest gap where there is one, else that of the chosen learner."""
        study, first, second = self.study, self.existence, self.best
        assert first is not None
        assert second is not None
        marked: dict[str, Any] = {"witness": [] if first.exists else first.content["witness"]["rows"]}
        plain_rows = study.sparse or study.rows.shape[1] == 2
        if second.margin is not None:
            marked = {"support": second.content["margin"]["support"]}
            margin = second.margin
            if plain_rows and not study.sparse:
                margin = second.raw or margin
            assert margin.coef is not None
            cut = Cut(margin.coef, float(margin.intercept or 0.0), margin.lower, "the hyperplane of the widest gap")
            return project(study, cut, marked)
        if study.binary and found.model is not None and hasattr(inner(found.model), "coef_"):
            coef, b = in_units(found.model)
            if len(coef) == study.X.shape[1]:
                coef = coef[study.used]
                flip = -1.0 if study.positive == 0 else 1.0
                coef, b = flip * coef, flip * b
                if not plain_rows:
                    coef, b = best.standardised_hyperplane(study, coef, b)
                return project(study, Cut(coef, b, None, f"the hyperplane of {found.content['chosen']}"), marked)
        if study.sparse:
            return None
        return project(study, None, marked)

    def _model(self, found: new_points.NewPoints) -> TableModel | None:
        """The chosen learner fitted on all rows."""
        if found.chosen is None:
            return None
        import warnings

        study = self.study
        with study.clock.stage("fit"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, _ = fitted_on(study, found.chosen, np.arange(study.n))
        encoder = model.encoder_ if isinstance(model, EncodedLearner) else study.encoder
        about = {"source": study.task.source.name, "rows": study.n}
        return TableModel(inner(model), encoder, study.task.target, study.task.positive, about)

    def _table(self) -> dict[str, Any]:
        study = self.study
        kind = "regression" if study.regression else "binary" if study.binary else "multiclass"
        columns = None if study.frame is None else len(study.frame.columns)
        classes = []
        if not study.regression:
            classes = [
                {"label": label, "rows": rows} for label, rows in zip(study.labels, study.counts.tolist(), strict=True)
            ]
        y = study.task.y
        return {
            "source": short(study.task.source.name, 80),
            "rows": study.n,
            "columns": columns,
            "features": study.plan.d,
            "target": short(study.task.target),
            "kind": kind,
            "classes": classes,
            "positive": study.labels[study.positive] if study.binary else None,
            "range": [float(y.min()), float(y.max())] if study.regression else None,
            "notes": [short(brief(note), 200) for note in study.notes],
            "leaks": [
                {
                    "column": short(leak.column),
                    "evidence": short(leak.evidence, 200),
                    "kind": leak.kind,
                    "set_aside": leak.column in study.aside,
                }
                for leak in study.leaks
            ],
            "dealt": study.dealing.to_dict(),
            "seed": study.seed,
            "level": study.level,
            "budget": study.clock.budget,
        }

    def _about_run(self, found: new_points.NewPoints) -> dict[str, Any]:
        import separatrix

        clock = self.study.clock
        return {
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "version": separatrix.__version__,
            "seconds": {**clock.stages, "total": clock.spent},
            "openings": found.openings,
        }
