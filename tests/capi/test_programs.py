"""Programs in C, C++, Rust and Go, compiled against the library and run."""

import os
import runpy
import shutil
import subprocess
import sys

import pytest

import tideflow as tf
from tests.capi.conftest import PROGRAMS, ROOT
from tests.docs.pages import blocks

EXAMPLES = ROOT / "examples" / "capi"
LINE = "line: y = 3.00 x + 2.00\nmodel: 2.5 3 3.5\n"  # what each of them prints


def test_the_tour_sees_what_it_sees_in_tensorflow(compiled, output_of):
    """What TensorFlow 1.15.5's own library says is in tour.txt (`tests/oracle/test_c_api.py` looks again)."""
    assert output_of(compiled(PROGRAMS / "tour.c")) == (PROGRAMS / "tour.txt").read_text()


def test_mistakes_are_told_as_in_tensorflow(compiled, output_of):
    """What TensorFlow 1.15.5's own library says is in refused.txt."""
    assert output_of(compiled(PROGRAMS / "refused.c")) == (PROGRAMS / "refused.txt").read_text()


def test_memory_types_errors_loops_libraries_servers_and_threads(compiled, output_of):
    assert output_of(compiled(PROGRAMS / "own.c"), ROOT / "examples" / "add_an_op.py") == "done\n"


def test_operations_that_run_at_once(compiled, output_of, tmp_path):
    """What TensorFlow 1.15.5's own library says is in eager.txt, but for the line of a call."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("w", initializer=[[1.5, 2.5]])
        tf.get_variable("n", initializer=3)
        session.run(tf.global_variables_initializer())
        prefix = tf.train.Saver().save(session, str(tmp_path / "model"))
    told = output_of(compiled(PROGRAMS / "eager.c"), prefix, "tideflow").splitlines(keepends=True)
    assert told.pop(9) == "call: type 1, 2 dims, 4 elements: 1 4 9 16\n"
    assert "".join(told) == (PROGRAMS / "eager.txt").read_text()


def test_executors_threads_cancellation_and_facts(compiled, output_of):
    assert output_of(compiled(PROGRAMS / "executors.c")) == "done\n"


def test_forks_while_threads_run_steps(compiled, output_of):
    told = output_of(compiled(PROGRAMS / "forked.c")).splitlines()
    assert told == [*(f"child {i}: well" for i in range(5)), "parent: 0 36"]


def test_the_page_shows_a_program_and_what_it_prints(compiled, output_of, tmp_path):
    program, printed = (block for block in blocks("c_api.md") if block.language in ("c", "text"))
    source = tmp_path / "square.c"
    source.write_text(program.text)
    assert output_of(compiled(source)) == printed.text


@pytest.fixture(scope="module")
def saved_model(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("models") / "half_plus_two")
    given, sys.argv = sys.argv, ["save_model.py", folder]
    try:
        with tf.Graph().as_default():
            runpy.run_path(str(EXAMPLES / "save_model.py"))
    finally:
        sys.argv = given
    return folder


@pytest.mark.parametrize("compiler", ["gcc", "g++"])
def test_the_examples_train_a_line_and_serve_a_model(compiler, compiled, output_of, saved_model):
    source = EXAMPLES / ("line.c" if compiler == "gcc" else "line.cc")
    assert output_of(compiled(source, compiler), saved_model) == LINE


@pytest.mark.parametrize("compiler", ["rustc", "go"])
def test_the_examples_of_other_languages(compiler, library, output_of, saved_model, tmp_path):
    if shutil.which(compiler) is None:
        pytest.skip(f"needs {compiler}")
    program, environment = tmp_path / "line", {**os.environ}
    if compiler == "rustc":
        linked = ["-L", f"{library}/lib", "-C", f"link-arg=-Wl,-rpath,{library}/lib"]
        command = ["rustc", "-D", "warnings", EXAMPLES / "line.rs", *linked, "-o", program]
    else:
        environment |= {"PKG_CONFIG_PATH": f"{library}/lib/pkgconfig", "GOCACHE": str(tmp_path / "cache")}
        command = ["go", "build", "-o", program, EXAMPLES / "line.go"]
    subprocess.run(command, check=True, env=environment, cwd=tmp_path)
    assert output_of(program, saved_model) == LINE


def test_values_need_no_python_and_leave_no_memory(compiled, tmp_path):
    """What is not Python's can be looked at by valgrind: statuses, buffers, tensors, options."""
    if shutil.which("valgrind") is None:
        pytest.skip("needs valgrind")
    program = compiled(PROGRAMS / "values.c")
    given = ["valgrind", "--quiet", "--leak-check=full", "--error-exitcode=3", program]
    done = subprocess.run(given, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
