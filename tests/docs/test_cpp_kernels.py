"""docs/cpp_kernels.md, block by block."""

import shutil

import pytest

import tideflow as tf
from tests.docs.pages import Run


@pytest.mark.skipif(not shutil.which("g++"), reason="needs a C++ compiler")
def test_the_page(tmp_path):
    with tf.Graph().as_default():
        Run("cpp_kernels.md", tmp_path).run()
