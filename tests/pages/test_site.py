"""The documentation as a site, in headless Chromium: each page is readable, its links lead somewhere, search and colours work."""

import functools
import threading
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from page_checks import faults, opened


ROOT = Path(__file__).parent.parent.parent
PAGES = sorted(path.stem for path in (ROOT / "docs").glob("*.md"))
FIRST = ("index", "methods")  # the others in the slow tier


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """No line a request."""


@pytest.fixture(scope="module")
def address(site):
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()


@pytest.mark.parametrize(
    "page", [*FIRST, *(pytest.param(name, marks=pytest.mark.slow) for name in PAGES if name not in FIRST)]
)
def test_a_page_is_readable(browser, address, page):
    with opened(browser, f"{address}/{page}.html") as tab:
        assert faults(tab) == []


def test_search_and_colours_and_navigation(browser, address):
    with opened(browser, f"{address}/index.html", color_scheme="light") as tab:
        colour = "getComputedStyle(document.body).backgroundColor"
        light = tab.evaluate(colour)
        tab.locator("label[title=Dark]:visible").click()
        tab.wait_for_function(f"{colour} !== '{light}'")
        tab.locator("input[data-md-component=search-query]").click()
        tab.keyboard.type("cuset_tau")
        found = tab.locator(".md-search-result__link").first
        found.wait_for()
        found.click()
        tab.wait_for_url(lambda url: "index.html" not in url)
        assert "cuset_tau" in tab.locator("article").inner_text()
        tab.set_viewport_size({"width": 420, "height": 900})
        tab.locator("label[for=__drawer]:visible").first.click()
        tab.locator(".md-nav--primary a:visible").first.wait_for()


class Links(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.targets: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id":
                self.ids.add(value or "")
            elif name in ("href", "src") and value:
                self.targets.add(value)


def test_every_link_within_the_site_leads_somewhere(site):
    pages = {path: Links(path.read_text(encoding="utf-8")) for path in site.glob("*.html") if path.stem != "404"}
    dead = []
    for path, links in pages.items():
        for target in links.targets:
            url = urlsplit(target)
            if url.scheme or url.netloc:
                continue
            there = (site / unquote(url.path)).resolve() if url.path else path
            there = there / "index.html" if there.is_dir() else there
            if not there.exists() or (
                url.fragment and there in pages and unquote(url.fragment) not in pages[there].ids
            ):
                dead.append(f"{path.name}: {target}")
    assert pages and dead == []
