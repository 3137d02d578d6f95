"""Docstrings are plain text in the letters of mathematics: |w|, w*, coef_ mean what they look like."""

import re

MARKS = re.compile(r"(``[^`]*``|:[a-z]+:`[^`]*`)|([|*]|(?<=\w)_(?!\w))")


def escaped(text):
    """The text with what reStructuredText would take for markup escaped."""
    return MARKS.sub(lambda m: m[1] or "\\" + m[2], text)


def plain(app, what, name, obj, options, lines):
    """Escape prose; leave examples, and the names of parameters, as they are."""
    example = False
    for i, line in enumerate(lines):
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        if example:
            continue
        names, colon, kind = line.partition(" : ")
        if colon and not line.startswith(" ") and re.fullmatch(r"[\w*, ]+", names):
            lines[i] = names + colon + escaped(kind)
        elif not re.fullmatch(r"\w+", line):
            lines[i] = escaped(line)


def setup(app):
    """Run before numpydoc reads the sections."""
    app.connect("autodoc-process-docstring", plain, priority=1)
    return {"parallel_read_safe": True}
