"""ClusterSpec beyond what is compared with TensorFlow: its messages, and its own words."""

import pytest

import tideflow as tf


def test_a_copy_is_its_own():
    first = tf.train.ClusterSpec({"ps": ["a:1"]})
    second = tf.train.ClusterSpec(first.as_cluster_def())
    first.as_cluster_def().job[0].tasks[0] = "b:1"
    assert second.as_dict() == {"ps": ["a:1"]}


def test_an_empty_job_has_no_addresses():
    assert tf.train.ClusterSpec({"worker": {}}).job_tasks("worker") == []


def test_errors_say_what_there_is():
    cluster = tf.train.ClusterSpec({"worker": {1: "a:1", 3: "b:1"}})
    with pytest.raises(ValueError, match=r"No such job in cluster: 'ps'\. Its jobs are: 'worker'"):
        cluster.num_tasks("ps")
    with pytest.raises(ValueError, match=r"No task with index 0 in job 'worker': its tasks are \[1, 3\]"):
        cluster.task_address("worker", 0)


def test_a_server_as_a_message():
    cluster = tf.train.ClusterSpec({"ps": ["a:1"], "worker": ["b:1", "c:1"]})
    made = tf.train.ServerDef(cluster=cluster.as_cluster_def(), job_name="worker", task_index=1)
    made.default_session_config.intra_op_parallelism_threads = 3
    read = tf.train.ServerDef.FromString(made.SerializeToString())
    assert read == made and tf.train.ClusterSpec(read.cluster) == cluster
