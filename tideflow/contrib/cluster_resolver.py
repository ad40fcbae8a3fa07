"""tf.contrib.cluster_resolver: the resolvers of tf.distribute.cluster_resolver, by their first names."""

from __future__ import annotations

from tideflow.cluster import (
    resolvers,
    tpu_resolver,  # noqa: F401 - it exports its own name here
)
from tideflow.export import expose

for _name in (
    "ClusterResolver GCEClusterResolver KubernetesClusterResolver SimpleClusterResolver SlurmClusterResolver "
    "TFConfigClusterResolver UnionClusterResolver"
).split():
    expose(getattr(resolvers, _name), f"contrib.cluster_resolver.{_name}")
