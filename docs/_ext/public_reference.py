"""The reference: a page for every public name of the package, grouped by the room where it lives."""

from pathlib import Path

# Room of the package, heading, sentence under it: in the order of the page. Rooms that are not here come last.
ROOMS = {
    "auditing": ("The audit", "Five questions about a table, answered with proofs and intervals."),
    "models.perceptron": ("Perceptrons", "Learners that move on mistakes; how to choose: {doc}`/family`."),
    "models.least_squares": ("Least squares", "Regression and its classifier: {doc}`/closed-forms`."),
    "models.descent": ("Gradient descent", "Any differentiable objective, or a linear predictor by its loss."),
    "models.discriminant": ("Discriminants", "Normal classes and Bayes' rule: {doc}`/closed-forms`."),
    "models.logistic": ("Logistic regression", "With a proof of whether the estimate exists: {doc}`/logistic`."),
    "models.max_margin": ("Maximum margin", "The hyperplane that is farthest from all rows: {doc}`/margin`."),
    "models.fewest_mistakes": ("Fewest mistakes", "The best hyperplane where none separates: {doc}`/fewest-mistakes`."),
    "proofs": ("Proofs", "Claims about data, proved in exact arithmetic: {doc}`/separability`, {doc}`/margin`."),
    "evaluation": ("Evaluation", "Estimates with intervals, splits, comparison: {doc}`/evaluation`."),
    "features": ("Feature maps", "Columns that make a non-linear boundary linear."),
    "plotting": ("Plots", "One line each; every function accepts ``ax=``."),
    "numerics": ("Mathematics", "Losses, scores and statuses that several learners share."),
    "persistence": ("Model files", "Files that hold data and no code: {doc}`/files`."),
    "": ("Modules", "Errors and warnings, and the compiled kernels."),
}


def room(home):
    """The longest room of the table that the module lies in; its own first folder where there is none."""
    inside = home.removeprefix("separatrix").lstrip(".")
    known = [name for name in ROOMS if name and (inside + ".").startswith(name + ".")]
    return max(known, key=len) if known else inside.split(".")[0]


def grouped(homes):
    """Every public name under its room, in the order of the page."""
    rooms = {}
    for name, home in homes.items():
        rooms.setdefault(room(home), []).append(name)
    order = [*ROOMS, *sorted(set(rooms) - set(ROOMS))]
    return {name: sorted(rooms[name], key=str.lower) for name in order if name in rooms}


def page(homes):
    """The index of the reference, in Markdown."""
    parts = ["# Reference", "Every public name: `import separatrix` and use it as `separatrix.NAME`."]
    for name, members in grouped(homes).items():
        title, about = ROOMS.get(name, (name.capitalize(), ""))
        listed = "\n".join(f"   {member}" for member in members)
        table = f".. currentmodule:: separatrix\n\n.. autosummary::\n   :toctree: generated\n\n{listed}"
        parts += [f"## {title}", about, f"```{{eval-rst}}\n{table}\n```"]
    parts += ["## More", "{doc}`/results`: what functions return, distances and foot points, step-size schedules."]
    parts += ["```{toctree}\n:hidden:\n\n/results\n```"]
    return "\n\n".join(parts) + "\n"


def file_names(homes):
    """Other file names for functions whose class has the same one, for systems that ignore case."""
    classes = {name.lower() for name in homes if name != name.lower()}
    return {f"separatrix.{name}": f"separatrix.{name}-function" for name in homes if name in classes}


def write(app, config):
    """Write the index, from which autosummary makes the pages."""
    import separatrix

    config.autosummary_filename_map = file_names(separatrix._HOMES)
    target = Path(app.srcdir) / "reference" / "index.md"
    target.parent.mkdir(exist_ok=True)
    text = page(separatrix._HOMES)
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")


def setup(app):
    """Write the index before Sphinx looks for pages."""
    app.connect("config-inited", write)
    return {"parallel_read_safe": True}
