"""Every tutorial is a program, and does what its page shows."""

import pytest

import tideflow as tf
from tests.docs.pages import DOCS, Run

TUTORIALS = sorted(page.stem for page in (DOCS / "tutorials").glob("*.md") if page.stem != "index")


@pytest.mark.parametrize("page", TUTORIALS)
def test_the_page_does_what_it_shows(page, tmp_path):
    with tf.Graph().as_default():
        Run(f"tutorials/{page}.md", tmp_path).run()
