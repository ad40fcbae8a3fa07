"""The documentation site: a part of it is built by MkDocs, and looked at in a real browser."""

import http.server
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest
import yaml

from tests.browsers import chromium

pytest.importorskip("mkdocs", reason="needs the packages of `pip install -e .[docs]`")
ROOT = Path(__file__).parents[2]
SECONDS = 60  # for the page to show something, on a busy machine


class Loader(yaml.SafeLoader):
    """Reads mkdocs.yml, in which `!ENV [NAME, default]` is what the environment says."""


Loader.add_constructor("!ENV", lambda loader, node: loader.construct_sequence(node)[-1])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of a site with all guides, and the reference of a few namespaces."""
    folder = tmp_path_factory.mktemp("site")
    settings = yaml.load((ROOT / "mkdocs.yml").read_text(), Loader)
    settings["extra"]["reference"] = ["bitwise", "sets"]
    settings["docs_dir"], settings["site_dir"] = str(ROOT / "docs"), str(folder / "site")
    settings["hooks"] = [str(ROOT / "docs_site" / "hook.py")]
    (folder / "mkdocs.yml").write_text(yaml.safe_dump(settings))
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--config-file",
        str(folder / "mkdocs.yml"),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "site"


def test_every_page_is_there(site):
    pages = ["", "tutorials/saving", "cluster", "design", "design/from_nothing", "reference"]
    pages += ["reference/tf.bitwise", "reference/tf.bitwise.bitwise_and", "source/tideflow.ops.math.bits"]
    missing = [page for page in pages if not (site / page / "index.html").exists()]
    assert not missing


def test_a_symbol_links_to_its_line(site):
    page = (site / "reference/tf.sets.union/index.html").read_text()
    place = page.partition('href="../../source/')[2].partition('"')[0]
    source, _, anchor = place.partition("#")
    assert f'id="{anchor}"' in (site / "source" / source / "index.html").read_text()


def test_nothing_is_asked_of_other_hosts(site):
    page = (site / "reference/tf.bitwise.bitwise_and/index.html").read_text()
    assert 'src="http' not in page and 'rel="stylesheet" href="http' not in page


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Says nothing of requests."""


@pytest.fixture
def browser(site):
    """A browser, and the address of the site."""
    handler = partial(Quiet, directory=str(site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with chromium() as driver:
            yield driver, f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()


def test_search_finds_a_symbol(browser):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.wait import WebDriverWait

    driver, address = browser
    driver.get(address)
    wait = WebDriverWait(driver, SECONDS, 0.1)
    field = driver.find_element(By.CSS_SELECTOR, "input.md-search__input")
    driver.execute_script("arguments[0].focus()", field)
    field.send_keys("bitwise_and")
    found = wait.until(lambda d: d.find_elements(By.CSS_SELECTOR, ".md-search-result__item a"))
    assert "tf.bitwise.bitwise_and" in found[0].text
    driver.get(found[0].get_attribute("href"))
    assert driver.find_element(By.TAG_NAME, "h1").text.startswith("tf.bitwise.bitwise_and")
    assert not [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
