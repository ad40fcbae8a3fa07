"""The public namespace: what is loaded when, and that all of it is found however it is asked for."""

import importlib
import json
import os
import pickle
import subprocess
import sys
import traceback
import types
from pathlib import Path

import pytest

import tideflow as tf
from tideflow import export

PACKAGE = Path(tf.__file__).parent


def run(program: str) -> str:
    """The output of a program in a process of its own."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return done.stdout


# Programs one after the other, each in a process that has loaded torch and nothing of the package.
_EACH = """
import json, os, sys, traceback
import torch
for program in json.load(sys.stdin):
    if os.fork() == 0:
        try:
            exec(program, {})
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    if os.wait()[1]:
        sys.exit(f"failed: {program}")
"""


def run_each(programs: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _EACH], input=json.dumps(programs), capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr


def test_importing_loads_nothing_and_the_first_name_loads_what_every_program_needs():
    before, after = json.loads(
        run(
            "import json, sys, tideflow as tf\n"
            "before = sorted(sys.modules)\n"
            "tf.matmul\n"
            "print(json.dumps([before, sorted(sys.modules)]))"
        )
    )
    assert not {"torch", "numpy"} & set(before) and "torch" in after
    assert {"tideflow.ops.linalg.matmul", "tideflow.train", "tideflow.session.session"} <= set(after)
    rare = ("cluster", "contrib", "distributions", "feature_column", "profiler", "saved_model", "simulator")
    assert not [name for name in after if name.startswith(tuple(f"tideflow.{room}" for room in rare))]
    assert not {"zmq", "absl.testing.absltest"} & set(after)


def test_rooms_that_few_programs_need_are_loaded_by_their_names():
    modules = {
        "tf.contrib.slim.conv2d": "tideflow.contrib.slim",
        "tf.contrib.distributions.Normal": "tideflow.distributions",
        "tf.train.Server": "tideflow.cluster.server",
        "tf.distribute.cluster_resolver.TFConfigClusterResolver": "tideflow.cluster.resolvers",
        "tf.test.TestCase": "tideflow.platform.testing",
    }
    run_each(
        [
            f"import sys, tideflow as tf; tf.matmul; assert {module!r} not in sys.modules\n"
            f"{name}; assert {module!r} in sys.modules"
            for name, module in modules.items()
        ]
    )


def test_names_are_found_however_they_are_asked_for():
    run_each(
        [
            "import tideflow.math as m; m.exp",
            "import tideflow.nn as nn; nn.relu, nn.conv2d, nn.dynamic_rnn",
            "import tideflow.io as io; io.read_file",
            "import tideflow.contrib.layers as L; L.fully_connected",
            "from tideflow.contrib import slim; slim.conv2d, slim.get_or_create_global_step",
            "import tideflow.distribute.cluster_resolver as r; r.SlurmClusterResolver",
            "import tideflow.compat.v1 as tf; tf.matmul, tf.nn.relu",
            "from tideflow import *; matmul, nn.relu, contrib.slim, Variable",
            "from tideflow.graph.op import definition; definition('MatMul')",
        ]
    )


def test_names_that_are_not_there():
    with pytest.raises(AttributeError, match="module 'tideflow' has no attribute 'matmull'"):
        _ = tf.matmull
    with pytest.raises(AttributeError, match=r"module 'tideflow.nn' has no attribute 'rellu'"):
        _ = tf.nn.rellu
    with pytest.raises(ModuleNotFoundError, match=r"No module or symbol named 'tideflow.nonsense'"):
        importlib.import_module("tideflow.nonsense")
    with pytest.raises(ImportError, match=r"No module or symbol named 'tideflow.nn.nonsense'"):
        from tideflow.nn import nonsense  # noqa: F401
    assert not hasattr(tf, "__wrapped__")


def test_names_that_are_not_loaded_yet_are_listed_and_announced():
    listed, known = json.loads(
        run(
            "import json, tideflow as tf\n"
            "from tideflow import export\n"
            "listed = [dir(tf), dir(tf.train)]\n"
            "print(json.dumps([listed, list(export.symbols)]))"
        )
    )
    assert {"matmul", "nn", "contrib", "distributions", "saved_model", "test"} <= set(listed[0])
    assert {"Saver", "Server", "ClusterSpec"} <= set(listed[1])
    export.load_all()
    later = export.symbols.keys() - set(known)
    assert later, "nothing is loaded when asked for"
    lost = [path for path in later if not any(space in export._rooms for space in export._prefixes(path))]
    assert not lost, f"rooms.py does not say which room has {lost}"


def test_every_name_hangs_on_its_namespace():
    export.load_all()
    for path, value in export.symbols.items():
        found = tf
        for name in path.split("."):
            found = getattr(found, name)
        assert found is value, path


def test_functions_can_be_pickled():
    for function in (tf.matmul, tf.exp, tf.concat, tf.train.Saver, tf.contrib.layers.fully_connected):
        assert pickle.loads(pickle.dumps(function)) is function


def test_a_namespace_is_the_folder_of_its_name_and_no_symbol_hides_a_module():
    export.load_all()
    for name, module in list(sys.modules.items()):
        if isinstance(module, export.Namespace) and module is not tf:
            assert hasattr(module, "__file__") == _is_a_module(name.removeprefix("tideflow.")), name
    for path, value in export.symbols.items():
        assert isinstance(value, types.ModuleType) or not _is_a_module(path), path


def _is_a_module(path: str) -> bool:
    file = PACKAGE / path.replace(".", os.sep)
    return file.is_dir() or file.with_suffix(".py").is_file()


def test_two_objects_under_one_name_are_refused():
    with pytest.raises(ValueError, match=r"two different objects are exported as tf.matmul"):
        export.expose(object(), "matmul")


def test_a_missing_name_says_who_has_it():
    with pytest.raises(
        AttributeError, match=r"'tideflow.nn' has no attribute 'reluu'\. .* either.*tf\.nn\.relu"
    ):
        _ = tf.nn.reluu
    with pytest.raises(AttributeError, match=r"TensorFlow 1\.15 has it, Tideflow does not\."):
        _ = tf.contrib.summary.create_db_writer
    with pytest.raises(ModuleNotFoundError, match=r"symbol named 'tideflow\.nn\.reluu'.*tf\.nn\.relu"):
        from tideflow.nn import reluu  # noqa: F401
    with pytest.raises(ModuleNotFoundError, match=r"tideflow run"):
        import tideflow.python.ops  # noqa: F401
    with pytest.raises(AttributeError) as caught:
        _ = tf.nn.reluu
    shown = "".join(traceback.format_exception(caught.value))
    assert (
        "Did you mean" not in shown and ".." not in shown.splitlines()[-1]
    )  # Python adds no words of its own
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_asking_whether_a_name_is_there_looks_nothing_up():
    """What is said about a missing name is found when it is read, not for `hasattr`."""
    loaded = run(
        "import sys, tideflow as tf\n"
        "assert not hasattr(tf.nn, 'reluu') and getattr(tf, 'nothing', 3) == 3\n"
        "try:\n    import tideflow.nothing\nexcept ImportError:\n    pass\n"
        "print('tideflow.programs.modules' in sys.modules)"
    )
    assert loaded == "False\n"
