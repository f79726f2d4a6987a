"""The pages that commands write, in headless Chromium: they look right, and what can be pressed works."""

from page_checks import faults, opened
from playwright.sync_api import expect

from cuset_stage.stage.artifacts import CUDA_COLOR


CUDA = "rgb({}, {}, {})".format(*bytes.fromhex(CUDA_COLOR.removeprefix("#")))  # on every page, where it is light


def style(tab, element, name):
    return tab.locator(element).first.evaluate(f"element => getComputedStyle(element).{name}")


def test_the_heat_map_is_readable(browser, heat_map):
    with opened(browser, heat_map) as tab:
        assert style(tab, ".key-cuda", "borderBottomColor") == CUDA
        # Every shade of the scale, with and without CUDA's line, whatever this model is sure of.
        tab.evaluate("""() => document.querySelectorAll(".panel pre i").forEach((token, k) => {
            if (k < 40) token.className = `c${k % 10}${k % 3 ? " g" : " out"}`; })""")
        # A macro's line: words and spaces that are wider than the page.
        tab.evaluate("""() => document.querySelectorAll(".panel pre i:first-child").forEach(token => {
            token.textContent = "x".repeat(300) + " ".repeat(300) + "\\\\"; })""")
        tab.evaluate("document.querySelector('h2').textContent += 'x'.repeat(90)")  # of a question that begins so
        assert faults(tab) == []


def test_the_heat_map_says_what_trained_and_marks_what_did_not(browser, heat_map):
    with opened(browser, heat_map) as tab:
        said = tab.locator("header").inner_text()
        assert "τ = 0.2, λ = 1.5, CUDA: kernel_body; windows of 64 tokens" in said
        assert "The model trained with these values." in said
        assert "<|" not in tab.locator("h2").inner_text()
        tokens = tab.locator(".panel pre i").evaluate_all(
            "all => all.map(one => [one.title, getComputedStyle(one).textDecorationLine === 'line-through'])"
        )
        weights = [float(title.rpartition("M ")[2]) for title, _ in tokens]
        assert [struck for _, struck in tokens] == [weight == 0 for weight in weights]
        assert set(weights) >= {0, 1, 1.5}  # left out, confident, CUDA


def test_the_label_page_is_readable(browser, label_page):
    with opened(browser, label_page) as tab:
        assert faults(tab) == []
        assert {"kernel_body", "thread_indexing"} <= set(
            tab.locator("pre mark").evaluate_all("all => all.map(m => m.className)")
        )


def test_the_page_of_confidence_is_readable(browser, analyze_page):
    with opened(browser, analyze_page) as tab:
        assert faults(tab) == []
        assert tab.locator("section#section3 tr", has_text="surer <b>").count() > 3
        widths = tab.locator("img").evaluate_all("all => all.map(picture => picture.naturalWidth)")
        assert len(widths) == 1 and widths[0] > 600


def test_the_report_is_readable_and_its_tables_are_whole(browser, report_page):
    with opened(browser, report_page) as tab:
        cut = tab.locator(".scroll").evaluate_all(
            "all => all.filter(one => one.scrollWidth > one.clientWidth).map(one => one.ariaLabel)"
        )
        assert cut == []
        for verdict in ("compile_error", "no_code"):
            tab.locator(f".sample[data-verdict^={verdict}] summary").first.click()
        expect(tab.locator(".detail > dl")).to_have_count(2)
        assert faults(tab) == []


def test_the_filters_of_the_report(browser, report_page):
    with opened(browser, report_page) as tab:
        shown, count = tab.locator(".sample:not([hidden])"), tab.locator("#count")
        failing = shown.count()
        assert 0 < failing < 360 and count.inner_text().startswith(f"{failing} of 360 samples")
        tab.locator("select[name=run]").select_option("CuSeT")
        assert 0 < shown.count() < failing
        tab.locator("select[name=verdict]").select_option("")
        assert shown.count() == 60
        tab.locator("input[name=q]").fill("kernel 19")
        assert set(shown.evaluate_all("all => all.map(row => row.dataset.task)")) == {"19"}
        tab.get_by_role("button", name="Clear").click()
        expect(count).to_contain_text("360 of 360 samples")
        tab.locator("input[name=q]").fill("no such thing")
        assert count.inner_text() == "No sample matches these filters."


def test_the_links_of_the_report(browser, report_page):
    with opened(browser, f"{report_page}#run=CuSeT&task=3&sample=1") as tab:
        detail = tab.locator(".sample[open] .detail")
        assert "__global__ void k(float* x)" in detail.locator("pre.code").inner_text()
        assert "zeros pass" in detail.locator(".mark").first.inner_text()
        detail.get_by_role("link", name="All samples of this task").click()
        shown = tab.locator(".sample:not([hidden])")
        expect(tab.locator("#count")).to_contain_text("18 of 360 samples")
        assert set(shown.evaluate_all("all => all.map(row => row.dataset.task)")) == {"3"}
        cell = tab.locator("table.verdicts td.number a").first
        number = int(cell.inner_text())
        cell.click()
        expect(tab.locator("#count")).to_contain_text(f"{number} of 360 samples")
        targets = tab.locator("nav a").evaluate_all(
            "all => all.filter(a => !document.querySelector(a.hash)).map(a => a.hash)"
        )
        assert targets == []
