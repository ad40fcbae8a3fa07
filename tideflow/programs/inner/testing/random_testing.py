"""What tests of random numbers and of signals share: `tensorflow.python.kernel_tests.random.util`,
`tensorflow.python.kernel_tests.signal.test_util` and `tensorflow.python.ops.spectral_ops_test_util`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.programs.inner.graph.optimizer_names import OptimizeGraph


def test_moment_matching(samples: np.ndarray, number_moments: int, dist: Any, stride: int = 0) -> list[float]:
    """By how many standard deviations the moments of a sample differ from those of a distribution of SciPy.

    Args:
      samples: The numbers.
      number_moments: How many moments are compared.
      dist: The distribution.
      stride: How far the numbers that are taken lie apart; further for each higher moment.

    Returns:
      A score for each moment.
    """
    scores = []
    for order in range(1, number_moments + 1):
        taken = samples.flat[:: (order - 1) * stride + 1]
        variance = (dist.moment(2 * order) - dist.moment(order) ** 2) / len(taken)
        variance += order * np.finfo(samples.dtype).eps  # each product is rounded
        assert np.all(variance > 0)
        deviation = np.mean(taken**order) - dist.moment(order)
        scores.append(abs(deviation / np.sqrt(max(variance, np.finfo(samples.dtype).tiny))))
    return scores


def chi_squared(x: np.ndarray, bins: int) -> float:
    """Pearson's statistic of numbers between zero and one."""
    flat = np.ravel(x)
    expected = len(flat) / bins
    counts, _ = np.histogram(flat, bins=bins, range=(0, 1))
    return np.sum(np.square(counts - expected) / expected)


def normal_cdf(x: np.ndarray) -> np.ndarray:
    """The distribution function of the standard normal distribution."""
    return 0.5 + 0.5 * np.vectorize(math.erf)(x / math.sqrt(2))


def anderson_darling(x: np.ndarray) -> float:
    """The statistic of Anderson and Darling, against the standard normal distribution."""
    shares = normal_cdf(np.sort(np.ravel(x)))
    n = len(shares)
    i = np.linspace(1, n, n)
    total = np.sum((2 * i - 1) * np.log(shares) + (2 * (n - i) + 1) * np.log(1 - shares))
    return -n - total / n


def test_truncated_normal(
    assert_equal: Callable,
    assert_all_close: Callable,
    n: int,
    y: np.ndarray,
    mean_atol: float = 5e-4,
    median_atol: float = 8e-4,
    variance_rtol: float = 1e-3,
) -> None:
    """Numbers are those of a standard normal distribution that is cut at two standard deviations.

    Args:
      assert_equal: What compares counts.
      assert_all_close: What compares statistics.
      n: How many numbers there are.
      y: The numbers.
      mean_atol: By how much their mean may be off.
      median_atol: By how much their median may be off.
      variance_rtol: By which part of it their variance may be off.
    """
    bound = 2.0
    density = math.exp(-(bound**2) / 2.0) / math.sqrt(2 * math.pi)
    kept = math.erf(bound / math.sqrt(2))
    assert_equal((y >= -bound).sum(), n)
    assert_equal((y <= bound).sum(), n)
    y = y.astype(float)
    assert_all_close(np.mean(y), 0.0, atol=mean_atol)
    assert_all_close(np.median(y), 0.0, atol=median_atol)
    assert_all_close(np.var(y), 1 - 2 * bound * density / kept, rtol=variance_rtol)


def grappler_optimize(graph: Any, fetches: Sequence[Any] | None = None, config_proto: Any = None) -> Any:
    """A graph as an optimizer would leave it, for what it fetches.

    Args:
      graph: The graph.
      fetches: Tensors that are kept; else those in the collection 'train_op'.
      config_proto: A ConfigProto.

    Returns:
      A GraphDef.
    """
    if config_proto is None:
        config_proto = tf.ConfigProto()
        config_proto.graph_options.rewrite_options.min_graph_nodes = -1
    for fetch in fetches or ():
        graph.add_to_collection("train_op", fetch)
    return OptimizeGraph(
        config_proto, tf.train.export_meta_graph(graph_def=graph.as_graph_def(), graph=graph)
    )


def fft_kernel_label_map() -> Any:
    """The context in which tests of Fourier transforms run; each has one kernel, so it changes nothing."""
    return tf.get_default_graph()._kernel_label_map({})
