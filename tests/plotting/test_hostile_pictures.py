"""What cannot be drawn is refused in one sentence, before a figure is opened; odd data are drawn."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from pictures import legend, rendered
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from separatrix import (
    KernelPerceptron,
    LeastSquares,
    LinearDiscriminant,
    Perceptron,
    PolynomialMap,
    margin,
    separability,
)
from separatrix.errors import DataError, ParameterError
from separatrix.plotting import (
    plot_boundary,
    plot_convergence,
    plot_descent,
    plot_losses,
    plot_mistakes,
    plot_overfitting,
    plot_update,
    plot_weight_path,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
Y = (X.sum(axis=1) > 0) * 1
WIDE = np.hstack([X, RNG.normal(size=(40, 3))])
MODEL = Perceptron(max_iter=1000, trace=True).fit(X, Y)
GROWING = make_pipeline(PolynomialMap(), LinearDiscriminant())

REFUSED = {
    "NaN": (lambda: plot_boundary(MODEL, [[np.nan, 1.0]], [1]), DataError, "X has a NaN at row 0, column 0"),
    "unfitted": (lambda: plot_boundary(Perceptron(), X, Y), NotFittedError, "not fitted yet"),
    "unfitted, of scikit-learn": (lambda: plot_boundary(GaussianNB(), X, Y), NotFittedError, "not fitted yet"),
    "a class": (lambda: plot_boundary(Perceptron, X, Y), ParameterError, "pass a fitted estimator"),
    "no model": (lambda: plot_boundary(None, X, Y), ParameterError, "model is None: pass a fitted estimator"),
    "several axes": (
        lambda: plot_boundary(MODEL, X, Y, ax=np.array([None, None])),
        ParameterError,
        "ax is a ndarray: pass one matplotlib Axes",
    ),
    "other columns": (lambda: plot_boundary(MODEL, WIDE, Y), DataError, "expecting 2 features"),
    "other labels": (
        lambda: plot_boundary(MODEL, X, np.where(Y, "a", "b")),
        DataError,
        r"y has the classes \['a', 'b'\] and the model \[0, 1\]",
    ),
    "few labels": (lambda: plot_boundary(MODEL, X, Y[:5]), DataError, "X has 40 rows and y has 5"),
    "no such column": (lambda: plot_boundary(MODEL, X, Y, columns=(0, 7)), ParameterError, "columns names 7"),
    "twice a column": (lambda: plot_boundary(MODEL, X, Y, columns=(1, 1)), ParameterError, "same column twice"),
    "a word": (lambda: plot_boundary(MODEL, X, Y, columns="x0"), ParameterError, "pass one, two or three columns"),
    "no such row": (lambda: plot_boundary(MODEL, X, Y, feet=[99]), ParameterError, "feet names row 99"),
    "feet without a hyperplane": (
        lambda: plot_boundary(KernelPerceptron(max_iter=999).fit(X, Y), X, Y, feet=[1]),
        ParameterError,
        "KernelPerceptron has no hyperplane in these columns: leave feet out",
    ),
    "no trace": (
        lambda: plot_boundary(LinearDiscriminant().fit(X, Y), X, Y, updates=2),
        ParameterError,
        "fit the perceptron with trace=True",
    ),
    "other rows": (lambda: plot_boundary(MODEL, X[:9], Y[:9], updates=2), DataError, "not the rows, labels"),
    "a space without a hyperplane": (
        lambda: plot_boundary(LinearDiscriminant().fit(WIDE, np.arange(40) % 3), WIDE, columns=(0, 1, 2)),
        ParameterError,
        "LinearDiscriminant has no single hyperplane in these columns: draw two of them",
    ),
    "a regressor of many columns": (
        lambda: plot_boundary(LeastSquares().fit(WIDE, X[:, 0]), WIDE),
        DataError,
        "regressor of 5 columns: choose one or two of them",
    ),
    "text": (lambda: plot_boundary(MODEL, pd.DataFrame({"a": ["u"], "b": [1.0]}), [0]), DataError, "not a number"),
    "no such loss": (lambda: plot_losses(["l2"]), ParameterError, "losses names 'l2'"),
    "an interval": (lambda: plot_losses(interval=(1, 0)), ParameterError, "the smaller first"),
    "one coordinate": (lambda: plot_descent(lambda t: float(t[0]), [[1.0]]), DataError, "path has one coordinate"),
    "no function": (lambda: plot_descent(3, [[1.0, 2.0]]), ParameterError, "objective is a int"),
    "coordinates": (lambda: plot_descent(sum, [[1.0, 2.0]], columns=(0, 2)), ParameterError, "two different numbers"),
    "J is not a number": (lambda: plot_convergence([1.0, np.nan]), DataError, "values has nan"),
    "lengths": (lambda: plot_convergence([1.0], gradient_norm=[1.0, 2.0]), DataError, "they must agree"),
    "one weight": (lambda: plot_weight_path([[1.0]]), DataError, "weights has one column"),
    "rows out of range": (lambda: plot_mistakes([9], 4), DataError, "row numbers from 0 to 3"),
    "three weights": (lambda: plot_update([1, 2, 3], [1, 2], 1), DataError, "w has 3 entries and x has 2"),
    "a label": (lambda: plot_update([1, 2], [1, 2], 0), ParameterError, "y is 0: it must be -1 or"),
    "three classes by size": (
        lambda: plot_overfitting(GROWING, X, np.arange(40) % 3, "polynomialmap__degree", [1]),
        DataError,
        "y has 3 classes: boundaries by size are drawn for two",
    ),
    "columns by size": (
        lambda: plot_overfitting(GROWING, WIDE, Y, "polynomialmap__degree", [1]),
        DataError,
        "X has 5 columns, and the picture needs two columns for a classifier",
    ),
    "a parameter": (lambda: plot_overfitting(GROWING, X, Y, "degree", [1]), ParameterError, "does not have"),
    "no values": (
        lambda: plot_overfitting(GROWING, X, Y, "polynomialmap__degree", []),
        ParameterError,
        "values is empty",
    ),
    "an update that does not exist": (
        lambda: MODEL.trace_.replay(X, Y).plot_update(0),
        DataError,
        "update 0 does not exist",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_one_sentence_and_no_figure(case):
    draw, error, sentence = REFUSED[case]
    with pytest.raises(error, match=sentence) as said:
        draw()
    assert "\n" not in str(said.value)
    assert plt.get_fignums() == []


def test_axes_of_the_wrong_dimension():
    space = plt.figure().add_subplot(projection="3d")
    for draw in (lambda: plot_boundary(MODEL, X, Y, ax=space), lambda: plot_losses(ax=space), margin(X, Y).plot):
        with pytest.raises(ParameterError, match="ax belongs to a 3-D figure and this picture needs flat axes"):
            draw() if draw.__name__ == "<lambda>" else draw(space)
    with pytest.raises(ParameterError, match="this picture needs 3-D axes"):
        plot_boundary(Perceptron(max_iter=999).fit(WIDE, Y), WIDE, Y, columns=(0, 1, 2), ax=plt.figure().add_subplot())


def test_a_wide_sparse_table():
    wide = sp.random(300, 50_000, 0.001, format="csr", random_state=0)
    wide.data[:] = 1.0
    model = Perceptron().fit(wide, np.arange(300) % 2)
    with pytest.raises(DataError, match="X is sparse with 300 rows and 50,000 columns, too many numbers to draw"):
        plot_boundary(model, wide)


@pytest.mark.parametrize(
    "draw",
    [
        lambda: plot_boundary(MODEL, X[:1], Y[:1]),
        lambda: plot_boundary(MODEL, X[Y == 1], Y[Y == 1]),
        lambda: plot_boundary(MODEL, np.ones((4, 2)), [1, 1, 0, 0]),
        lambda: plot_boundary(MODEL, X * 0, Y),
        lambda: plot_boundary(Perceptron().partial_fit([[0.0, 0.0]], [1], classes=[0, 1]), X, Y),
        lambda: plot_boundary(Perceptron().partial_fit(X, np.ones(40)), X, np.ones(40)),
        lambda: plot_boundary(LinearDiscriminant().fit(WIDE[:, :1], np.arange(40) % 3), WIDE[:, :1], np.arange(40) % 3),
        lambda: plot_boundary(Perceptron(boundary="undefined", max_iter=999).fit(X, Y), X, Y),
        lambda: plot_boundary(Perceptron(max_iter=999).fit(X * 1e150, Y), X * 1e150, Y),
        lambda: plot_boundary(MODEL, X, Y, updates=2),
        lambda: plot_boundary(LinearDiscriminant().fit(WIDE, np.arange(40) % 3), WIDE, np.arange(40) % 3),
        lambda: separability([[1.0, 1.0], [1.0, 1.0]], [0, 1]).plot(),
        lambda: separability(X, np.arange(40) % 2, fit_intercept=False).plot(),
        lambda: margin(X, np.arange(40) % 2).plot(),
        lambda: plot_update([0, 0], [1, 2], 1),
        lambda: plot_update([1, 2], [1, 2], -1, fit_intercept=False),
    ],
)
def test_odd_data_are_drawn(draw):
    assert rendered(draw())


def test_twenty_six_classes_are_their_letters():
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    codes = np.arange(260) % 26
    many = RNG.normal(size=(260, 2)) + 5 * np.column_stack([codes % 6, codes // 6])
    ax = plot_boundary(LinearDiscriminant().fit(many, letters[codes]), many, letters[codes], contours=False)
    assert [text.get_text() for text in ax.texts].count("z") == 10
    assert not set(letters) & set(legend(ax))
    assert rendered(ax)


def test_names_are_taken_as_they_are():
    frame = pd.DataFrame(X, columns=["$a_1", "_b$$"])
    labels = np.where(Y, "_yes", "$no")
    ax = plot_boundary(Perceptron(max_iter=999).fit(frame, labels), frame, labels)
    assert {"$no", " _yes"} <= set(legend(ax))
    assert rendered(ax)
