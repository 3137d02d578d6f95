"""Captions of figures in the course: the comment ``# figure:`` of a block, which is the picture's text too."""

import re

from sphinx_gallery.scrapers import matplotlib_scraper

CAPTION = re.compile(r"^[ \t]*# figure: (.*(?:\n[ \t]*# .*)*)\n?", re.MULTILINE)


def scraper(block, block_vars, gallery_conf, **options):
    """The pictures of a block; with its caption below, which stands in for the picture where it is not seen."""
    rst = matplotlib_scraper(block, block_vars, gallery_conf, **options)
    found = CAPTION.search(block[1])
    if found is None or not rst:
        return rst
    text = " ".join(re.sub(r"\n[ \t]*# ", " ", found[1]).split())
    plain = text.replace("`", "").replace("*", "").replace("\\", "")
    rst = re.sub(r"^(\s*:alt:).*$", lambda match: f"{match[1]} {plain}", rst, flags=re.MULTILINE)
    return f"{rst}\n.. rst-class:: caption\n\n{text}\n\n"


def without_comments(app, docname, source):
    """The caption is below the figure: not in the code too."""
    if docname.startswith(("course/", "gallery/")):
        source[0] = CAPTION.sub("", source[0])


def setup(app):
    """Read captions where pages are read."""
    app.connect("source-read", without_comments)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
