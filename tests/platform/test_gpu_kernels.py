"""Kernels in CUDA: the tutorial's op with a kernel for the CPU and one for GPUs, compiled by nvcc."""

import os
import shutil
import subprocess

import numpy as np
import pytest
import torch

import tideflow as tf
from tests.platform.cpp.compiling import SOURCES, compiled


@pytest.mark.skipif(not torch.cuda.is_available() or not shutil.which("nvcc"), reason="needs a GPU and nvcc")
@pytest.mark.slow(reason="nvcc")
def test_a_kernel_for_gpus(tmp_path):
    flags = [*tf.sysconfig.get_compile_flags(), "-DGOOGLE_CUDA=1"]
    compiler = os.path.realpath(shutil.which("nvcc"))
    cuda = os.path.join(os.path.dirname(os.path.dirname(compiler)), "lib64")
    kernel = tmp_path / "example.cu.o"
    subprocess.run(
        ["nvcc", "-std=c++17", "-c", "-x", "cu", "-arch=native", "-Xcompiler", "-fPIC"]
        + [str(SOURCES / "example.cu.cc"), "-o", str(kernel), *flags],
        check=True,
    )
    link = [str(kernel), "-std=c++17", f"-L{cuda}", f"-Wl,-rpath,{cuda}", "-lcudart"]
    library = tf.load_op_library(compiled(SOURCES / "example.cc", tmp_path, [*flags, *link]))
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3])
        with tf.device("/gpu:0"):
            doubled, size = library.example(tf.transpose(x) + 1.0, tf.size(x))
            loop = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, library.example(y, i)[0]), [0, x])[
                1
            ]
        with tf.device("/cpu:0"):
            on_host, _ = library.example(x, 0)
            integers, _ = library.example([1, 2], 0)
        for rows in (2, 1000, 0):
            fed = np.arange(3.0 * rows, dtype=np.float32).reshape(rows, 3)
            got = session.run([doubled, size, loop, on_host, integers], {x: fed})
            np.testing.assert_array_equal(got[0], 2 * (fed.T + 1))
            assert got[1] == 6 * rows
            np.testing.assert_array_equal(got[2], 8 * fed)
            np.testing.assert_array_equal(got[3], 2 * fed)
            np.testing.assert_array_equal(got[4], [2, 4])
