"""ClusterSpec and the resolvers that make one: what they say, and what they refuse."""

import json
import os

from kit import cases, raises

_CLUSTERS = {
    "two jobs": {"worker": ["w0:2222", "w1:2222"], "ps": ["p0:1"]},
    "gaps": {"worker": {1: "w1:2222", 4: "w4:2222"}, "ps": ("p0:1", "p1:1")},
    "dense dictionary": {"worker": {1: "w1:2222", 0: "w0:2222"}},
    "bytes": {"worker": [b"w0:2222"]},
    "nothing": {},
    "empty job": {"worker": {}},
}


@cases({key: (value,) for key, value in _CLUSTERS.items()})
def spec(tf, np, cluster):
    made = tf.train.ClusterSpec(cluster)
    message = made.as_cluster_def()
    from_message, from_spec = tf.train.ClusterSpec(message), tf.train.ClusterSpec(made)
    described = {
        job: [
            made.num_tasks(job),
            made.task_indices(job),
            [made.task_address(job, i) for i in made.task_indices(job)],
        ]
        for job in made.jobs
    }
    return [
        made.as_dict(),
        made.jobs,
        described,
        {job: made.job_tasks(job) for job in made.jobs if made.num_tasks(job)},
        str(made),
        str(message),
        bool(made),
        from_message == made,
        from_message.as_dict(),
        from_spec == from_message,
        from_spec != from_message,
        made == made.as_dict(),
        made == {"worker": {0: "w0:2222", 1: "w1:2222"}},
        made == 5,
        raises(hash, made),
    ]


@cases(
    {
        "tasks": ({"worker": 5},),
        "text": ({"worker": "w0:2222"},),
        "address": ({"worker": [5]},),
        "job": ({5: ["w0:2222"]},),
        "index": ({"worker": {"zero": "w0:2222"}},),
        "list": ([("worker", "w0:2222")],),
        "None": (None,),
    }
)
def refused(tf, np, cluster):
    return raises(tf.train.ClusterSpec, cluster)


def unknown_names(tf, np):
    made = tf.train.ClusterSpec({"worker": {1: "w1:2222"}})
    return [
        raises(made.num_tasks, "ps"),
        raises(made.task_indices, "ps"),
        raises(made.job_tasks, "ps"),
        raises(made.task_address, "ps", 0),
        raises(made.task_address, "worker", 0),
    ]


def server_def(tf, np):
    """The message of a server, on the wire."""
    made = tf.train.ServerDef(
        cluster=tf.train.ClusterSpec({"ps": ["p:1"]}).as_cluster_def(),
        job_name="ps",
        task_index=3,
        protocol="grpc",
    )
    made.default_session_config.intra_op_parallelism_threads = 7
    job = tf.train.JobDef(name="a", tasks={2: "b:1"})
    return [
        made.SerializeToString(),
        job.SerializeToString(),
        tf.train.ClusterDef(job=[job]).SerializeToString(),
    ]


# ------------------------------------------------------------------------------------------------ resolvers


def _resolvers(tf):
    return tf.distribute.cluster_resolver


def _described(resolver, *tasks):
    masters = [resolver.master()] + [resolver.master(*task) for task in tasks]
    return [
        resolver.cluster_spec().as_dict(),
        masters,
        resolver.task_type,
        resolver.task_id,
        resolver.rpc_layer,
        resolver.environment,
    ]


def _simple(tf, cluster, **more):
    return _resolvers(tf).SimpleClusterResolver(tf.train.ClusterSpec(cluster), **more)


class _Environment:
    """Environment variables for a while."""

    def __init__(self, **values):
        self._values = values

    def __enter__(self):
        self._before = dict(os.environ)
        os.environ.update(self._values)

    def __exit__(self, *error):
        os.environ.clear()
        os.environ.update(self._before)


def simple_resolver(tf, np):
    made = _simple(tf, {"ps": ["p:1"], "worker": ["a:1", "b:2"]}, master="m:5", num_accelerators={"GPU": 3})
    found = [_described(made, ("worker", 1), ("ps", 0, "zmq")), made.num_accelerators()]
    made.task_type, made.task_id, made.rpc_layer = "worker", 1, "grpc"
    return found + [
        _described(made, ("worker", 0)),
        _simple(tf, {}).num_accelerators(),
        raises(_resolvers(tf).SimpleClusterResolver, {"ps": ["p:1"]}),
        raises(_simple, tf, {}, master=5),
        raises(made.master, "chief", 0),
    ]


