#!/usr/bin/env python
"""Draw a cut of a page as a picture, in headless Chromium: docs/assets/heatmap.png, which README.md shows.

    bash scripts/demo.sh
    python scripts/screenshot.py outputs/demo/confidence.html docs/assets/heatmap.png --at .panels

Needs playwright (the dev extra) and Chromium (Debian: apt-get install chromium).
"""

import argparse
import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright


def main() -> None:
    """Write the picture; end with a sentence where something is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path, help="an HTML file")
    parser.add_argument("picture", type=Path, help="the PNG file to write")
    parser.add_argument("--at", default="body", help="the first element that this CSS selector names is the top")
    parser.add_argument("--width", type=int, default=1400, help="of the window, in pixels (1400)")
    parser.add_argument("--height", type=int, default=900, help="of the picture, in pixels (900)")
    parser.add_argument("--dark", action="store_true", help="the page's dark colours")
    options = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("no Chromium here: apt-get install chromium")
    if not options.page.is_file():
        sys.exit(f"{options.page}: no such file; bash scripts/demo.sh makes outputs/demo/confidence.html")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        size = {"width": options.width, "height": options.height}
        tab = browser.new_page(viewport=size, color_scheme="dark" if options.dark else "light")
        tab.goto(options.page.absolute().as_uri())
        tab.locator(options.at).first.evaluate("""element => {
            const legend = document.querySelector(".legend");  // stays at the top
            scrollTo(0, element.getBoundingClientRect().top - (legend ? legend.offsetHeight : 0));
        }""")
        tab.screenshot(path=options.picture)
        browser.close()


if __name__ == "__main__":
    main()
