"""The hyperplane with the fewest mistakes, as a classifier."""

from __future__ import annotations

import sys
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError
from separatrix.models.from_formula import named_rows
from separatrix.models.linear_predictors import LinearClassifier
from separatrix.numerics.status import Status
from separatrix.parameters import boundary, categories, choice, count, flag, learner, number
from separatrix.proofs.fewest_mistakes.bracket import MistakeBracket, fewest_mistakes


@learner(kw_only=False)
class FewestMistakes(LinearClassifier):
    """The linear classifier with the fewest mistakes on its training rows, and a proved bound on any other's.

    Minimises the number of rows with y_i (w . x_i + b) <= 0 over all w and b, exactly (the 0-1 loss, not a convex
    stand-in for it). The problem is NP-hard: where the limits end the search early the model is the best
    hyperplane found, and ``lower_`` is a proved bound on the mistakes of all others. Two classes only: for more,
    scores of separate hyperplanes are not on one scale, and a vote over pairs would not minimise
    any number of mistakes; use scikit-learn's ``OneVsOneClassifier`` for a vote.

    Parameters
    ----------
    max_nodes : int or None, default=None
        Cases that the search may look at; None allows for a minute or so. The model is a function of the
        data and of this number, unless time ends the search.
    time_limit : float or None, default=None
        Seconds after which the search ends.
    gap : int, default=0
        Stop when the best hyperplane is within this many mistakes of the proved bound.
    fit_intercept : bool, default=True
        Whether there is an intercept b.
    reading : {"binary64", "decimal"}, default="binary64"
        Whether numbers are the doubles that they are, or the decimals that they print as.
    boundary : {"positive", "negative", "undefined"}, default="positive"
        What a score of zero predicts; "undefined" gives None there.
    verbose : bool, default=False
        Say on stderr how the bounds move.
    categorical : {"dummies"} or None, default=None
        "dummies" takes frames with columns of text or categories: one column of zeros and ones for each level but the
        first, which is the reference (``references_``). None: such columns are an error.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,)
    classes_ : the two labels, sorted; the second is the positive one
    errors_ : mistakes of the model on its training rows, rows on the hyperplane included
    lower_ : no hyperplane makes fewer mistakes than this (proved)
    wrong_ : the training rows that the model does not get strictly right
    bracket_ : the :class:`MistakeBracket`, with its certificate; not kept in model files
    n_iter_ : cases looked at
    status_ : why the search ended, a :class:`Status`

    Examples
    --------
    >>> from separatrix import FewestMistakes
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> model = FewestMistakes().fit(X, y)
    >>> model.errors_, model.lower_, model.status_.name
    (1, 1, 'OPTIMAL')
    """

    _routed: ClassVar[dict[str, tuple[str, ...]]] = {"fit": (), "score": ("sample_weight",)}

    max_nodes: int | None = count(None)
    _: KW_ONLY
    time_limit: float | None = number(None, least=0)
    gap: int = count(0, least=0)
    fit_intercept: bool = flag(True)
    reading: str = choice("binary64", "decimal", default="binary64")
    boundary: str = boundary()
    verbose: bool = flag(False)
    categorical: str | None = categories()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Search for the hyperplane with the fewest mistakes.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.
        y : array
            One label a row.

        Returns
        -------
        self
            The fitted learner.

        Examples
        --------
        >>> from separatrix import FewestMistakes
        >>> FewestMistakes().fit([[1.0], [2.0], [3.0]], [0, 0, 1]).errors_
        0
        """
        self._check_parameters()
        table, labels = self._labelled_rows(X, y)
        if len(labels.classes) > 2:
            raise DataError(
                "Only binary classification is supported. The type of the target is multiclass "
                f"({len(labels.classes)} classes): fit one class against the rest, or wrap FewestMistakes in "
                "sklearn.multiclass.OneVsOneClassifier."
            )
        try:
            found = fewest_mistakes(
                X if table.names is None or table.design is None else named_rows(table.X, list(table.names), X),
                y,
                fit_intercept=bool(self.fit_intercept),
                reading=self.reading,
                max_nodes=self.max_nodes,
                time_limit=self.time_limit,
                gap=self.gap,
                progress=self._watch if self.verbose else None,
            )
        except KeyboardInterrupt as interrupt:
            partial = getattr(interrupt, "bracket", None)
            if partial is not None:
                self._remember_features(table)
                self._store(partial, labels.classes, Status.INTERRUPTED)
            raise
        self._remember_features(table)
        self._store(found, labels.classes, Status.OPTIMAL if found.stopped in ("proved", "gap") else Status.BRACKETED)
        return self

    def _watch(self, lower: int, upper: int, nodes: int) -> None:
        sys.stderr.write(f"FewestMistakes: between {lower} and {upper} mistakes, {nodes} cases\n")

    def _store(self, found: MistakeBracket, classes: NDArray[Any], status: Status) -> None:
        self.classes_ = classes
        self.coef_ = found.coef[None].copy()
        self.intercept_ = np.array([found.intercept])
        self.errors_ = found.upper
        self.lower_ = found.lower
        self.wrong_ = found.wrong
        self.bracket_ = found
        self.n_iter_ = max(found.nodes, 1)
        self.status_ = status
