"""tf.compat, tf.version, tf.sysconfig and the switches between versions."""

import importlib
import os
import pathlib

import pytest

import tideflow as tf


def test_compat_v1_is_the_namespace_itself():
    assert tf.compat.v1 is tf
    assert importlib.import_module("tideflow.compat.v1") is tf
    from tideflow.compat import v1

    assert v1 is tf


def test_strings():
    compat = tf.compat
    assert compat.as_bytes("é") == b"\xc3\xa9" and compat.as_bytes(bytearray(b"x")) == b"x"
    assert compat.as_text(b"a") == compat.as_str("a") == "a" and compat.as_str_any(3) == "3"
    assert compat.path_to_str(pathlib.Path("./a")) == "a" and compat.path_to_str(3) == 3
    for convert in (compat.as_bytes, compat.as_text):
        with pytest.raises(TypeError, match="Expected binary or unicode string, got 3"):
            convert(3)


def test_the_horizon_is_that_of_1_15():
    assert tf.compat.forward_compatible(2019, 8, 20) and not tf.compat.forward_compatible(2019, 8, 21)
    with tf.compat.forward_compatibility_horizon(2030, 1, 1):
        assert tf.compat.forward_compatible(2029, 12, 31)
    assert not tf.compat.forward_compatible(2029, 12, 31)


def test_versions():
    assert tf.VERSION == tf.version.VERSION == "1.15.5" != tf.__version__
    assert tf.GIT_VERSION == tf.version.GIT_VERSION and tf.COMPILER_VERSION == tf.version.COMPILER_VERSION
    assert f"v1.15.5-tideflow-{tf.__version__}" == tf.GIT_VERSION
    assert os.path.isdir(tf.sysconfig.get_include()) and os.path.isdir(tf.sysconfig.get_lib())
    assert tf.sysconfig.get_compile_flags()[0] == "-I" + tf.sysconfig.get_include()
    assert tf.sysconfig.get_link_flags()[0] == "-L" + tf.sysconfig.get_lib()


def test_what_is_off_already_can_be_turned_off():
    assert not tf.executing_eagerly() and not tf.control_flow_v2_enabled()
    for name in ("v2_behavior", "eager_execution", "tensor_equality", "control_flow_v2", "v2_tensorshape"):
        getattr(tf, f"disable_{name}")()
