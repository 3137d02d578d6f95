"""scikit-learn's names of parameters that learners here call otherwise, or do not need: one table."""

from __future__ import annotations

from collections.abc import Collection

# For each name what to do, the first line that applies: those whose first word is a parameter of the learner, or "".
RENAMED = {
    "penalty": (
        ("l1_ratio", "use l1_ratio (0 is ridge, 1 the lasso) with C, and C=inf for no penalty"),
        ("alpha", "use alpha, the size of the ridge penalty"),
        ("", "this learner has no penalty"),
    ),
    "alpha": (("C", "use C: a smaller C is a stronger penalty"), ("", "this learner has no penalty")),
    "C": (("alpha", "use alpha: a larger alpha is a stronger penalty"), ("", "this learner has no penalty")),
    "eta0": (
        ("step", "use step, the size of the first step"),
        ("", "from a zero start the size of steps changes no prediction; leave it out"),
    ),
    "learning_rate": (("schedule", "use schedule and step"), ("", "updates have no learning rate; leave it out")),
    "max_iter": (("max_epochs", "use max_epochs, the limit on passes"), ("max_nodes", "use max_nodes")),
    "n_iter": (("max_epochs", "use max_epochs, the limit on passes"), ("max_iter", "use max_iter")),
    "shuffle": (("order", 'use order="shuffle" or order="cyclic"'),),
    "tol": (
        ("tolerance", "use tolerance"),
        ("max_epochs", "a run ends when the mistakes of a pass stop falling; leave it out, or set max_epochs"),
    ),
    "n_iter_no_change": (("max_epochs", "a run ends when the mistakes of a pass stop falling; leave it out"),),
    "early_stopping": (("max_epochs", "a run ends when the mistakes of a pass stop falling; leave it out"),),
    "validation_fraction": (("max_epochs", "no rows are held out; leave it out"),),
    "average": (("", "use AveragedPerceptron, or LinearDescent(average=True)"),),
    "loss": (("variant", 'use variant: "PA-I" has the hinge loss, "PA-II" the squared one'),),
    "multi_class": (("multiclass", "use multiclass"),),
    "reg_param": (("shrinkage", "use shrinkage"),),
    "store_covariance": (("", "the covariance is always kept; leave it out"),),
    "n_components": (("", "transform gives all directions; take the first columns of it"),),
    "dual": (("", "the solver is chosen by the data; leave it out"),),
    "solver": (("", "the solver is chosen by the data; leave it out"),),
    "intercept_scaling": (("", "the intercept is never penalised; leave it out"),),
    "copy_X": (("", "X is never changed; leave it out"),),
    "normalize": (("", "standardise the columns before (StandardScaler in a pipeline)"),),
    "n_jobs": (("", "a fit uses one thread; leave it out"),),
}


def explain(owner: str, name: str, known: Collection[str]) -> str:
    """One sentence about a parameter that ``owner`` does not have, and what to use."""
    for needed, advice in RENAMED.get(name, ()):
        if not needed or needed in known:
            return f"{owner}: there is no {name}=; {advice}."
    import difflib

    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f"{owner}: there is no {name}=; did you mean {near[0]}=?"
    return f"{owner}: there is no {name}=; its parameters are {', '.join(known)}."
