"""Formulas as MathML, written when the page is built: nothing is fetched or run when it is read."""

import re

from docutils.nodes import SkipNode
from docutils.utils.math import MathError, pick_math_environment
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)
# docutils hangs an index below a letter with a hat; it belongs beside it.
BELOW_A_HAT = re.compile(
    r"<munderover>\s*(<m\w+>[^<]*</m\w+>)\s*((?:(?!</?munderover>).)*?)\s*(<mo[^>]*>ˆ</mo>)\s*</munderover>", re.DOTALL
)
# Bars of a norm would grow with what is between them, the closing one with its index alone: they keep one height.
BARS = re.compile(r"<mo(?: [^>]*)?>([‖∥|∣])</mo>")


def mathml(tex, node, as_block):
    """The formula, or a warning, which fails the build, where docutils cannot read it."""
    try:
        found = BELOW_A_HAT.sub(r'<msub><mover accent="true">\1\3</mover>\2</msub>', tex2mathml(tex, as_block=as_block))
        return BARS.sub(r'<mo stretchy="false" lspace="0.06em" rspace="0.06em">\1</mo>', found)
    except (MathError, AttributeError) as unknown:  # docutils stumbles over some commands
        logger.warning("formula %r: %s", tex, unknown, location=node)
        return f"<code>{tex}</code>"


def inline(writer, node):
    """Write a formula within a line."""
    writer.body.append(mathml(node.astext(), node, False))
    raise SkipNode


def block(writer, node):
    """Write a formula of its own."""
    tex = node.astext()
    environment = pick_math_environment(tex)
    if environment.startswith("align"):
        tex = rf"\begin{{aligned}}{tex}\end{{aligned}}"
    writer.body.append(f'<div class="formula">{mathml(tex, node, True)}</div>\n')
    raise SkipNode


def setup(app):
    """Offer the renderer to ``html_math_renderer``."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
