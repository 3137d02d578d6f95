"""How the documentation is built: Markdown pages, a reference from docstrings, a course and a gallery that are run."""

import os
import sys
import warnings
from pathlib import Path

import matplotlib as mpl

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
os.environ.setdefault("COLUMNS", "88")
mpl.use("agg")

import separatrix  # noqa: E402  # after the backend of the figures

# A fit that stops at its limit says so; the pages that show such a fit say so themselves.
warnings.filterwarnings("ignore", category=separatrix.errors.SeparatrixWarning)

project = "Separatrix"
author = "The Separatrix developers"
copyright = "The Separatrix developers, BSD 3-Clause licence"  # noqa: A001  # the name is Sphinx's
release = version = separatrix.__version__
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "benchmark_figure",
    "captions",
    "mathml",
    "plane",
    "plain_docstrings",
    "public_reference",
]
exclude_patterns = ["_build", "_ext", "_templates"]
templates_path = ["_templates"]
nitpicky = False

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

html_theme = "pydata_sphinx_theme"
html_title = "Separatrix"
html_static_path = ["_static"]
html_css_files = ["separatrix.css"]
html_math_renderer = "mathml"
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "Separatrix"},
    "navbar_align": "left",
    "header_links_before_dropdown": 9,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": {"**": ["page-toc", "sg_download_links"], "index": [], "lecture-table": []},
    "back_to_top_button": True,
    "pygments_light_style": "friendly",
}
html_sidebars = {page: [] for page in ("index", "start", "lecture-table", "words")}

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
numpydoc_attributes_as_param_list = True
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": ["../examples/course", "../examples/gallery"],
    "gallery_dirs": ["course", "gallery"],
    "filename_pattern": r"\.py$",
    "subsection_order": [
        f"../examples/gallery/{part}" for part in ("proofs", "perceptrons", "models", "evaluation", "data")
    ],
    "within_subsection_order": "FileNameSortKey",
    "doc_module": ("separatrix",),
    "reference_url": {"separatrix": None},
    "backreferences_dir": "gallery/backreferences",
    "abort_on_example_error": True,
    "image_scrapers": ("captions.scraper",),
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 0,
    "write_computation_times": False,
    "thumbnail_size": (400, 280),
    "remove_config_comments": True,
    "download_all_examples": False,
    "plot_gallery": "True",
    "first_notebook_cell": "%matplotlib inline",
}
