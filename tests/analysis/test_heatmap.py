"""The page as HTML: well-formed, self-contained, and with every token's text in it."""

import json
import re
from html.parser import HTMLParser

from cuset_stage.analysis.confidence import Sample
from cuset_stage.analysis.heatmap import numbers, render, runs, visible


VOID = {"!doctype", "meta", "input", "br", "line", "rect", "polyline"}


class Reader(HTMLParser):
    """Checks that elements close in order, and collects the tokens of each panel and the script elements."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.panels: list[list[str]] = []
        self.marks = 0
        self.scripts: list[str] = []
        self.links: list[str] = []
        self.in_panel = False

    def handle_starttag(self, tag, attributes):
        names = dict(attributes)
        self.links += [value for name, value in attributes if name in ("src", "href")]
        self.marks += tag == "mark"
        if tag == "pre" and "data-s" in names:
            self.panels.append([])
            self.in_panel = True
        if tag == "i" and self.in_panel:
            self.panels[-1].append("")
        if tag == "script":
            self.scripts.append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        assert self.open.pop() == tag
        if tag == "pre":
            self.in_panel = False

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        elif self.in_panel and self.panels[-1]:
            self.panels[-1][-1] += data


def parse(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader


def test_tokens_are_all_there_and_escaped(page):
    reader = parse(render(*page))
    (sample,) = page[0]
    assert "A &lt;title&gt;, before and after training</title>" in render(*page)
    # \r and NUL would not survive a parser, so they are shown as pictures; "\r\n" is one line end.
    shown = [t.replace("\r\n", "\n").replace("\0", "␀") for t in sample.texts[sample.first :]]
    assert reader.panels == [shown, shown]
    assert reader.marks == 2  # in each of two panels the first turn's window; the second turn is shorter than one


def test_page_is_self_contained(page):
    html = render(*page)
    reader = parse(html)
    assert reader.links == []
    assert not re.search(r"https?:|@import|url\(", html)
    assert len(reader.scripts) == 2


def test_numbers_of_the_script_parse_and_cannot_end_it(page):
    (read,) = json.loads(parse(render(*page)).scripts[0])
    assert read["names"] == ["before", "after"]
    assert len(read["c"][1]) == len(page[0][0].texts) - 2


def test_a_placeholder_in_a_sample_is_text(page):
    page[0][0].texts[4] = "{{data}}{{body}}"
    assert "{{data}}{{body}}" in parse(render(*page)).panels[0]


def test_one_reading_is_one_panel(page):
    (sample,), settings = page
    single = Sample("s", sample.texts, sample.supervised, sample.cuda, {"model": sample.readings["after"]})
    assert len(parse(render([single], settings)).panels) == 1


def test_json_has_every_number(page):
    (sample,) = json.loads(json.dumps(numbers(*page)))["samples"]
    assert sample["summary"]["after"]["tokens"] == 9
    assert sample["readings"]["after"]["regions"][0]["start"] == 3


def test_visible():
    assert visible("<a\n\t'") == '&lt;a<b class="nl"></b>\n<b class="tab"></b>\t&#x27;'


def test_the_chart_keeps_turns_apart_and_marks_each_minimum(page):
    (sample,), settings = page
    assert runs(sample.cuda) == [(2, 4), (6, 7)] and runs([]) == []
    html = render([sample], settings)
    assert html.count("<polyline") == 4 and html.count('class="dot ') == 4  # two turns in each of two readings
