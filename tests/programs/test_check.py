"""`tideflow check`: names are followed, missing symbols and arguments are told by line."""

import re
import textwrap

import pytest

from tideflow.programs.check import as_text, check, programs, summary


@pytest.fixture
def checked(tmp_path):
    def run(source: str):
        path = tmp_path / "program.py"
        path.write_text(textwrap.dedent(source))
        return check(path)

    return run


@pytest.fixture
def folder(tmp_path):
    """Writes files of a folder; the report of each program in it, by name."""

    def run(files: dict[str, str | bytes]):
        for name, source in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(source if isinstance(source, bytes) else textwrap.dedent(source).encode())
        return {str(p.relative_to(tmp_path)): check(p, tmp_path) for p in programs(tmp_path)}

    return run


def test_symbols_are_found_under_any_name(checked):
    report = checked("""
        import tensorflow
        import tensorflow as tf
        import tensorflow.compat.v1 as tf1
        import tensorflow.contrib.slim as slim
        from tensorflow.contrib import layers as L
        from tensorflow.python.ops import array_ops
        from tensorflow import nn
        from tensorflow.nn import softmax as sm
        import numpy as np

        layers = tf.layers

        class Model:
            def build(self, x):
                y = layers.dense(slim.flatten(x), 3, activation=nn.relu)
                z = [sm(y), tensorflow.exp(y), tf1.log(y), L.softmax(y)]
                return z + [array_ops.concat([y, y], 1), np.sum(y)]
    """)
    assert {use.shown for use in report.uses.values()} == {
        "tf.layers.dense",
        "tf.contrib.slim.flatten",
        "tf.nn.relu",
        "tf.nn.softmax",
        "tf.exp",
        "tf.log",
        "tf.contrib.layers.softmax",
        "tensorflow.python.ops.array_ops.concat",
    }
    assert not report.faults


def test_lines_are_those_of_the_uses(checked):
    report = checked("""
        import tensorflow as tf
        a = tf.constant(1)
        b = tf.constant(
            tf.float32)
        c = tf.constant(2) if a else tf.constant(3)
    """)
    assert report.uses["tensorflow.constant"].lines == [3, 4, 6]
    assert report.uses["tensorflow.float32"].lines == [5]


@pytest.mark.parametrize(
    "line, shown, fault",
    [
        ("tf.reduce_summ(1)", "tf.reduce_summ", "tf.reduce_sum"),
        ("tf.mul(1, 2)", "tf.mul", "tf.multiply"),
        ("tf.contrib.layers.fully_conected(1, 2)", "tf.contrib.layers.fully_conected", "fully_connected"),
        ("tf.placeholder(tf.float32, nam='x')", "tf.placeholder", "lacks the argument nam"),
        ("tf.nn.relu(1, 'a', 2)", "tf.nn.relu", "takes 2 arguments by position, not 3"),
        ("tf.GraphKeys.LOSES", "tf.GraphKeys.LOSES", "LOSSES"),
        ("tf.flags.DEFINE_strin('a', 'b', 'c')", "tf.flags.DEFINE_strin", "DEFINE_string"),
        ("import tensorflow.nowhere", "tf.nowhere", "missing"),
        ("from tensorflow.python.ops import arry_ops", "tensorflow.python.ops.arry_ops", "array_ops"),
    ],
)
def test_faults(checked, line, shown, fault):
    report = checked(f"import tensorflow as tf\n{line}\n")
    [use] = report.faults
    assert (use.shown, use.lines) == (shown, [2]) and fault in " ".join(use.faults)


@pytest.mark.parametrize(
    "line",
    [
        "tf.group(*[1, 2, 3])",
        "tf.train.AdamOptimizer(0.1).minimize(loss, unknown=1)",  # an instance's own affair
        "tf.Session(**options)",
        "tf.ConfigProto(allow_soft_placement=True).gpu_options.allow_growth",
        "tf.app.flags.FLAGS.anything",
        "tf.errors.OutOfRangeError.__name__",
        "tf.layers.conv2d(x, 3, 3, 1, 'same', name='c', reuse=True)",
        "tf.contrib.layers.relu(x, 3, scope='s')",
    ],
)
def test_what_is_right_or_cannot_be_known_is_no_fault(checked, line):
    assert not checked(f"import tensorflow as tf\n{line}\n").faults


def test_a_name_that_stands_for_something_else_later_is_not_followed(checked):
    report = checked("import tensorflow as tf\nnn = tf.nn\nnn = object()\nnn.nothing\n")
    assert not report.faults


def test_the_table_and_the_summary(checked, tmp_path):
    report = checked("import tensorflow as tf\n" + "tf.exp(1)\n" * 7 + "tf.mul(1, 2)\n")
    lines = as_text([report]).splitlines()
    assert lines[1] == "  ✓ tf.exp  lines 2, 3, 4, 5, 6 …"
    assert lines[2].startswith("  ✗ tf.mul  line 9  missing")
    assert lines[3] == "  1 of the 2 TensorFlow symbols that it uses are missing or lack an argument."
    assert "tf.exp" not in as_text([report], only_missing=True)
    assert summary(checked("import os\n")) == "  It does not use TensorFlow."
    assert programs(tmp_path) == [tmp_path / "program.py"] and programs(tmp_path / "no") == []


