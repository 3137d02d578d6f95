"""The reference: a page for every public name of the package, grouped by the room where it lives."""

from pathlib import Path

from separatrix.lazy_names import table_of

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
    "stream": ("Streams", "Rows predicted, scored and then learned: {doc}`/streams`."),
    "data": ("Data", "Example tables, and rows on disk: {doc}`/files`."),
    "numerics": ("Mathematics", "Losses, scores and statuses that several learners share."),
    "persistence": ("Model files", "Files that hold data and no code: {doc}`/files`."),
    "": ("Modules", "Errors and warnings, clusters, exports, and the compiled kernels."),
}


def public_names():
    """Every public name, as it is written after ``separatrix.``, with the module it lives in."""
    source = Path(__file__).parents[2] / "src" / "separatrix"
    tables = {".".join(stub.parent.relative_to(source).parts): table_of(stub) for stub in source.rglob("__init__.pyi")}
    found = {}
    for package, table in tables.items():
        for name, home in table.items():
            whole = f"{package}.{name}".lstrip(".")
            if whole not in tables:  # a package with a table is there by its names
                found[whole] = home
    return found


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
    about = (
        "Every public name. `import separatrix` is enough: learners and the questions to ask of data are "
        "`separatrix.NAME`, results, plots and helpers `separatrix.PACKAGE.NAME`."
    )
    parts = ["# Reference", about]
    for name, members in grouped(homes).items():
        title, about = ROOMS.get(name, (name.capitalize(), ""))
        listed = "\n".join(f"   {member}" for member in members)
        table = f".. currentmodule:: separatrix\n\n.. autosummary::\n   :toctree: generated\n\n{listed}"
        parts += [f"## {title}", about, f"```{{eval-rst}}\n{table}\n```"]
    parts += ["## More", "{doc}`/results`: what functions return, distances and foot points, step-size schedules."]
    parts += ["```{toctree}\n:hidden:\n\n/results\n```"]
    return "\n\n".join(parts) + "\n"


def write(app, config):
    """Write the index, from which autosummary makes the pages."""
    target = Path(app.srcdir) / "reference" / "index.md"
    target.parent.mkdir(exist_ok=True)
    text = page(public_names())
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")


def setup(app):
    """Write the index before Sphinx looks for pages."""
    app.connect("config-inited", write)
    return {"parallel_read_safe": True}
