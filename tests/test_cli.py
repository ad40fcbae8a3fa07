"""The `tideflow` command, in processes of its own: programs run as `python` would run them."""

import gzip
import json
import os
import shlex
import signal
import struct
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import tideflow as tf
from tests import starter
from tideflow import __version__, cli
from tideflow.cli import main
from tideflow.io.records import TFRecordWriter

SCRIPTS = Path(__file__).parent / "programs" / "scripts"


def tideflow(*arguments, **options) -> subprocess.CompletedProcess:
    return starter.run(["-m", "tideflow", *arguments], **options)


def write_digits(folder: Path, compressed: bool) -> None:
    """MNIST files of digits that a linear classifier can tell: each has its own bright rows."""
    rng = np.random.RandomState(0)
    for name, count in (("train", 350), ("t10k", 100)):
        labels = rng.randint(0, 10, count).astype(np.uint8)
        images = rng.randint(0, 60, (count, 28, 28)).astype(np.uint8)
        for image, label in zip(images, labels):
            image[2 * label : 2 * label + 3] += 150
        contents = {
            "images-idx3": struct.pack(">4I", 2051, count, 28, 28) + images.tobytes(),
            "labels-idx1": struct.pack(">2I", 2049, count) + labels.tobytes(),
        }
        for kind, content in contents.items():
            path = folder / f"{name}-{kind}-ubyte{'.gz' if compressed else ''}"
            path.write_bytes(gzip.compress(content) if compressed else content)


@pytest.mark.parametrize("compressed", [True, False])
def test_the_classifier_of_digits(tmp_path, compressed):
    write_digits(tmp_path, compressed)
    done = tideflow("run", SCRIPTS / "mnist_softmax.py", "--data_dir", tmp_path, "--steps=60")
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split("accuracy")[1]) > 0.95


def test_digits_that_are_not_there_are_asked_for_by_name(tmp_path):
    done = tideflow("run", SCRIPTS / "mnist_softmax.py", "--data_dir", tmp_path)
    assert done.returncode == 1
    assert f"{tmp_path}/train-images-idx3-ubyte is not there" in done.stderr
    assert "t10k-labels-idx1-ubyte" in done.stderr


def test_a_network_in_slim():
    done = tideflow("run", SCRIPTS / "slim_convnet.py", "--max_steps=40")
    assert done.returncode == 0, done.stderr
    assert "Total size of variables: 1426" in done.stdout and "global step 40" in done.stdout
    assert "INFO:tensorflow:step 20: loss = " in done.stderr
    assert float(done.stdout.split("accuracy")[1]) > 0.9


def test_a_program_for_compat_v1():
    done = tideflow("run", SCRIPTS / "autoencoder.py")
    assert (done.returncode, done.stdout) == (0, "variables 28\nimproved\n"), done.stderr


def test_a_unit_test_of_tensorflows_inner_modules():
    done = tideflow("run", SCRIPTS / "inner_modules.py")
    assert done.returncode == 0, done.stderr
    assert "OK (skipped=8)" in done.stderr


def test_argv_main_file_and_path_are_as_python_gives_them(tmp_path):
    (tmp_path / "helper.py").write_text("where = __file__\n")
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, helper\n"
        "print([sys.argv, __name__, __file__, sys.path[0], helper.where, __spec__, __package__, __doc__])\n"
        "print(sys.modules['__main__'].__file__ == __file__)\n"
        "sys.exit(5)\n"
    )
    ours = tideflow("run", "program.py", "-x", "--flag=1", "run", cwd=tmp_path)
    pythons = subprocess.run(
        [sys.executable, "program.py", "-x", "--flag=1", "run"], capture_output=True, text=True, cwd=tmp_path
    )
    assert (ours.stdout, ours.returncode) == (pythons.stdout, 5)


def test_an_error_shows_the_program_and_its_line(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import tensorflow as tf\n\n\ndef build(x):\n    return tf.nn.rellu(x)\n\n\nbuild(1.0)\n"
    )
    done = tideflow("run", program)
    assert done.returncode == 1
    assert "run.py" not in done.stderr and done.stderr.startswith("Traceback")
    assert f"module 'tensorflow.nn' has no attribute 'rellu', asked for at {program}:5" in done.stderr
    assert "tf.nn.relu" in done.stderr


def test_a_module_runs_as_python_m_does(tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "train.py").write_text(
        "import sys, tensorflow as tf\nprint(__name__, __package__, sys.argv[1:], tf.VERSION)\n"
    )
    done = tideflow("run", "-m", "package.train", "a", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "__main__ package ['a'] 1.15.5\n"), done.stderr


