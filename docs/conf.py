"""How the documentation is built: Markdown by MyST, the reference from docstrings."""

import separatrix

project = "Separatrix"
author = "The Separatrix developers"
release = separatrix.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
html_theme = "furo"
html_title = "Separatrix"
exclude_patterns = ["_build"]
autodoc_default_options = {"members": True}
autodoc_typehints = "none"
myst_heading_anchors = 3


def setup(app):
    """Docstrings are plain text in the letters of mathematics: |w|, w*, coef_ mean what they look like."""
    import re

    marks = re.compile(r"(``[^`]*``|:[a-z]+:`[^`]*`)|([|*]|(?<=\w)_(?!\w))")

    def plain(app, what, name, obj, options, lines):
        lines[:] = [marks.sub(lambda m: m[1] or "\\" + m[2], line) for line in lines]

    app.connect("autodoc-process-docstring", plain, priority=1)
