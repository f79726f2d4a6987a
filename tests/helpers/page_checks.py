"""What every page must hold in a browser: its text is readable on what it stands on, and nothing is wider than the window."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


WIDTHS = (1400, 420)
SCHEMES = ("light", "dark")
CHECKS = Path(__file__).with_suffix(".js").read_text(encoding="utf-8").rstrip()


@contextmanager
def opened(browser: Any, address: str, **options: Any) -> Iterator[Any]:
    """A tab with the page; at the end nothing may stand in its console, and no file may be missing."""
    context = browser.new_context(viewport={"width": WIDTHS[0], "height": 900}, **options)
    tab = context.new_page()
    said: list[str] = []
    tab.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("requestfailed", lambda request: said.append(f"{request.url}: {request.failure}"))
    try:
        tab.goto(address)
        yield tab
        assert said == []
    finally:
        context.close()


def faults(tab: Any) -> list[str]:
    """What cannot be read in light or dark, at a wide or a narrow window, and what is wider than the window."""
    tab.add_style_tag(content="* { transition: none !important; animation: none !important; }")
    tab.evaluate("document.querySelectorAll('details:not(.sample)').forEach(one => { one.open = true; })")
    found = []
    for scheme in SCHEMES:
        tab.emulate_media(color_scheme=scheme)
        for width in WIDTHS:
            tab.set_viewport_size({"width": width, "height": 900})
            contrast = tab.evaluate(f"{CHECKS}.lowContrast()")
            if contrast["checked"] < 5:
                found.append(f"{tab.url}: only {contrast['checked']} texts are visible")
            found += [f"{width} px, {scheme}, contrast {one}" for one in contrast["found"]]
            found += [f"{width} px, {scheme}, too wide: {one}" for one in tab.evaluate(f"{CHECKS}.tooWide()")]
    return found