def test_tensorflows_tools_are_run_as_modules(tmp_path):
    with tf.Graph().as_default() as graph, tf.Session() as session:
        weights = tf.get_variable("w", [2, 3], initializer=tf.ones_initializer())
        tf.identity(tf.matmul(tf.placeholder(tf.float32, [None, 2], name="x"), weights), name="y")
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, str(tmp_path / "model"))
        tf.train.write_graph(graph, str(tmp_path), "graph.pbtxt")

    def run(tool, *arguments):
        done = tideflow("run", "-m", f"tensorflow.python.tools.{tool}", *arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run(
        "freeze_graph",
        "--input_graph=graph.pbtxt",
        "--input_checkpoint=model",
        "--output_graph=frozen.pb",
        "--output_node_names=y",
    )
    ends = ["--input_names=x", "--output_names=y"]
    run("optimize_for_inference", "--input=frozen.pb", "--output=quick.pb", *ends)
    ends = ["--input_node_names=x", "--output_node_names=y"]
    said = run("strip_unused", "--input_graph=quick.pb", "--output_graph=less.pb", "--input_binary", *ends)
    assert said == "4 ops in the final graph.\n"
    assert [node.name for node in _graph_in(tmp_path / "less.pb").node] == ["w", "x", "MatMul", "y"]
    said = run("inspect_checkpoint", "--file_name=model", "--tensor_name=w", "--printoptions", "precision=2")
    assert said.startswith("tensor_name:  w\n[[1. 1. 1.]")
    run("import_pb_to_tensorboard", "--model_dir=less.pb", "--log_dir=logs")
    assert len(list((tmp_path / "logs").iterdir())) == 1
    assert run("saved_model_cli", "-v") == "0.1.0\n"


def _graph_in(path):
    return tf.GraphDef.FromString(path.read_bytes())


def test_check_tells_what_is_missing_and_says_so_in_its_status(tmp_path):
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text("import tensorflow as tf\nx = tf.placeholder(tf.float32)\n")
    bad.write_text("import tensorflow as tf\nx = tf.placehold(tf.float32)\n")
    done = tideflow("check", good)
    assert done.returncode == 0 and "All 2 TensorFlow symbols that it uses are there." in done.stdout
    done = tideflow("check", "--missing", tmp_path)
    assert (
        done.returncode == 1 and "✗ tf.placehold  line 2" in done.stdout and "tf.float32" not in done.stdout
    )


def test_help_and_mistakes():
    done = tideflow("--help")
    assert done.returncode == 0 and all(word in done.stdout for word in ("run", "check", "coverage"))
    assert tideflow("run", "/nowhere/program.py").stderr == "tideflow: there is no file /nowhere/program.py\n"
    assert tideflow("unknown").returncode == 2


def test_the_version():
    done = tideflow("--version")
    assert (done.returncode, done.stdout) == (0, f"tideflow {__version__}\n")


def modules_loaded(*arguments: str) -> set[str]:
    """What a command has imported when it ends."""
    program = (
        "import json, sys\n"
        "from tideflow.cli import main\n"
        "try:\n"
        "    main(sys.argv[1:])\n"
        "except SystemExit:\n"
        "    pass\n"
        "sys.stderr.write(json.dumps(sorted(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stderr))


def test_help_comes_at_once():
    """Nothing but the parser is loaded."""
    for command in ([], ["run"], ["check"], ["coverage"], ["keygen"], ["launch"], ["inspect"], ["simulate"]):
        assert not modules_loaded(*command, "--help") & {"torch", "numpy", "zmq", "google.protobuf", "simpy"}


def test_what_computes_nothing_does_not_load_torch(tmp_path):
    with TFRecordWriter(str(tmp_path / "records")) as file:
        file.write(b"a record")
    for command in (["inspect", str(tmp_path / "records")], ["keygen", str(tmp_path / "key")]):
        assert not modules_loaded(*command) & {"torch", "tideflow.ops", "tideflow.rooms"}


def test_check_goes_on_after_a_file_that_python_cannot_read(tmp_path):
    (tmp_path / "a_old.py").write_text("print 'Python 2'\n")
    (tmp_path / "b_new.py").write_text("import tensorflow as tf\nimport no_such_module\ntf.exp(1)\n")
    done = tideflow("check", tmp_path)
    assert done.returncode == 1 and not done.stderr
    assert "this is Python 2" in done.stdout and "tf.exp" in done.stdout
    assert "module no_such_module  line 2  not installed" in done.stdout
    assert tideflow("check", tmp_path / "b_new.py", tmp_path / "nowhere").returncode == 2


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["run"], "name the program to run: tideflow run SCRIPT, or tideflow run -m MODULE"),
        (["run", "-m"], "name the program to run: tideflow run SCRIPT, or tideflow run -m MODULE"),
        (["run", "-m", "no_such_module"], "there is no module no_such_module"),
        (
            ["run", "-m", "tensorflow.python.tools"],
            "tensorflow.python.tools is a package without a __main__ module to run",
        ),
        (["run", "-m", "no_such_module.inner"], "there is no module no_such_module.inner"),
        (["run", "-m", "json.no_such_module"], "there is no module json.no_such_module"),
        (["run", "-m", "json"], "json is a package without a __main__ module to run"),
        (["coverage", "--write"], "there is no folder docs: name the page, as in --write coverage.md"),
    ],
)
def test_a_mistake_is_answered_in_one_sentence(arguments, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    assert main(arguments) == 2
    assert capsys.readouterr() == ("", f"tideflow: {sentence}\n")


@pytest.mark.parametrize("unbuffered", ["", "1"])  # a short output in a buffer is written at the end
def test_a_reader_that_leaves_is_no_error(tmp_path, unbuffered):
    (tmp_path / "in.csv").write_text("a,b\n1,2\n")
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as gone:
        command = [sys.executable, "-m", "tideflow", "stats", str(tmp_path / "in.csv")]
        env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
        done = subprocess.run(command, stdout=gone, stderr=subprocess.PIPE, text=True, env=env)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, "")


