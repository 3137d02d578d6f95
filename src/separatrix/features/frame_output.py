"""What ``transform`` returns: arrays, or frames with named columns."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import NDArray

from separatrix.errors import ParameterError

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
