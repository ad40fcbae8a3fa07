"""Clusters for the works: this process is the chief, its other tasks are processes that it starts.

`python -m benchmarks.clusters PEER WORK CLUSTER JOB INDEX` is one of those. A parameter server serves; a
worker does what the work's function `worker` does. They end with the process that started them.
"""

import atexit
import importlib
import json
import os
import socket
import subprocess
import sys
import threading


def chief_of(tf, work, ps=1, workers=1):
    """The server of the chief of a cluster with so many tasks."""
    return chief_and_children(tf, work, ps, workers)[0]


def chief_and_children(tf, work, ps=1, workers=1):
    """The chief's server, and the processes of the other tasks."""
    addresses = free_addresses(ps + workers)
    cluster = {"ps": addresses[:ps], "worker": addresses[ps:]}
    peer = "tideflow" if tf.__name__ == "tideflow" else "tensorflow"
    children = []
    for job, index in [("ps", i) for i in range(ps)] + [("worker", i) for i in range(1, workers)]:
        arguments = [peer, work, json.dumps(cluster), job, str(index)]
        command = [sys.executable, "-m", "benchmarks.clusters", *arguments]
        children.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL))
        atexit.register(children[-1].kill)
    return tf.train.Server(tf.train.ClusterSpec(cluster), job_name="worker", task_index=0), children


def free_addresses(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    addresses = [f"127.0.0.1:{one.getsockname()[1]}" for one in sockets]
    for one in sockets:
        one.close()
    return addresses


def main(peer, work, cluster, job, index):
    from benchmarks.worker import LIBRARIES

    threading.Thread(target=end_with_parent, daemon=True).start()
    tf, _ = LIBRARIES[peer]()
    spec = tf.train.ClusterSpec(json.loads(cluster))
    server = tf.train.Server(spec, job_name=job, task_index=int(index))
    if job == "ps":
        server.join()
    importlib.import_module(work).worker(tf, server, int(index))


def end_with_parent():
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