def test_an_interrupt_is_one_sentence(tmp_path, monkeypatch, capsys):
    (tmp_path / "in.csv").write_text("a,b\n1,2\n")

    def interrupted(*given, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("tideflow.pipeline.statistics.stats_command.generate_statistics", interrupted)
    assert main(["stats", str(tmp_path / "in.csv")]) == 128 + signal.SIGINT
    assert capsys.readouterr().err == "tideflow: stats was interrupted\n"


def write_to_full_disk(*arguments, **environment):
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "tideflow", *map(str, arguments)]
        return subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux has a disk that is always full")
def test_an_output_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "program.py").write_text("import tensorflow as tf\ntf.nn.nosuch()\n")
    said = "cannot write what it found: No space left on device"
    done = write_to_full_disk("check", tmp_path)
    assert (done.returncode, done.stderr) == (2, f"tideflow: check {said}\n")
    done = write_to_full_disk("coverage", "tf.nn.relu")
    assert (done.returncode, done.stderr) == (2, f"tideflow: coverage {said}\n")


def test_an_output_without_the_letters_or_none_at_all_is_no_error(tmp_path):
    (tmp_path / "program.py").write_text("import tensorflow as tf\ntf.nn.nosuch()\n")
    command = [sys.executable, "-m", "tideflow", "check", str(tmp_path)]
    ascii = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, env=ascii, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "") and r"\u2717 tf.nn.nosuch" in done.stdout
    done = subprocess.run(["sh", "-c", f"{shlex.join(command)} >&-"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "")


def test_a_page_that_cannot_be_written_is_named(tmp_path, capsys):
    (tmp_path / "page.md").mkdir()
    assert main(["coverage", "--write", str(tmp_path / "page.md")]) == 2
    assert capsys.readouterr().err == f"tideflow: {tmp_path / 'page.md'}: Is a directory\n"


@pytest.mark.parametrize("arguments", [["check", "."], ["coverage", "tf.nn.relu"], ["inspect", "checkpoint"]])
def test_an_interrupt_of_what_is_read_is_one_sentence(arguments, monkeypatch, capsys):
    def interrupted(*given):
        raise KeyboardInterrupt

    for function in ("programs.check.check", "programs.coverage.judge", "inspect.report_of"):
        monkeypatch.setattr(f"tideflow.{function}", interrupted)
    assert main(arguments) == 130
    assert capsys.readouterr().err == f"tideflow: {arguments[0]} was interrupted\n"


def test_coverage_of_a_name(capsys):
    assert main(["coverage", "tf.nn.relu", "nn.elu"]) == 0
    assert capsys.readouterr().out == "tf.nn.relu is there\ntf.nn.elu is there\n"
    assert main(["coverage", "tf.load_file_system_library"]) == 1
    assert capsys.readouterr().out == "tf.load_file_system_library is missing\n"
    assert main(["coverage", "tf.nn.reluu"]) == 2
    assert "neither a namespace nor a symbol tf.nn.reluu" in capsys.readouterr().err


def test_an_interrupt_ends_a_command_without_a_traceback(monkeypatch):
    """While the command's modules are imported, the signal ends the process itself."""
    handlers = []

    def interrupted(arguments):
        handlers.append(signal.getsignal(signal.SIGINT))
        raise KeyboardInterrupt

    def imported(name):
        handlers.append(signal.getsignal(signal.SIGINT))
        return SimpleNamespace(main=interrupted)

    monkeypatch.setattr(cli.importlib, "import_module", imported)
    usual = signal.getsignal(signal.SIGINT)
    assert cli.main(["serve", "DIR"]) == cli.INTERRUPTED == 130
    assert handlers == [signal.SIG_DFL, usual]
