# Public names of this package, and where they live; read by type checkers and by __init__.py.

from separatrix.plotting.boundary import plot_boundary as plot_boundary
from separatrix.plotting.few_columns import plot_overfitting as plot_overfitting
from separatrix.plotting.losses_and_descent import plot_convergence as plot_convergence
from separatrix.plotting.losses_and_descent import plot_descent as plot_descent
from separatrix.plotting.losses_and_descent import plot_losses as plot_losses
from separatrix.plotting.perceptron_runs import plot_mistakes as plot_mistakes
from separatrix.plotting.perceptron_runs import plot_update as plot_update
from separatrix.plotting.perceptron_runs import plot_weight_path as plot_weight_path
