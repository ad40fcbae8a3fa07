"""Many processes: which tasks a cluster has, and how they work on one graph."""

from tideflow.cluster import client, cluster_spec, device_setter, local_cluster, resolvers, server  # noqa: F401
