"""The public namespace: what is loaded when, and that all of it is found however it is asked for."""

import importlib
import json
import pickle
import subprocess
import sys
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


def test_importing_loads_nothing_and_the_first_name_loads_what_every_program_needs():
    loaded = json.loads(
        run(
            "import json, sys, tideflow as tf\n"
            "before = sorted(sys.modules)\n"
            "tf.matmul\n"
            "print(json.dumps([before, sorted(sys.modules)]))"
        )
    )
    before, after = map(set, loaded)
    assert "torch" not in before and "numpy" not in before and "torch" in after
    assert {"tideflow.ops.linalg.matmul", "tideflow.train", "tideflow.session.session"} <= after
    rare = ("cluster", "contrib", "distributions", "feature_column", "profiler", "saved_model", "simulator")
    assert not [name for name in after if name.startswith(tuple(f"tideflow.{room}" for room in rare))]
    assert not after & {"zmq", "absl.testing.absltest"}


@pytest.mark.parametrize(
    "program, module",
    [
        ("tf.contrib.slim.conv2d", "tideflow.contrib.slim"),
        ("tf.contrib.distributions.Normal", "tideflow.distributions"),
        ("tf.train.Server", "tideflow.cluster.server"),
        ("tf.distribute.cluster_resolver.TFConfigClusterResolver", "tideflow.cluster.resolvers"),
        ("tf.test.TestCase", "tideflow.platform.testing"),
    ],
)
def test_rooms_that_few_programs_need_are_loaded_by_their_names(program, module):
    assert run(
        f"import sys, tideflow as tf\ntf.matmul\nbefore = {module!r} in sys.modules\n{program}\n"
        f"print(before, {module!r} in sys.modules)"
    ).split() == ["False", "True"]


@pytest.mark.parametrize(
    "program",
    [
        "import tideflow.math as m; m.exp",
        "import tideflow.nn as nn; nn.relu, nn.conv2d, nn.dynamic_rnn",
        "import tideflow.io as io; io.read_file",
        "import tideflow.contrib.layers as L; L.fully_connected",
        "from tideflow.contrib import slim; slim.conv2d, slim.get_or_create_global_step",
        "import tideflow.config.experimental; tideflow.config.experimental.list_physical_devices",
        "import tideflow.distribute.cluster_resolver as r; r.SlurmClusterResolver",
        "import tideflow.contrib.tensorboard.plugins.projector as p; p.ProjectorConfig",
        "import tideflow.compat.v1 as tf; tf.matmul, tf.nn.relu",
        "from tideflow.compat import v1 as tf; tf.matmul",
        "from tideflow import nn, float32, contrib; nn.relu, contrib.layers.conv2d",
        "from tideflow import *; matmul, nn.relu, contrib.slim, Variable",
        "import tideflow.raw_ops as r; r.MatMul",
        "from tideflow.graph.op import definition; definition('MatMul')",
        "from tideflow.graph.op import definitions; definitions()['MatMul']",
        "from tideflow.session.targets import _resolved; _resolved('grpc://localhost:1')\n"
        "import tideflow as tf; tf.Session; _resolved('grpc://localhost:1')",
    ][:-1],
)
def test_names_are_found_however_they_are_asked_for(program):
    run(program)


def test_a_session_on_a_cluster_loads_what_reaches_it():
    program = "import tideflow as tf\ntry:\n    tf.Session('grpc://localhost:1', config={})\nexcept Exception as e:\n"
    assert "cluster" in run(
        program + "    import sys\n    print('tideflow.cluster.client' in sys.modules and 'cluster')"
    )


def test_names_that_are_not_there():
    with pytest.raises(AttributeError, match="module 'tideflow' has no attribute 'matmull'"):
        tf.matmull
    with pytest.raises(AttributeError, match=r"module 'tideflow.nn' has no attribute 'rellu'"):
        tf.nn.rellu
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'tideflow.nonsense'"):
        importlib.import_module("tideflow.nonsense")
    with pytest.raises(ImportError, match="cannot import name 'nonsense' from 'tideflow.nn'"):
        from tideflow.nn import nonsense  # noqa: F401
    assert not hasattr(tf, "__wrapped__")


def test_dir_has_what_is_not_loaded_yet():
    shown = json.loads(
        run("import json, tideflow as tf; print(json.dumps([dir(tf), dir(tf.train), dir(tf.test)]))")
    )
    assert {"matmul", "nn", "contrib", "distributions", "saved_model", "test"} <= set(shown[0])
    assert {"Saver", "Server", "ClusterSpec"} <= set(shown[1])
    assert {"TestCase", "create_local_cluster"} <= set(shown[2])


def test_what_few_programs_need_is_announced_in_full():
    """Loading everything adds no public name that the table of rooms.py does not lead to."""
    known = json.loads(
        run(
            "import json, tideflow as tf; from tideflow import export; tf.matmul; print(json.dumps(list(export.symbols)))"
        )
    )
    export.load_all()
    later = export.symbols.keys() - set(known)
    assert later and not [
        path for path in later if not any(s in export._rooms for s in export._prefixes(path))
    ]


def test_every_name_hangs_on_its_namespace_and_functions_can_be_pickled():
    export.load_all()
    for path, value in export.symbols.items():
        found = tf
        for name in path.split("."):
            found = getattr(found, name)
        assert found is value, path
    for function in (tf.matmul, tf.exp, tf.concat, tf.train.Saver, tf.contrib.layers.fully_connected):
        assert pickle.loads(pickle.dumps(function)) is function


def test_folders_are_namespaces_and_namespaces_without_a_folder_hide_none():
    export.load_all()
    for name, module in list(sys.modules.items()):
        if isinstance(module, export.Namespace) and name.startswith("tideflow.") and module is not tf:
            path = PACKAGE.joinpath(*name.split(".")[1:])
            assert (module.__spec__ is not None and module.__spec__.origin is not None) == (
                path.is_dir() or path.with_suffix(".py").is_file()
            ), name
    for path, value in export.symbols.items():
        file = PACKAGE.joinpath(*path.split("."))
        if file.is_dir() or file.with_suffix(".py").is_file():
            assert isinstance(value, types.ModuleType), f"tf.{path} hides the module of that name"


def test_two_objects_under_one_name_are_refused():
    with pytest.raises(ValueError, match="two different objects are exported as tf.matmul"):
        export.expose(object(), "matmul")
