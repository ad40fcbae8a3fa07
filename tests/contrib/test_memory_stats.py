"""contrib.memory_stats: what a GPU's allocator counts."""

import pytest
import torch

import tideflow as tf

STATISTICS = ["BytesInUse", "BytesLimit", "MaxBytesInUse"]


@pytest.mark.parametrize("name", STATISTICS)
def test_a_cpu_has_no_statistics(name):
    with tf.Graph().as_default(), tf.device("/cpu:0"), tf.Session() as session:
        statistic = getattr(tf.contrib.memory_stats, name)()
        assert statistic.dtype == tf.int64 and statistic.shape == []
        with pytest.raises(tf.errors.InvalidArgumentError, match="No OpKernel was registered"):
            session.run(statistic)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_counts_its_memory():
    with tf.Graph().as_default(), tf.device("/gpu:0"), tf.Session() as session:
        used, limit, most = session.run([getattr(tf.contrib.memory_stats, name)() for name in STATISTICS])
    assert 0 <= used <= most <= limit
