"""Which task of a cluster a process is: by flags, by TF_CONFIG, or by starting all tasks itself.

What the distributed examples share: `--job_name`, `--task_index`, `--ps_hosts` and `--worker_hosts`, or the
environment's TF_CONFIG, say which task this is. Without them a program is its own launcher: it starts itself
once for each task, on free ports of this machine, and passes on what the first worker prints.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
from collections import namedtuple

try:
    import tideflow as tf
except ImportError:
    import tensorflow as tf  # TensorFlow 1.15 runs it as well

Task = namedtuple("Task", "cluster job index")


def flags(description):
    """A parser that knows the flags of a task."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--job_name", choices=["ps", "worker"], help="which job this process is of")
    parser.add_argument("--task_index", type=int, default=0, help="which of its tasks")
    parser.add_argument("--ps_hosts", default="", help="host:port of every parameter server, by commas")
    parser.add_argument("--worker_hosts", default="", help="host:port of every worker, by commas")
    parser.add_argument("--ps", type=int, default=1, help="parameter servers to start here")
    parser.add_argument("--workers", type=int, default=2, help="workers to start here")
    return parser


def task_of(options):
    """The task that flags or TF_CONFIG name; None where neither does."""
    if options.job_name:
        cluster = {"ps": options.ps_hosts.split(","), "worker": options.worker_hosts.split(",")}
        return Task(cluster, options.job_name, options.task_index)
    told = json.loads(os.environ.get("TF_CONFIG", "{}"))
    if "task" not in told:
        return None
    cluster = dict(told["cluster"])
    job, index = told["task"]["type"], int(told["task"]["index"])
    if job in ("chief", "master"):  # the first of the workers, by another name
        return Task(_with_chief(cluster, job), "worker", 0)
    chief = next((name for name in ("chief", "master") if name in cluster), None)
    return Task(_with_chief(cluster, chief), job, index + 1 if chief and job == "worker" else index)


def _with_chief(cluster, chief):
    others = {job: hosts for job, hosts in cluster.items() if job != chief}
    if chief:
        others["worker"] = list(cluster[chief]) + list(others.get("worker", ()))
    return others


def run(work, options, alone=None):
    """Has this process do its part: a parameter server serves, a worker calls `work`.

    A process that is no task calls `alone`, which is `run_locally` unless given.
    """
    task = task_of(options)
    if task is None:
        (alone or run_locally)(options, sys.argv[1:])
        return
    server = tf.train.Server(tf.train.ClusterSpec(task.cluster), task.job, task.index)
    if task.job == "ps":
        server.join()
    else:
        work(task, server.target, options)


def run_locally(options, arguments):
    """Runs this program as every task of a cluster on this machine; returns what the first worker printed."""
    hosts = [f"127.0.0.1:{port}" for port in _free_ports(options.ps + options.workers)]
    shared = [
        "--ps_hosts=" + ",".join(hosts[: options.ps]),
        "--worker_hosts=" + ",".join(hosts[options.ps :]),
    ]
    tasks = [("ps", i) for i in range(options.ps)] + [("worker", i) for i in range(options.workers)]
    running = []
    try:
        for job, index in tasks:
            named = ["--job_name=" + job, f"--task_index={index}"]
            pipe = subprocess.PIPE if (job, index) == ("worker", 0) else None
            command = [sys.executable, os.path.abspath(sys.argv[0])] + arguments + shared + named
            running.append(subprocess.Popen(command, stdout=pipe, universal_newlines=True))
        chief = running[options.ps]
        printed = []
        for line in chief.stdout:
            print(line, end="", flush=True)
            printed.append(line)
        if chief.wait() != 0:
            sys.exit(f"the first worker ended with code {chief.returncode}")
        return "".join(printed)
    finally:
        for process in running:
            process.kill()
            process.wait()


def _free_ports(count):
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports
