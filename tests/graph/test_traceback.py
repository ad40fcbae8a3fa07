"""Which frames are the user's."""

import os
import subprocess
import sys

import tideflow as tf
from tideflow.graph.traceback import user_frames

PROMPT = os.path.join("site-packages", "IPython", "core", "interactiveshell.py")


def make(file: str, source: str, **names) -> dict:
    exec(compile(source, file, "exec"), names)
    return names


def test_what_imports_a_module_is_not_the_users(tmp_path, monkeypatch):
    (tmp_path / "imported_by_a_test.py").write_text(
        "from tideflow.graph.traceback import user_frames as f\na = f()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import imported_by_a_test

    files = [code.co_filename for code, _ in imported_by_a_test.a]
    assert files[0] == str(tmp_path / "imported_by_a_test.py")
    assert not [file for file in files if file.startswith("<frozen ")]


def test_frames_end_where_a_prompt_calls_the_cell():
    cell = compile("frames = user_frames(); x = tf.constant(1.0)", "<ipython-input-1>", "exec")
    prompt = make(PROMPT, "def run_code(code, space):\n    exec(code, space)\n")
    with tf.Graph().as_default():
        space = {"user_frames": user_frames, "tf": tf}
        prompt["run_code"](cell, space)
    assert [code.co_filename for code, _ in space["frames"]] == ["<ipython-input-1>"]
    assert [file for file, *_ in space["x"].op.traceback] == ["<ipython-input-1>"]


def test_frames_end_where_a_program_is_run(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import tensorflow as tf\nprint([file for file, *_ in tf.constant(1.0).op.traceback])\n"
    )
    command = (
        f"from tideflow.cli import main; main(['run', {str(program)!r}])"  # as the command's file has it
    )
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, timeout=240)
    assert (done.stdout, done.returncode) == (f"{[str(program)]}\n", 0), done.stderr
