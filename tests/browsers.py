"""A real browser for tests of pages; they are skipped where there is none."""

import contextlib
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

BROWSER, DRIVER = (shutil.which(name) for name in ("chromium", "chromedriver"))
_FLAGS = "headless=new no-sandbox disable-dev-shm-usage disable-background-networking".split()


@contextlib.contextmanager
def chromium(window: str = "1300,1000", flags: tuple[str, ...] = ()) -> Iterator[Any]:
    """A driver of Chromium without a screen, which keeps what pages log."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium")
    if not (BROWSER and DRIVER):
        pytest.skip("needs chromium and chromedriver")
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in (*_FLAGS, *flags, f"window-size={window}"):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    try:
        yield driver
    finally:
        driver.quit()


def wait_for_text(browser: Any, *words: str) -> None:
    """Waits until a page shows all these words."""
    from selenium.webdriver.support.wait import WebDriverWait

    def is_there(_: Any) -> bool:
        text = browser.execute_script("return document.body.innerText")
        return all(word in text for word in words)

    WebDriverWait(browser, 30, 0.05).until(is_there, words)
