"""What every estimator has: scikit-learn's protocol, spoken without importing scikit-learn.

Parameters are the keyword arguments of ``__init__``, stored as given; fitted attributes end in an
underscore. Tags, metadata routing and the notebook's diagram import scikit-learn when asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from html import escape
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.callbacks import observed, support
from separatrix.errors import DataError, ParameterError, raise_not_fitted
from separatrix.parameters import constraints, defaults, explain
from separatrix.validation import Table, check_same_features, check_table


@dataclass(frozen=True, slots=True)
class FoldRows:
    """Rows with their weights, and the number of the fold that judges each; a fold learns from all other rows."""

    X: Any
    y: Any
    weights: Floats | None
    fold: NDArray[np.int64]
    folds: int


class FoldPath(Protocol):
    """Fits of all folds that share work."""

    @property
    def how(self) -> str:
        """What was shared, as results say it."""

    @property
    def X(self) -> Any:
        """The rows, checked."""

    def fit(self, learner: Any, fold: int) -> bool:
        """Fit a learner as this fold would; False where it has to be fitted as usual."""

    def errors(self) -> Floats | None:
        """The mean squared error of each set of options on each fold, (options, folds), where no fit is needed."""

    def finish(self, learner: Any) -> bool:
        """Fit a learner to all rows; False where it has to be fitted as usual."""


class Estimator:
    """Parameters, tags, routing, feature names."""

    _estimator_type: ClassVar[str]
    _routed: ClassVar[dict[str, tuple[str, ...]]] = {"fit": ("sample_weight",), "score": ("sample_weight",)}
    _moves_on_mistakes: ClassVar[bool] = False  # by the perceptron's rule, so that Novikoff's bound holds
    _warm_over: ClassVar[tuple[str, ...]] = ()  # parameters whose next value may begin at the fit before
    _distributed: ClassVar[str | None] = None  # on a cluster: by "moments", "rounds", mixing by "mistakes" or by "rows"
    _of_formula: ClassVar[tuple[str, ...]] = ()  # attributes of a fit by a formula, which the next fit does not have
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "fit" in cls.__dict__:
            cls.fit = observed(cls.__dict__["fit"])  # type: ignore[attr-defined]  # of the subclass

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Tell scikit-learn's callbacks of every fit and of its steps; without arguments, of none (scikit-learn 1.9).

        Parameters
        ----------
        *callbacks : callbacks
            Instances of scikit-learn's ``FitCallback``, as ``sklearn.callback.ProgressBar()``.

        Returns
        -------
        self
            The same learner.

        Examples
        --------
        >>> from separatrix import Perceptron
        >>> Perceptron().set_callbacks()
        Perceptron()
        """
        support().set_callbacks(self, *callbacks)
        return self

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name.

        Parameters
        ----------
        deep : bool
            Accepted for the protocol; there are no parameters of parameters.

        Returns
        -------
        dict
            Every parameter of ``__init__`` with its value.

        Examples
        --------
        >>> from separatrix import Perceptron
        >>> Perceptron(max_iter=5).get_params()["max_iter"]
        5
        """
        return {name: getattr(self, name) for name in defaults(type(self))}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name.

        Parameters
        ----------
        **params : keyword arguments
            Parameters of ``__init__`` and their new values.

        Returns
        -------
        self
            The same learner; it is not fitted anew.

        Examples
        --------
        >>> from separatrix import Perceptron
        >>> Perceptron().set_params(max_iter=5, tie="positive")
        Perceptron(tie='positive', max_iter=5)
        """
        known = defaults(type(self))
        for name, value in params.items():
            if name not in known:
                raise ParameterError(f"Invalid parameter {name!r}. {explain(type(self).__name__, name, known)}")
            setattr(self, name, value)
        return self

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """The call that makes it: all parameters or the changed ones, as scikit-learn's configuration says."""
        every = "sklearn" in sys.modules and not sys.modules["sklearn"].get_config()["print_changed_only"]
        given = []
        for name, default in defaults(type(self)).items():
            value = getattr(self, name, default)
            if every or (value is not default and repr(value) != repr(default)):
                given.append(f"{name}={value!r}")
        text = f"{type(self).__name__}({', '.join(given)})"
        if len(text) > N_CHAR_MAX:
            text = f"{text[: N_CHAR_MAX // 2]}...{text[-(N_CHAR_MAX // 2) :]}"
        return text

    def _check_parameters(self) -> None:
        """Check every parameter by itself; learners add what holds between them."""
        for name, constraint in constraints(type(self)).items():
            constraint.check(name, getattr(self, name))

    def _fold_path(self, rows: FoldRows, grid: Sequence[dict[str, Any]]) -> FoldPath | None:
        """Fits of every fold that share work, for each set of options; None where there is nothing to share."""
        return None

    def _repr_html_(self) -> str:
        try:
            from sklearn.utils import estimator_html_repr
        except ImportError:
            return f"<pre>{escape(repr(self))}</pre>"
        return str(estimator_html_repr(self))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=self._estimator_type,
            target_tags=TargetTags(required=True),
            input_tags=InputTags(sparse=True),
        )

    def get_metadata_routing(self) -> Any:
        """What each method asks to be routed to it, as scikit-learn's MetadataRequest.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRequest

        Examples
        --------
        >>> from separatrix import Perceptron
        >>> Perceptron().get_metadata_routing().fit.requests
        {'sample_weight': None, 'coef_init': None, 'intercept_init': None}
        """
        if hasattr(self, "_metadata_request"):
            return self._metadata_request
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        for method, names in self._routed.items():
            for name in names:
                getattr(request, method).add_request(param=name, alias=None)
        return request

    def _set_request(self, method: str, wishes: dict[str, Any]) -> Self:
        from sklearn import get_config

        if not get_config()["enable_metadata_routing"]:
            raise RuntimeError(
                "This method is only available when metadata routing is enabled: "
                "sklearn.set_config(enable_metadata_routing=True)."
            )
        request = self.get_metadata_routing()
        for name, alias in wishes.items():
            if name not in self._routed[method]:
                raise TypeError(f"{method} of {type(self).__name__} takes no {name!r} to be routed to it.")
            getattr(request, method).add_request(param=name, alias=alias)
        self._metadata_request = request
        return self

    def set_fit_request(self, **wishes: Any) -> Self:
        """Which metadata a router should pass to ``fit``: True, False, None or an alias for each name.

        Parameters
        ----------
        **wishes : True, False, None or str by name
            True: pass it; False: do not; None: an error where it is given; a text: pass it under that name.

        Returns
        -------
        self
            The learner, with the request.

        Examples
        --------
        >>> import sklearn
        >>> from separatrix import Perceptron
        >>> with sklearn.config_context(enable_metadata_routing=True):
        ...     model = Perceptron().set_fit_request(sample_weight=True)
        ...
        >>> model.get_metadata_routing().fit.requests
        {'sample_weight': True, 'coef_init': None, 'intercept_init': None}
        """
        return self._set_request("fit", wishes)

    def set_score_request(self, **wishes: Any) -> Self:
        """Which metadata a router should pass to ``score``.

        Parameters
        ----------
        **wishes : True, False, None or str by name
            True: pass it; False: do not; None: an error where it is given; a text: pass it under that name.

        Returns
        -------
        self
            The learner, with the request.

        Examples
        --------
        >>> import sklearn
        >>> from separatrix import Perceptron
        >>> with sklearn.config_context(enable_metadata_routing=True):
        ...     model = Perceptron().set_score_request(sample_weight=True)
        ...
        >>> model.get_metadata_routing().score.requests
        {'sample_weight': True}
        """
        return self._set_request("score", wishes)

    def _kept(self) -> dict[str, Any]:
        """What predicting needs beside parameters and public attributes, as plain values, for a model file."""
        return {}

    def _restore(self, kept: dict[str, Any]) -> None:
        """Put that back, checked; ValueError for what does not fit."""
        if kept:
            raise ValueError(f"{type(self).__name__} keeps no state")

    def _fit_table(self, X: Any, finite: bool = True, stream: bool = False) -> Table:
        """The rows of a fit; with ``categorical="dummies"`` columns of text and categories are encoded.

        The first rows of a stream have all levels that their categories declare.
        """
        if self.__dict__.get("categorical") is None:
            return check_table(X, finite=finite)
        return self._dummy_table(X, finite, stream)

    def _dummy_table(self, X: Any, finite: bool, stream: bool) -> Table:
        """The rows of a fit, with dummies in place of text and categories."""
        raise NotImplementedError("a learner with categorical= encodes its columns")

    def _remember_features(self, table: Table) -> None:
        for name in (*self._of_formula, "_streamed", "_stopped"):
            self.__dict__.pop(name, None)
        if table.design is not None:
            self._remember_design(table.design)
        self.n_features_in_ = table.d
        if table.names is not None:
            self.feature_names_in_ = np.array(table.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _remember_design(self, design: Any) -> None:
        """Keep how the columns were made of those of a frame."""
        raise NotImplementedError("a learner with categorical= keeps how its columns were made")

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise_not_fitted(self)

    def _check_rows(self, X: Any, finite: bool = True) -> Table:
        """Rows with the columns of the fit; without ``finite`` the caller looks at what it makes of them."""
        self._check_fitted()
        table = check_table(X, finite=finite)
        names = getattr(self, "feature_names_in_", None)
        check_same_features(table, None if names is None else tuple(names), self.n_features_in_, type(self).__name__)
        return table


class ChunkLearner(Estimator):
    """A learner with ``partial_fit``: its state, and what a router of scikit-learn should pass to it.

    After ``partial_fit`` the state that the next call goes on from is part of pickles and model files; after ``fit`` it
    is not, and a learner that came back without it refuses to go on, unless its weights are all that it needs. Copies
    in memory keep it always.
    """

    _stream_state: ClassVar[tuple[str, ...]] = ()  # attributes that only partial_fit needs
    _routed: ClassVar[dict[str, tuple[str, ...]]] = {
        "fit": ("sample_weight",),
        "partial_fit": ("sample_weight", "classes"),
        "score": ("sample_weight",),
    }

    def _copied(self) -> dict[str, Any]:
        """The attributes of a copy in memory."""
        return dict(self.__dict__)

    def __copy__(self) -> Self:
        twin = object.__new__(type(self))
        twin.__dict__.update(self._copied())
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        twin = object.__new__(type(self))
        memo[id(self)] = twin
        twin.__dict__.update(deepcopy(self._copied(), memo))
        return twin

    def __getstate__(self) -> dict[str, Any]:
        state = self._copied()
        if "_streamed" not in state and any(state.pop(name, None) is not None for name in self._stream_state):
            for name in self._stream_state:
                state.pop(name, None)
            state["_stopped"] = True
        return state

    def _state_agrees(self) -> bool:
        """Whether the state is there, and is that of the weights."""
        return self._stream_state[0] in self.__dict__

    def _goes_on_by_weights(self) -> bool:
        """Whether the weights of a fit are all that ``partial_fit`` needs."""
        return False

    def _need_state(self) -> None:
        """Refuse to go on from a fit whose state was not kept."""
        if "_stopped" in self.__dict__ and not self._goes_on_by_weights():
            raise DataError(
                f"this {type(self).__name__} was fitted by fit and then stored without the state that partial_fit goes "
                "on from: start with partial_fit, or fit all rows again."
            )

    def set_partial_fit_request(self, **wishes: Any) -> Self:
        """Which metadata a router should pass to ``partial_fit``.

        Parameters
        ----------
        **wishes : True, False, None or str by name
            True: pass it; False: do not; None: an error where it is given; a text: pass it under that name.

        Returns
        -------
        self
            The learner, with the request.

        Examples
        --------
        >>> import sklearn
        >>> from separatrix import Perceptron
        >>> with sklearn.config_context(enable_metadata_routing=True):
        ...     model = Perceptron().set_partial_fit_request(sample_weight=True)
        ...
        >>> model.get_metadata_routing().partial_fit.requests["sample_weight"]
        True
        """
        return self._set_request("partial_fit", wishes)


def unfitted_copy(learner: Any) -> Any:
    """An estimator with the same parameters that has learned nothing, as scikit-learn's ``clone`` makes it.

    scikit-learn is imported only for estimators that are not ours, or hold such, or carry its settings: importing it
    takes longer than most fits.
    """
    if isinstance(learner, Estimator) and not vars(learner).keys() & {"_metadata_request", "_sklearn_output_config"}:
        params = learner.get_params(deep=False)
        if not any(_needs_sklearn(value) for value in params.values()):
            return type(learner)(
                **{k: unfitted_copy(v) if isinstance(v, Estimator) else deepcopy(v) for k, v in params.items()}
            )
    from sklearn.base import clone

    return clone(learner)


def _needs_sklearn(value: Any) -> bool:
    """Whether a parameter is, or may hold, an estimator of another library."""
    if isinstance(value, (list, tuple, set, frozenset, dict)):
        return any(hasattr(own, "get_params") for own in (value.values() if isinstance(value, dict) else value))
    return hasattr(value, "get_params") and not isinstance(value, Estimator)


def need_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """An option with a few named values has one of them."""
    if not (isinstance(value, str) and value in choices):
        raise ParameterError(f"{name} is {value!r}: it can be {', '.join(map(repr, choices))}.")


def need_limit(name: str, value: Any, least: int) -> None:
    """A count: a whole number of at least ``least``, or infinity."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))
    if not (whole or (isinstance(value, float) and value == np.inf)) or value < least:
        raise ParameterError(f"{name} is {value!r}: it must be a whole number of at least {least}, or inf.")
