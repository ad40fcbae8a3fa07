"""A small cluster in this process, for programs of the corpus: two workers and two parameter servers."""

import socket

_made = {}


def servers(tf):
    """The servers by (job, task); TensorFlow's cannot be stopped, so all programs of a file share them."""
    if not _made:
        probes = [socket.socket() for _ in range(4)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        hosts = ["localhost:%d" % probe.getsockname()[1] for probe in probes]
        for probe in probes:
            probe.close()
        cluster = tf.train.ClusterSpec({"worker": hosts[:2], "ps": hosts[2:]})
        for job in cluster.jobs:
            for task in range(2):
                _made[job, task] = tf.train.Server(cluster, job, task)
    return _made


def fresh(tf):
    """The target of the first worker, the state of whose cluster is cleared."""
    target = servers(tf)["worker", 0].target
    tf.Session.reset(target)
    return target


def on(job, task=0):
    """The name of a task, for `tf.device`."""
    return "/job:%s/task:%d" % (job, task)


def setter(tf, task=1):
    """Variables on the parameter servers, everything else on a worker."""
    return tf.train.replica_device_setter(
        cluster=servers(tf)["worker", 0].server_def.cluster, worker_device=on("worker", task)
    )
