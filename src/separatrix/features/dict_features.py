"""Maps of rows: dicts of features to columns, by a vocabulary that grows or by hashing."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats, Indices
from separatrix.errors import DataError, DataTypeError, ParameterError
from separatrix.features.transformer import Transformer
from separatrix.validation import check_features, need_flag

REMEMBERED = 2**20  # names whose hash is kept


def _canonical(columns: Iterable[int], values: Iterable[float]) -> tuple[Indices, Floats]:
    """Sorted columns, and the values that fall together added up; ~column changes the sign."""
    merged: dict[int, float] = {}
    for c, v in zip(columns, values, strict=True):
        c, v = (~c, -v) if c < 0 else (c, v)
        merged[c] = merged[c] + v if c in merged else v
    order = sorted(merged)
    return np.array(order, dtype=np.int64), np.array([merged[c] for c in order], dtype=np.float64)


class Vocabulary:
    """Names to columns: those given, or (without any) each name as it first appears."""

    def __init__(self, names: Iterable[str] | None = None) -> None:
        self.open = names is None
        self.index: dict[str, int] = {name: j for j, name in enumerate(names or ())}

    @property
    def skips(self) -> bool:
        """Whether features without a column are left out of a prediction, rather than refused."""
        return self.open

    @property
    def width(self) -> int:
        """Columns in use."""
        return len(self.index)

    @property
    def room(self) -> int:
        """Columns to have weights for: as many as are used, rounded up where more will come."""
        return max(16, 1 << (self.width - 1).bit_length()) if self.open else self.width

    def pairs(self, features: Mapping[str, float], grow: bool) -> tuple[Indices, Floats]:
        """Columns and values of a checked dict."""
        unknown = [name for name in features if name not in self.index]
        if unknown and not self.open:
            raise DataError(f"x has the feature {unknown[0]!r}, which the model was not fitted on: leave it out.")
        if grow:
            for name in unknown:
                self.index[name] = len(self.index)
        known = [name for name in features if name in self.index]
        return _canonical([self.index[name] for name in known], [features[name] for name in known])


class HashingMap(Transformer):
    """Dicts of features as sparse rows of a fixed width, without a vocabulary (Weinberger et al. 2009).

    A name goes to column h mod n_features and, ``signed``, its value changes the sign for half of the
    names, so that names which fall together cancel on average. h is CRC-32, mixed by SplitMix64: the same
    on every machine. A transformer of scikit-learn's kind that has nothing to learn, and the ``hashing`` of the
    online learners.

    Parameters
    ----------
    n_features : int, default=2**18
        Columns, at most 2**31.
    signed : bool, default=True
        Whether hashes carry a sign.

    Examples
    --------
    >>> from separatrix import HashingMap
    >>> HashingMap(2**10).fit_transform([{"links": 2}, {"friend": 1, "links": 1}]).shape
    (2, 1024)
    """

    skips = False
    _takes_sparse: ClassVar[bool] = False

    def __init__(self, n_features: int = 2**18, signed: bool = True) -> None:
        self.n_features = n_features
        self.signed = signed

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.dict = True
        tags.requires_fit = False
        tags.transformer_tags.preserves_dtype = []
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def index(self) -> dict[str, int]:
        """The columns of the names seen, for as long as the parameters stay as they are."""
        known = (self.n_features, self.signed)
        if getattr(self, "_known", None) != known:
            self._index, self._known = dict[str, int](), known  # in this order: other threads may be asking too
        return self._index

    @property
    def width(self) -> int:
        return self.n_features

    room = width

    def column(self, name: str) -> int:
        """The column of a name, or ~column where its value changes the sign.

        Parameters
        ----------
        name : str
            A feature.

        Returns
        -------
        int

        Examples
        --------
        >>> from separatrix import HashingMap
        >>> HashingMap(2**10, signed=False).column("links") < 2**10
        True
        """
        z = (zlib.crc32(name.encode()) + 0x9E3779B97F4A7C15) & (2**64 - 1)
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & (2**64 - 1)
        z ^= z >> 31
        column = (z >> 1) % self.n_features
        return ~column if self.signed and z & 1 else column

    def pairs(self, features: Mapping[str, float], grow: bool = True) -> tuple[Indices, Floats]:
        """Columns and values of a checked dict.

        Parameters
        ----------
        features : dict
            Numbers by name.
        grow : bool
            Accepted for open vocabularies; a hash has a column for every name.

        Returns
        -------
        (array, array)
            Columns and values.

        Examples
        --------
        >>> from separatrix import HashingMap
        >>> columns, values = HashingMap(2**10, signed=False).pairs({"links": 2.0})
        >>> values
        array([2.])
        """
        index = self.index
        if len(index) > REMEMBERED:
            index = self._index = {}  # the old one as it was: other threads may be reading it
        for name in features:
            if name not in index:
                index[name] = self.column(name)
        return _canonical([index[name] for name in features], features.values())

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Check the parameters; there is nothing to learn.

        Parameters
        ----------
        X, y : not used

        Returns
        -------
        self

        Examples
        --------
        >>> from separatrix import HashingMap
        >>> HashingMap(2**10).fit().width
        1024
        """
        whole = isinstance(self.n_features, (int, np.integer)) and not isinstance(self.n_features, bool)
        if not whole or not 1 <= self.n_features <= 2**31:
            raise ParameterError(f"n_features is {self.n_features!r}: it must be a whole number from 1 to 2**31.")
        need_flag("signed", self.signed)
        return self

    def transform(self, X: Iterable[Mapping[str, Any]]) -> Any:
        """Dicts of features as a CSR matrix.

        Parameters
        ----------
        X : iterable of dicts
            Numbers by name of the feature; {"colour": "red"} is {"colour=red": 1}.

        Returns
        -------
        scipy.sparse.csr_array

        Examples
        --------
        >>> from separatrix import HashingMap
        >>> HashingMap(2**10).fit().transform([{"links": 2, "friend": 1}]).nnz
        2
        """
        import scipy.sparse as sp

        self.fit()
        if not isinstance(X, Iterable) or isinstance(X, Mapping):
            raise DataTypeError(f"X is a {type(X).__name__}: pass a list of dicts of features.")
        columns, values, starts = [], [], [0]
        for i, x in enumerate(X):
            if not isinstance(x, Mapping):
                raise DataTypeError(f"row {i} is a {type(x).__name__}: pass dicts of features.")
            c, v = self.pairs(check_features(x))
            columns.append(c)
            values.append(v)
            starts.append(starts[-1] + len(c))
        if not columns:
            raise DataError("X has no rows: pass at least one dict of features.")
        made = sp.csr_array(
            (np.concatenate(values), np.concatenate(columns), np.array(starts)), shape=(len(columns), self.n_features)
        )
        return self._in_container(made, X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The columns by number: hashes have no names of their own.

        Parameters
        ----------
        input_features : None
            Accepted for the protocol.

        Returns
        -------
        array of str

        Examples
        --------
        >>> from separatrix import HashingMap
        >>> HashingMap(4).fit().get_feature_names_out().tolist()
        ['hashed0', 'hashed1', 'hashed2', 'hashed3']
        """
        self.fit()
        return np.array([f"hashed{j}" for j in range(self.n_features)], dtype=object)

    def _as_dense(self, made: Any, kind: str) -> NDArray[Any]:
        raise DataError(
            f"hashed rows are sparse, which {kind} frames do not hold: leave the output of HashingMap at 'default'."
        )
