r"""
The neuron, and a short history
===============================

.. include:: ../neuron.txt

**1943.** Warren McCulloch and Walter Pitts describe a nerve cell as a unit that fires when a weighted sum of its inputs
reaches a threshold. Networks of such units compute any logical function. Their weights are set by hand: nothing is learned.

**1957.** Frank Rosenblatt, at the Cornell Aeronautical Laboratory, proposes a unit that learns its weights from mistakes:
the **perceptron**. It runs first as a program on an IBM 704, then as a machine of its own, the **Mark I**: 400 photocells,
weights as potentiometers, updates by electric motors. In July 1958 the *New York Times* reports of "the embryo of an
electronic computer" that its makers expect to walk, talk, see, write and be conscious of its existence.

**1962.** Albert Novikoff proves the mistake bound: on separable rows the perceptron makes at most
:math:`(R/\hat\gamma)^2` mistakes (:doc:`chapter_3_margins`).

**1969.** Marvin Minsky and Seymour Papert, in *Perceptrons*, prove what one layer cannot do: XOR is the smallest example, and
connectedness of a figure a larger one. That several layers can compute XOR was known; how to *train* them was not. Money and
interest went elsewhere for more than a decade: the first **winter** of neural networks.

**1986.** David Rumelhart, Geoffrey Hinton and Ronald Williams train several layers by gradient descent through smooth units
(back-propagation), where the sigmoid of :doc:`chapter_4_probabilities` replaces the threshold.

**1992, 1995.** Bernhard Boser, Isabelle Guyon, Vladimir Vapnik and Corinna Cortes return to one layer: the maximum margin, kernels
with infinitely many features, and a soft margin for noise.

One unit computes *and* and *or*, with weights set by hand as in 1943:
"""

import numpy as np

import separatrix as sx

inputs = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)


def neuron(x, w, b):
    """Fire where the weighted sum reaches the threshold −b."""
    return (x @ np.asarray(w, dtype=float) + b >= 0).astype(int)


both, either = neuron(inputs, [1, 1], -2), neuron(inputs, [1, 1], -1)
print("and:", both, "  or:", either)

# %%
# *Exclusive or* is beyond one unit, whatever its weights: the proof is in four rows. Two layers can do it: *or, but not
# and*.

exclusive = neuron(np.column_stack([either, both]), [1, -1], -1)
print("xor:", exclusive)
print(sx.separability(inputs, exclusive))

# %%
# .. plane:: 0 0 -, 1 0 +, 0 1 +, 1 1 -
#    :line: 1 1 -0.5
#    :show: fewest scores
#    :view: -0.7 -0.7 2.4
#
#    The four rows of XOR and one unit as a line: however it is dragged, one row stays on its wrong side.
