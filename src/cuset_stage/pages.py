"""Load the jinja2 templates of pages.

The pages are Markdown, or HTML that loads no other files. All HTML pages share one style (`pages.css`).
"""

import base64
from collections.abc import Callable
from typing import Any

from jinja2 import Environment, PackageLoader, Template


def template(path: str, *, is_html: bool = True, **filters: Callable[..., Any]) -> Template:
    """Return the template of a page.

    Args:
        path: the template's path in this package, such as report/page.html.
        is_html: whether the page is HTML. All values are then escaped, except Markup.
        filters: the page's filters beside jinja2's own and `base64`, which takes bytes.
    """
    loader = PackageLoader("cuset_stage", ".")
    environment = Environment(loader=loader, autoescape=is_html, trim_blocks=True, lstrip_blocks=True)
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    environment.filters |= {"base64": lambda data: base64.b64encode(data).decode(), **filters}
    return environment.get_template(path)
