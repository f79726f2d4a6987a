"""Checks that every page must pass in a browser: text has enough contrast with its background, and nothing is wider
than the window.

The JavaScript part is in page_checks.js.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


WIDTHS = (1400, 420)
SCHEMES = ("light", "dark")
CHECKS = Path(__file__).with_suffix(".js").read_text(encoding="utf-8").rstrip()


@contextmanager
def opened(browser: Any, address: str, **options: Any) -> Iterator[Any]:
    """Open a page in a new tab and yield the tab.

    At the end, the page must not have logged errors or warnings in its console, and no request may have failed.
    """
    context = browser.new_context(viewport={"width": WIDTHS[0], "height": 900}, **options)
    tab = context.new_page()
    logged: list[str] = []
    tab.on("console", lambda message: logged.append(message.text) if message.type in ("error", "warning") else None)
    tab.on("pageerror", lambda error: logged.append(str(error)))
    tab.on("requestfailed", lambda request: logged.append(f"{request.url}: {request.failure}"))
    try:
        tab.goto(address)
        yield tab
        assert logged == []
    finally:
        context.close()


def faults(tab: Any) -> list[str]:
    """Return the problems of a page: too little contrast and too wide elements, in light and dark, in a wide and a
    narrow window.
    """
    tab.add_style_tag(content="* { transition: none !important; animation: none !important; }")
    tab.evaluate("document.querySelectorAll('details:not(.sample)').forEach(one => { one.open = true; })")
    problems = []
    for scheme in SCHEMES:
        tab.emulate_media(color_scheme=scheme)
        for width in WIDTHS:
            tab.set_viewport_size({"width": width, "height": 900})
            contrast = tab.evaluate(f"{CHECKS}.lowContrast()")
            if contrast["checked"] < 5:
                problems.append(f"{tab.url}: only {contrast['checked']} texts are visible")
            problems += [f"{width} px, {scheme}, contrast {fault}" for fault in contrast["found"]]
            problems += [f"{width} px, {scheme}, too wide: {fault}" for fault in tab.evaluate(f"{CHECKS}.tooWide()")]
    return problems
