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


class _Tpus:
    """Google's service, for one TPU of two workers that is in a state."""

    def __init__(self, state):
        self._state = state
        self.asked = []

    def projects(self):
        return self

    locations = nodes = projects

    def get(self, name):
        self.asked.append(name)
        return self

    def execute(self):
        workers = [{"ipAddress": f"10.0.0.{index}", "port": "8470"} for index in (1, 2)]
        return {"state": self._state, "networkEndpoints": workers}


def _named_tpu(service, **more):
    return tf.distribute.cluster_resolver.TPUClusterResolver("mine", service=service, **more)


def test_a_tpu_is_found_by_its_name():
    service = _Tpus("READY")
    made = _named_tpu(service, project="p", zone="z", job_name="tpu_worker")
    assert made.cluster_spec().as_dict() == {"tpu_worker": ["10.0.0.1:8470", "10.0.0.2:8470"]}
    assert service.asked == ["projects/p/locations/z/nodes/mine"]
    assert made.master("tpu_worker", 1) == "grpc://10.0.0.2:8470" and made.get_job_name() == "tpu_worker"


def test_a_tpu_that_cannot_be_found_says_why():
    with pytest.raises(ValueError, match="its project and zone"):
        _named_tpu(_Tpus("READY"), zone="z")
    with pytest.raises(RuntimeError, match='"mine" is not yet ready; state: "CREATING"'):
        _named_tpu(_Tpus("CREATING"), project="p", zone="z").cluster_spec()
    with pytest.raises(ValueError, match=r"Could not lookup TPU metadata from name 'mine'.*no attribute"):
        _named_tpu(object(), project="p", zone="z").cluster_spec()


def test_programs_for_tpus_name_their_classes_where_there_is_none():
    assert not isinstance(tf.distribute.get_strategy(), tf.distribute.experimental.TPUStrategy)
    with pytest.raises(RuntimeError, match=r"Cannot find any TPU cores.*MirroredStrategy"):
        tf.contrib.distribute.TPUStrategy(tf.contrib.cluster_resolver.TPUClusterResolver(""))
