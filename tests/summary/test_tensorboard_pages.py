"""TensorBoard's real pages in a real browser: what a person sees of our files."""

import contextlib

import pytest

pytest.importorskip("selenium", reason="needs selenium")
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.support.wait import WebDriverWait

from tests.browsers import chromium

# Every element of the page, those inside of other elements' own trees too.
_ALL = """
    const all = [];
    const walk = root => { for (const each of root.querySelectorAll('*')) {
        all.push(each);
        if (each.shadowRoot) walk(each.shadowRoot);
    } };
    walk(document);
    const shown = each => each.getClientRects().length > 0;
    const own = each => [...each.childNodes].filter(node => node.nodeType == 3);
    const text = each => own(each).map(node => node.textContent.trim()).join(' ');
"""


@pytest.fixture(scope="module")
def page(board):
    with chromium("1500,1000", ("use-angle=swiftshader", "enable-unsafe-swiftshader")) as browser:
        browser.get(board)
        yield Page(browser)


def _node(name):
    return f"all.find(e => e.tagName == 'g' && e.getAttribute('data-name') == {name!r})"


class Page:
    def __init__(self, browser):
        self.browser = browser

    def open(self, name):
        self.browser.execute_script(f"location.hash = '{name}'")

    def js(self, code):
        return self.browser.execute_script(_ALL + code)

    def until(self, code, seconds=60):
        """Waits until the expression holds for the page, and returns what it is."""
        return WebDriverWait(self.browser, seconds, 0.1).until(lambda _: self.js(f"return {code}"), code)

    def sees(self, *words):
        for word in words:
            self.until(f"all.some(each => shown(each) && text(each).includes({word!r}))")

    def click(self, condition):
        self.until(f"all.some(each => {condition})")
        self.js(f"all.find(each => {condition}).click()")

    def mouse(self, node, kind, result):
        """Does something to a node of the graph until it has the result: one that is just being drawn again
        does not hear it.
        """
        shape = f"{_node(node)}?.querySelector('.nodeshape *')"
        act = f"{shape}.dispatchEvent(new MouseEvent({kind!r}, {{bubbles: true, view: window}}))"
        for _ in range(10):
            self.until(shape)
            self.js(act)
            with contextlib.suppress(TimeoutException):
                return self.until(result, seconds=3)
        raise AssertionError(f"{kind} of '{node}' did not give {result}")

    def errors(self):
        return [entry for entry in self.browser.get_log("browser") if entry["level"] == "SEVERE"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("scalars", ["training", "loss", "rate_0.01"]),
        ("histograms", ["convolution/weights"]),
        ("distributions", ["convolution/made"]),
        ("images", ["input/seen/image/0"]),
        ("audio", ["once/chord/audio/0"]),
        ("text", ["A tour", "stripes"]),
        ("pr_curves", ["first kind"]),
        ("custom_scalars", ["learning"]),
        ("hparams", ["rate", "training/accuracy"]),
    ],
)
def test_a_page_shows_what_was_written(page, name, words):
    page.open(name)
    page.sees(*words)
    assert not page.errors()


def test_images_are_drawn(page):
    page.open("images")
    page.until("all.some(each => each.tagName == 'IMG' && each.naturalWidth == 16)")


def test_curves_are_drawn(page):
    page.open("scalars")
    page.until("all.some(each => each.tagName == 'path' && shown(each) && each.getTotalLength() > 50)")


def test_the_graph_has_scopes_and_what_a_step_costs(page):
    page.open("graphs")
    for scope in ("input", "convolution", "classes", "training"):
        page.until(_node(scope))
    page.click("each.tagName == 'PAPER-ITEM' && each.textContent.trim() == 'step 60'")
    profile = "each.tagName == 'PAPER-RADIO-BUTTON' && each.textContent.includes('Profile') && !each.disabled"
    page.click(profile)
    page.click("each.id == 'compute-time-radio-button' && !each.disabled")
    page.mouse("convolution", "dblclick", _node("convolution/Conv2D"))
    page.mouse("convolution/Conv2D", "click", "all.some(each => shown(each) && text(each) == '64 KB')")
    page.sees("Compute Time", "[32, 8, 8, 8]")
    assert not page.errors()


def test_the_projector_draws_the_embedding(page, board):
    page.browser.get(f"{board}/#projector")
    for _ in range(2):  # the plugin's frame, and its own page in that
        page.browser.switch_to.frame(page.until("all.find(each => each.tagName == 'IFRAME')"))
    page.until("all.some(each => shown(each) && each.value == 'shown_features')")
    page.until("all.some(each => shown(each) && /Points:\\s*60/.test(each.textContent))")
    assert not page.errors()
