"""The page as HTML: well-formed, self-contained, and with every token's text in it."""

import json
import re
from xml.etree import ElementTree

from cuset_stage.analysis.confidence import Sample
from cuset_stage.analysis.heatmap import numbers, render, visible


def parsed(html: str) -> ElementTree.Element:
    """The page as XML, which it is but for these two elements; refused where an element does not close in order."""
    return ElementTree.fromstring(re.sub("<!doctype html>|<meta [^>]*>", "", html))


def panels(root: ElementTree.Element) -> list[list[str]]:
    """The tokens of each panel."""
    shown = [element for element in root.iter("pre") if "aria-label" in element.attrib]
    return [["".join(token.itertext()) for token in element.iter("i")] for element in shown]


def test_tokens_are_all_there_and_escaped(page):
    page[0][0].texts[4] = "{{data}}{{body}}"
    html = render(*page)
    root = parsed(html)
    (sample,) = page[0]
    assert "A &lt;title&gt;, before and after training</title>" in html
    # \r and NUL would not survive a parser, so they are shown as pictures; "\r\n" is one line end.
    shown = [t.replace("\r\n", "\n").replace("\0", "␀") for t in sample.texts[sample.first :]]
    assert panels(root) == [shown, shown]
    # In each of two panels the first turn's window; the second turn is shorter than one.
    assert len(list(root.iter("mark"))) == 2
    tags = {element.tag for element in root.iter()}
    assert not tags & {"script", "link", "img", "a"} and not re.search(r"https?:|@import|url\(", html)
    assert 'title="c 0.15, window 0.15, M 2"' in html


def test_one_reading_is_one_panel(page):
    (sample,), settings = page
    single = Sample("s", sample.texts, sample.supervised, sample.cuda, {"model": sample.readings["after"]})
    assert len(panels(parsed(render([single], settings)))) == 1


def test_json_has_every_number(page):
    (sample,) = json.loads(json.dumps(numbers(*page)))["samples"]
    assert sample["summary"]["after"]["tokens"] == 9
    assert sample["readings"]["after"]["regions"][0]["start"] == 3


def test_visible():
    assert visible("<a\n\t'") == '&lt;a<b class="nl"></b>\n<b class="tab"></b>\t&#x27;'
