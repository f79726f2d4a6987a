"""HTML pages that load nothing: one jinja2 environment, and one style (`pages.css`) for all of them."""

from collections.abc import Callable
from typing import Any

from jinja2 import Environment, PackageLoader, Template


def template(path: str, **filters: Callable[..., Any]) -> Template:
    """A page by its path in this package, such as report/page.html. Everything it is given is escaped, except Markup.

    filters: what the page has beside jinja2's own.
    """
    loader = PackageLoader("cuset_stage", ".")
    environment = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    environment.filters |= filters
    return environment.get_template(path)
