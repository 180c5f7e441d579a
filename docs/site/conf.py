"""Sphinx's settings for the documents of this repository; scripts/build-site runs it.

The pages are the Markdown files that one reads on the repository's own pages, and the reference in docs/reference, which
reference.py writes. Nothing is copied or rewritten: the source folder is the root, and the menu is added to the README
while it is read.
"""

project = "Sconce"
copyright = "the Sconce contributors"
html_title = "Sconce"

extensions = ["myst_parser"]
root_doc = "README"
include_patterns = [
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs/**.md",
]
exclude_patterns = [".*", "build", "target", "docs/site", "docs/results"]

# Links are to headings of any page, as the repository's own pages make them.
myst_heading_anchors = 4
nitpicky = True

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["find.js"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_show_sphinx = False
html_copy_source = False

MENU = """

```{toctree}
:hidden:
:caption: Guide

docs/guide/first_steps
docs/guide/memory
docs/guide/tensors
docs/guide/operations
docs/guide/own_kernels
docs/guide/graphs
docs/guide/streams_and_threads
docs/guide/several_devices
docs/guide/testing
docs/guide/environment
docs/guide/from_pytorch
docs/guide/extensions
docs/guide/code_for_c10
docs/guide/other_languages
docs/guide/compiled_models
docs/guide/model_checks
docs/guide/kernel_libraries
docs/guide/choosing_an_allocator
docs/guide/platforms
docs/guide/upgrading
docs/guide/glossary
```

```{toctree}
:hidden:
:caption: Reference

C and C++ <docs/reference/index>
```

```{toctree}
:hidden:
:caption: Figures and changes

docs/benchmarks
CHANGELOG
SECURITY
```

```{toctree}
:hidden:
:caption: For maintainers

ARCHITECTURE
CONTRIBUTING
docs/maintainers/life_of_an_allocation
docs/maintainers/life_of_a_copy
docs/maintainers/life_of_a_transform
```

```{toctree}
:hidden:
:glob:
:caption: Design

docs/design/*
```
"""


def add_menu(_app, name, source):
    """The README begins the site, so the menu hangs on it."""
    if name == root_doc:
        source[0] += MENU


def setup(app):
    app.connect("source-read", add_menu)