@pytest.mark.parametrize(
    "source",
    [
        "print 'hello'",
        "exec 'a = 1'",
        "try:\n    pass\nexcept IOError, error:\n    pass",
        "raise ValueError, 'no'",
        "if a <> b: pass",
        "a = `b`",
        "os.chmod(f, 0755)",
        "a = 10L",
        "a = ur'b'",
        "def f((a, b)): pass",
        "sorted(d, key=lambda (k, v): v)",
        "if a:\n\tb = 1\n        c = 2",
    ],
)
def test_python_2_is_named_as_such(checked, source):
    report = checked(f"import tensorflow as tf\n{source}\n")
    assert "this is Python 2" in report.unreadable and "2to3" in report.unreadable
    assert not report.is_fine


@pytest.mark.parametrize(
    "source, why",
    [
        (b"a = (1,\n", "line 1: Python 3.*was never closed: a = \\(1,"),
        (b"def f(a=g(1):\n", "line 1: Python 3"),
        (b"# -*- coding: klingon -*-\n", "klingon"),
        (b"a = '\xff'\n", "can't decode"),
        (b"a = 1\0\n", "null bytes"),
        (b"+".join([b"1"] * 30000), "nested too deeply"),
        (b"-" * 100000 + b"1", "nested too deeply"),
    ],
)
def test_what_python_cannot_read_is_an_entry(folder, source, why):
    reports = folder({"bad.py": source, "good.py": "import tensorflow as tf\ntf.exp(1)\n"})
    assert re.search(why, reports["bad.py"].unreadable) and "Python 2" not in reports["bad.py"].unreadable
    assert reports["good.py"].is_fine and len(reports["good.py"].uses) == 1
    assert f"✗ {reports['bad.py'].unreadable}" in as_text(reports.values())


def test_a_folder_that_is_named_like_a_program_is_none(tmp_path):
    (tmp_path / "odd.py").mkdir()
    assert programs(tmp_path) == []


def test_modules_that_are_not_installed_are_listed(checked):
    report = checked("""
        import os, numpy.linalg, google.protobuf
        import no_such_module.inner as inner, __main__
        import tensorflow as tf
        from no_such_other import something

        def later():
            import no_such_module
    """)
    assert {name: use.lines for name, use in report.modules.items()} == {
        "no_such_module": [3, 8],
        "no_such_other": [5],
    }
    assert not report.is_fine and not report.faults
    assert "  ✗ module no_such_module  lines 3, 8  not installed" in as_text([report], only_missing=True)


def test_modules_that_left_python_are_named_with_what_took_their_place(checked):
    assert "urllib.request" in checked("import urllib2\n").modules["urllib2"].faults[0]


@pytest.mark.parametrize(
    "source",
    [
        "try:\n    import nothing_a\nexcept ImportError:\n    import nothing_b",
        "try:\n    import nothing_a\nexcept (ValueError, ModuleNotFoundError):\n    pass",
        "try:\n    import nothing_a\nexcept:\n    pass",
        "if sys.version_info[0] == 2:\n    import urllib2\nelse:\n    import urllib.request",
        "if six.PY2:\n    import urllib2",
        "import tensorflow as tf\nif tf.__version__ >= '2':\n    import tensorflow_addons",
        "try:\n    import tensorflow.compat.v2 as tf2\nexcept ImportError:\n    pass",
    ],
)
def test_what_a_program_can_do_without_is_not_missing(checked, source):
    assert checked(source).is_fine


def test_an_import_in_a_try_of_something_else_is_needed(checked):
    assert checked("try:\n    import nothing_a\nexcept ValueError:\n    pass\n").modules


def test_a_programs_own_modules_are_not_missing(folder):
    reports = folder(
        {
            "common.py": "",
            "models/__init__.py": "",
            "models/layers.py": "",
            "models/deep/net.py": """
                import common, models.layers, helper, data
                from . import anything
                from .helper import f
                from ..layers import dense
                from ...common import g
                from .absent import h
            """,
            "models/deep/helper.py": "",
            "models/deep/data/readme.txt": "",
        }
    )
    assert list(reports["models/deep/net.py"].modules) == [".absent"]
    assert all(report.is_fine for name, report in reports.items() if not name.endswith("net.py"))


def test_a_program_alone_finds_the_package_it_stands_in(folder, tmp_path):
    folder({"models/__init__.py": "", "models/net.py": "import models.net\nimport no_such_module"})
    assert list(check(tmp_path / "models" / "net.py").modules) == ["no_such_module"]


def test_tideflow_by_its_own_name_is_judged_alike(checked):
    report = checked("""
        import tideflow as tf
        import tideflow.nn as nn
        from tideflow import layers
        from tideflow.graph import errors
        from tideflow.programs.check import check
        import tideflow

        tf.exp(1), nn.relu(1), layers.dense(1, 2), tf.compat.v1.log(1), tf.__version__, tideflow.sqrt(1)
        errors.invalid_argument("no"), check("x"), tf.GraphKeys.LOSSES, tf.contrib.layers.flatten(1)
        tf.exq(1), nn.reluu(1), layers.dense(1, 2, nam="x"), tf.GraphKeys.LOSES
        tf.python.ops.math_ops
    """)
    there = "GraphKeys.LOSSES contrib.layers.flatten compat.v1.log exp nn.relu sqrt".split()
    wrong = "GraphKeys.LOSES exq layers.dense nn.reluu python".split()
    assert {use.path.removeprefix("tensorflow.") for use in report.uses.values()} == {*there, *wrong}
    assert {use.path.removeprefix("tensorflow.") for use in report.faults} == set(wrong)
    assert "tf.exp" in report.uses["tensorflow.exq"].faults[0]


def test_the_version_is_no_symbol(checked):
    report = checked("import tensorflow as tf\ntf.__version__.split('.'), tf.nn.__name__\n")
    assert not report.uses
