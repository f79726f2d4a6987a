"""The page as HTML: well-formed, self-contained, and with every token's text in it."""

import json
import re
from html.parser import HTMLParser

from cuset_stage.analysis.heatmap import cuda_runs, curves, first_response_token, render, visible
from cuset_stage.analysis.page_data import Page, Reading, Sample, as_json


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
    reader = parse(render(page))
    (sample,) = page.samples
    assert "<title>A &lt;title&gt;</title>" in render(page)
    # \r and NUL would not survive a parser, so they are shown as pictures; "\r\n" is one line end.
    shown = [t.replace("\r\n", "\n").replace("\0", "␀") for t in sample.texts[first_response_token(sample) :]]
    assert reader.panels == [shown, shown]
    assert reader.marks == 4  # two windows in each of two panels


def test_page_is_self_contained(page):
    html = render(page)
    reader = parse(html)
    assert reader.links == []
    assert not re.search(r"https?:|@import|url\(", html)
    assert len(reader.scripts) == 2


def test_numbers_of_the_script_parse_and_cannot_end_it(page):
    numbers = json.loads(parse(render(page)).scripts[0])
    assert numbers[0]["first"] == 2 and numbers[0]["names"] == ["before", "after"]
    assert len(numbers[0]["c"][1]) == len(page.samples[0].texts) - 2


def test_a_placeholder_in_a_sample_is_text(page):
    page.samples[0].texts[4] = "{{data}}{{body}}"
    assert "{{data}}{{body}}" in parse(render(page)).panels[0]


def test_one_reading_has_no_switch(page):
    sample = page.samples[0]
    single = Sample("s", sample.texts, sample.supervised, sample.cuda, {"model": sample.readings["after"]})
    html = render(Page("t", [single], page.settings))
    parse(html)
    assert 'type="radio"' not in html and 'type="radio"' in render(page)


def test_json_has_every_number(page):
    numbers = json.loads(json.dumps(as_json(page)))
    assert numbers["samples"][0]["summary"]["after"]["tokens"] == 9
    assert numbers["samples"][0]["readings"]["after"]["regions"][0]["start"] == 3


def test_visible():
    assert visible("<a\n\t'") == '&lt;a<b class="nl"></b>\n<b class="tab"></b>\t&#x27;'


def test_curves_keep_turns_apart_and_pass_the_minimum(page):
    assert cuda_runs(page.samples[0]) == [(2, 4), (6, 7)]
    values: list[float | None] = [0.5] * 3000 + [None] + [0.7] * 10
    values[1234] = 0.125
    first, second = curves(Reading(values, values, []), 0)
    assert len(first) <= 400 and min(first, key=lambda point: point[1]) == (1234.5, 0.125)
    assert len(second) == 10
