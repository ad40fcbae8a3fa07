"""Sources of kernels that Tideflow compiles, compiled for TensorFlow 1.15: the same answers."""

import json
import subprocess

import pytest
from runner import ENVIRONMENTS, ORACLE

from tests.platform.cpp.compiling import SOURCES, compiled

_FLAGS = """
import json, tensorflow as tf
farmhash = "-I" + tf.sysconfig.get_include() + "/external/farmhash_archive/src"
print(json.dumps(tf.sysconfig.get_compile_flags() + tf.sysconfig.get_link_flags() + [farmhash]))
"""


@pytest.mark.skipif(ORACLE != "tf1", reason="TensorFlow 2 has other headers")
@pytest.mark.slow(reason="compiles with TensorFlow's headers")
def test_tensorflow_gives_the_answers_that_are_kept(oracle, tmp_path):
    python = str(ENVIRONMENTS / ORACLE / "bin" / "python")
    said = subprocess.run([python, "-c", _FLAGS], capture_output=True, text=True, check=True).stdout
    flags = [
        *json.loads(said.splitlines()[-1]),
        "-DNDEBUG",
    ]  # as TensorFlow's own was: they share inline functions
    names = ("zero_out", "interface", "stateful", "windows", "parts", "numeric")
    libraries = [compiled(SOURCES / f"{name}.cc", tmp_path, flags) for name in names]
    command = [python, str(SOURCES / "answers.py"), "tensorflow", *libraries]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == (SOURCES / "answers.txt").read_text()
