"""The documentation as a site, in headless Chromium: each page is readable, search and colours work. Its links: mkdocs.yml."""

import functools
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

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
