"""What every transformer has: scikit-learn's protocol, and names of the columns it makes.

A :class:`FeatureMap` wraps a transformer of scikit-learn's and adds to it: errors that name row and column, sparse
rows where the map allows them, and the names of the columns it makes, from the names it was given (or x0, x1, ...).
``set_output(transform="pandas")`` or ``"polars"`` makes it return a frame, so that a learner after it knows its
features by name.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError, ParameterError
from separatrix.protocol import Estimator
from separatrix.validation import Table, check_table

OUTPUTS = ("default", "pandas", "polars")


class FrameOutput:
    """``set_output`` of scikit-learn's transformers, for classes that name the columns they make."""

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """A name for every new column.

        Parameters
        ----------
        input_features : array of str or None
            Names of the columns it is made of.

        Returns
        -------
        array of str
        """
        raise NotImplementedError("a transformer names its columns")

    def set_output(self, *, transform: str | None = None) -> Self:
        """Whether ``transform`` returns arrays ("default") or frames ("pandas", "polars").

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None
            None leaves it as it is.

        Returns
        -------
        self

        Examples
        --------
        >>> from separatrix import PolynomialMap
        >>> frame = PolynomialMap(2).set_output(transform="pandas").fit_transform([[2.0, 3.0]])
        >>> list(frame.columns)
        ['x0', 'x1', 'x0^2', 'x0 x1', 'x1^2']
        """
        if transform is None:
            return self
        if transform not in OUTPUTS:
            raise ParameterError(f"transform is {transform!r}: it can be {', '.join(map(repr, OUTPUTS))}.")
        self._sklearn_output_config = {"transform": transform}
        return self

    def _in_container(self, made: Any, X: Any) -> Any:
        """New rows in the container that ``set_output`` or scikit-learn's configuration asks for."""
        from sklearn import get_config

        kind = getattr(self, "_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
        if kind == "default":
            return made
        dense = self._as_dense(made, kind)
        names = self.get_feature_names_out().tolist()
        if kind == "pandas":
            import pandas as pd

            return pd.DataFrame(dense, columns=names, index=X.index if isinstance(X, pd.DataFrame) else None)
        import polars as pl

        return pl.DataFrame(dense, schema=names, orient="row")

    def _as_dense(self, made: Any, kind: str) -> Any:
        return made.toarray() if hasattr(made, "toarray") else made


class Absent:
    """A method of the base class that a subclass does not have."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> Any:
        raise AttributeError(f"{owner.__name__} has no attribute {self.name!r}")


class Transformer(FrameOutput, Estimator):
    """Tags, output containers and names; without weights, targets or a score, there is nothing to route."""

    _estimator_type: ClassVar[str] = "transformer"
    _routed: ClassVar[dict[str, tuple[str, ...]]] = {}
    _takes_sparse: ClassVar[bool] = False
    set_fit_request = Absent()
    set_score_request = Absent()

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import TransformerTags

        tags = super().__sklearn_tags__()
        tags.estimator_type = None
        tags.target_tags.required = False
        tags.transformer_tags = TransformerTags(preserves_dtype=["float64", "float32"])
        tags.input_tags.sparse = self._takes_sparse
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from rows."""
        raise NotImplementedError("a transformer says what it learns")

    def transform(self, X: Any) -> Any:
        """Make new rows."""
        raise NotImplementedError("a transformer says what it makes")

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit to rows, then transform them.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.
        y : None
            Not used.

        Returns
        -------
        array, sparse matrix or frame
            One row for each row.

        Examples
        --------
        >>> from separatrix import PolynomialMap
        >>> PolynomialMap(2).fit_transform([[2.0, 3.0]])
        array([[2., 3., 4., 6., 9.]])
        """
        return self.fit(X, y).transform(X)


class FeatureMap(Transformer):
    """A transformer around one of scikit-learn's; subclasses say which."""

    _map: Any

    def _build(self, table: Table) -> Any:
        raise NotImplementedError("a map says which transformer it wraps")

    def _check_parameters(self) -> None:
        raise NotImplementedError("a map checks its own parameters")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what the map needs of the rows: their columns, knots, or random directions.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.
        y : None
            Not used.

        Returns
        -------
        self
            The fitted map.

        Examples
        --------
        >>> from separatrix import PolynomialMap
        >>> PolynomialMap(2).fit([[2.0, 3.0]]).n_features_in_
        2
        """
        self._check_parameters()
        table = check_table(X)
        self._need_dense(table)
        self._learn(table)
        self._remember_features(table)
        return self

    def _learn(self, table: Table) -> None:
        built = self._build(table)
        built.fit(table.X)
        self._map = built

    def transform(self, X: Any) -> Any:
        """The new features of each row, in float32 where the rows are.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.

        Returns
        -------
        array, sparse matrix or frame
            One row for each row.

        Examples
        --------
        >>> from separatrix import PolynomialMap
        >>> PolynomialMap(2).fit([[2.0, 3.0]]).transform([[1.0, 10.0]])
        array([[  1.,  10.,   1.,  10., 100.]])
        """
        self._check_fitted()
        table = self._check_rows(X)
        self._need_dense(table)
        return self._in_container(self._make(table.X).astype(table.X.dtype, copy=False), X)

    def _make(self, X: Any) -> Any:
        """The new features of checked rows"""
        return self._map.transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """A name for every new column, made of the names of those it comes from.

        Parameters
        ----------
        input_features : array of str or None
            Names of the columns; None: those of the fit, or x0, x1, ...

        Returns
        -------
        array of str

        Examples
        --------
        >>> from separatrix import PolynomialMap
        >>> PolynomialMap(2).fit([[2.0, 3.0]]).get_feature_names_out().tolist()
        ['x0', 'x1', 'x0^2', 'x0 x1', 'x1^2']
        """
        self._check_fitted()
        own = getattr(self, "feature_names_in_", None)
        if input_features is None:
            names = [f"x{j}" for j in range(self.n_features_in_)] if own is None else list(own)
        else:
            names = [str(name) for name in input_features]
            if len(names) != self.n_features_in_:
                raise DataError(
                    f"input_features should have length equal to number of features ({self.n_features_in_})."
                )
            if own is not None and names != list(own):
                raise DataError("input_features is not equal to feature_names_in_.")
        return self._names_out(names)

    def _names_out(self, names: list[str]) -> NDArray[Any]:
        return np.asarray(self._map.get_feature_names_out(names), dtype=object)

    def _need_dense(self, table: Table) -> None:
        if table.sparse and not self._takes_sparse:
            raise DataError(f"{type(self).__name__} needs dense rows, and X is sparse: pass X.toarray().")


def need_count(name: str, value: Any, least: int) -> None:
    """A whole number of at least ``least``."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < least:
        raise ParameterError(f"{name} is {value!r}: it must be a whole number of at least {least}.")
