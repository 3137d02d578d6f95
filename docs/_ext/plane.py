"""Planes that a reader moves: the directive ``plane``, and the lab as a folder of the site.

    .. plane:: -1 2 -, 1 0 +, 1 1 +, -1 0 -
       :line: 1 1 0
       :show: verdict scores

       The caption. Points are x, y and class; line is w₁ w₂ b.

The options are the attributes of ``<separatrix-plane>``, which ``separatrix-plane.js`` explains.
"""

from html import escape
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive, directives

from separatrix.lab.static_files import write_lab

ATTRIBUTES = ("line", "show", "view", "recipe", "bias", "neighbours")
LINKS = '<a href="../course/index.html">Course</a>'


class LivePlane(nodes.General, nodes.Element):
    """A plane; its children are the caption."""


class PlaneDirective(Directive):
    """``.. plane:: points`` with a caption as its content."""

    optional_arguments = 1
    final_argument_whitespace = True
    option_spec = dict.fromkeys(ATTRIBUTES, directives.unchanged) | {"fixed": directives.flag}
    has_content = True

    def run(self):
        """The plane with its caption below it."""
        points = " ".join((self.arguments or [""])[0].split())
        plane = LivePlane("", points=points, options=dict(self.options))
        self.state.nested_parse(self.content, self.content_offset, plane)
        return [plane]


def visit(writer, node):
    """The element, and the script on the first plane of a page."""
    root = "../" * writer.builder.current_docname.count("/")
    if not getattr(writer, "has_planes", False):
        writer.has_planes = True
        writer.body.append(f'<script defer src="{root}lab/separatrix-plane.js"></script>\n')
    options = {"points": node["points"]} | node["options"]
    attributes = " ".join(name if value is None else f'{name}="{escape(value)}"' for name, value in options.items())
    writer.body.append(f'<figure class="live-plane"><separatrix-plane {attributes}></separatrix-plane>\n<figcaption>')


def depart(writer, node):
    """The end of the caption."""
    writer.body.append("</figcaption></figure>\n")


def skip(writer, node):
    """Formats without scripts have the caption alone."""


def lab(app, error):
    """Write the lab beside the pages."""
    if error is None and app.builder.format == "html":
        write_lab(Path(app.outdir) / "lab", LINKS)


def setup(app):
    """Offer the directive, and write the lab at the end."""
    app.add_node(LivePlane, html=(visit, depart), text=(skip, skip), latex=(skip, skip))
    app.add_directive("plane", PlaneDirective)
    app.connect("build-finished", lab)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
