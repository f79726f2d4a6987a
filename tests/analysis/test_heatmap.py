"""The page as HTML: well-formed, self-contained, and with every token's text in it."""

import json
import re
from collections import Counter
from html.parser import HTMLParser

from cuset_stage.analysis.confidence import Sample
from cuset_stage.analysis.heatmap import numbers, render, visible


class Reader(HTMLParser):
    """Checks that elements close in order, and collects the tokens of each panel."""

    VOID = ("!doctype", "meta", "rect", "polyline")

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.panels: list[list[str]] = []
        self.tags: Counter[str] = Counter()
        self.in_panel = False
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags[tag] += 1
        if tag == "pre" and "aria-label" in dict(attributes):
            self.panels.append([])
            self.in_panel = True
        if tag == "i" and self.in_panel:
            self.panels[-1].append("")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag
            self.in_panel &= tag != "pre"

    def handle_data(self, data):
        if self.in_panel and self.panels[-1]:
            self.panels[-1][-1] += data


def test_tokens_are_all_there_and_escaped(page):
    page[0][0].texts[4] = "{{data}}{{body}}"
    html = render(*page)
    reader = Reader(html)
    (sample,) = page[0]
    assert "A &lt;title&gt;, before and after training</title>" in html
    # \r and NUL would not survive a parser, so they are shown as pictures; "\r\n" is one line end.
    shown = [t.replace("\r\n", "\n").replace("\0", "␀") for t in sample.texts[sample.first :]]
    assert reader.panels == [shown, shown]
    # In each of two panels the first turn's window; the second turn is shorter than one.
    assert reader.tags["mark"] == 2
    assert not reader.tags.keys() & {"script", "link", "img", "a"} and not re.search(r"https?:|@import|url\(", html)
    assert 'title="c 0.15, window 0.15, M 2"' in html


def test_one_reading_is_one_panel(page):
    (sample,), settings = page
    single = Sample("s", sample.texts, sample.supervised, sample.cuda, {"model": sample.readings["after"]})
    assert len(Reader(render([single], settings)).panels) == 1


def test_json_has_every_number(page):
    (sample,) = json.loads(json.dumps(numbers(*page)))["samples"]
    assert sample["summary"]["after"]["tokens"] == 9
    assert sample["readings"]["after"]["regions"][0]["start"] == 3


def test_visible():
    assert visible("<a\n\t'") == '&lt;a<b class="nl"></b>\n<b class="tab"></b>\t&#x27;'
