"""
Losses and their slopes
=======================

Learners differ in the loss of the margin :math:`m = y\\,s(x)` that they minimise.
"""

import matplotlib.pyplot as plt

import separatrix as sx

fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
sx.plotting.plot_losses(ax=axes[0])
sx.plotting.plot_losses(["squared", "logistic", "hinge", "perceptron"], slope=True, ax=axes[1])
axes[0].set_title("loss")
drawn = axes[1].set_title("derivative")
