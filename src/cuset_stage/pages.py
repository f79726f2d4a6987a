"""Pages from jinja2 templates: HTML that loads nothing, in one style (`pages.css`), and Markdown."""

from collections.abc import Callable
from typing import Any

from jinja2 import Environment, PackageLoader, Template


def template(path: str, *, is_html: bool = True, **filters: Callable[..., Any]) -> Template:
    """A page by its path in this package, such as report/page.html. In HTML everything it is given is escaped, except Markup.

    filters: what the page has beside jinja2's own.
    """
    loader = PackageLoader("cuset_stage", ".")
    environment = Environment(loader=loader, autoescape=is_html, trim_blocks=True, lstrip_blocks=True)
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    environment.filters |= filters
    return environment.get_template(path)