_CONFIGS = {
    "nothing": {},
    "one task": {"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}},
    "cluster": {
        "cluster": {"ps": ["p:1"], "worker": ["a:1", "b:2"]},
        "task": {"type": "worker", "index": "1"},
        "rpc_layer": "grpc",
    },
    "master": {"cluster": {"worker": ["a:1", "b:2"]}, "session_master": "grpc://m:9", "task": {}},
}


@cases({key: (key,) for key in _CONFIGS})
def tf_config_resolver(tf, np, key):
    with _Environment(TF_CONFIG=json.dumps(_CONFIGS[key])):
        made = _resolvers(tf).TFConfigClusterResolver()
        found = [_described(made)]
        if key == "cluster":
            found.append(made.master("ps", 0))
            given = _resolvers(tf).TFConfigClusterResolver("ps", 0, rpc_layer="zmq", environment="here")
            found.append(_described(given))
            made.task_type, made.task_id = "worker", 0
            found.append(_described(made))
    return found


def union_of_resolvers(tf, np):
    union = _resolvers(tf).UnionResolver
    lists = [_simple(tf, {"worker": ["a:1"]}, master="m:1", task_type="worker", task_id=0, rpc_layer="grpc"),
             _simple(tf, {"worker": ["b:1", "c:1"], "ps": ["p:1"]})]  # fmt: skip
    gaps = [_simple(tf, {"worker": {3: "d:1"}}), lists[0]]
    clash = [_simple(tf, {"worker": {0: "d:1", 5: "e:1"}}), lists[0]]
    made = union(*lists, task_type="ps", task_id=1, rpc_layer="zmq")
    found = [
        _described(union(*lists), ("worker", 2)),
        _described(made),
        union(*gaps).cluster_spec().as_dict(),
    ]
    made.task_type, made.task_id, made.rpc_layer = "worker", 2, "grpc"
    return found + [
        _described(made),
        raises(union(*clash).cluster_spec),
        raises(union),
        raises(union, tf.train.ClusterSpec({})),
        raises(union, lists[0], other=5),
    ]


@cases("0", "2", "3")
def slurm_resolver(tf, np, rank):
    class Slurm(_resolvers(tf).SlurmClusterResolver):
        def _resolve_hostnames(self):
            return ["n1", "n2"]

    with _Environment(SLURM_PROCID=rank, SLURM_NTASKS="4", SLURM_NTASKS_PER_NODE="2"):
        made = Slurm({"worker": 3, "ps": 1}, port_base=7000, gpus_per_node=4, gpus_per_task=2)
        before = [made.get_task_info(), made.master()]
        found = [_described(made, ("worker", 2)), made.get_task_info(), os.environ["CUDA_VISIBLE_DEVICES"]]
        return (
            before
            + found
            + [
                made.num_accelerators(),
                raises(Slurm, {"worker": 3}),
                raises(Slurm, {"worker": 4}, gpus_per_node=1),
            ]
        )


class _Pods:
    """A client of Kubernetes that knows some pods."""

    def __init__(self, phase):
        self._phase = phase

    def list_pod_for_all_namespaces(self, label_selector):
        class Any:
            pass

        found = Any()
        found.items = []
        for name in ("b", "a"):
            pod = Any()
            pod.metadata, pod.status = Any(), Any()
            pod.metadata.name = name
            pod.status.phase, pod.status.host_ip = self._phase, "%s.%s" % (label_selector, name)
            found.items.append(pod)
        return found


def kubernetes_resolver(tf, np):
    resolver = _resolvers(tf).KubernetesClusterResolver
    made = resolver({"worker": ["x", "y"], "ps": ["z"]}, tf_server_port=90, override_client=_Pods("Running"))
    found = [
        _described(made, ("worker", 3)),
        resolver(override_client=_Pods("Running")).cluster_spec().as_dict(),
    ]
    made.task_type, made.task_id = "ps", 1
    return found + [_described(made), raises(resolver(override_client=_Pods("Failed")).cluster_spec)]


_TPUS = {
    "none": "",
    "local": "local",
    "this machine": "localhost:8470",
    "address": "grpc://10.0.0.1:8470",
    "list": ["grpc://10.0.0.1:8470"],
    "no bytes": b"",
}


@cases({key: (key,) for key in _TPUS})
def tpu_resolver(tf, np, key):
    made = _resolvers(tf).TPUClusterResolver(_TPUS[key], coordinator_name="c", coordinator_address="c:1")
    cluster = made.cluster_spec()
    return [
        cluster and cluster.as_dict(),
        made.master(),
        made.get_master(),
        made.task_type,
        made.task_id,
        made.rpc_layer,
        made.environment,
    ]


def tpu_resolvers_refused(tf, np):
    resolver = _resolvers(tf).TPUClusterResolver
    return [raises(resolver), raises(resolver, [])]
