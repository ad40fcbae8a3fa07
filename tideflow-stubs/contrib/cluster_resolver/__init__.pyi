# Written by `python -m tideflow.programs.stubs`.

from tideflow.cluster.resolvers import ClusterResolver as ClusterResolver
from tideflow.cluster.resolvers import GCEClusterResolver as GCEClusterResolver
from tideflow.cluster.resolvers import KubernetesClusterResolver as KubernetesClusterResolver
from tideflow.cluster.resolvers import SimpleClusterResolver as SimpleClusterResolver
from tideflow.cluster.resolvers import SlurmClusterResolver as SlurmClusterResolver
from tideflow.cluster.resolvers import TFConfigClusterResolver as TFConfigClusterResolver
from tideflow.cluster.resolvers import UnionClusterResolver as UnionClusterResolver
from tideflow.cluster.tpu_resolver import TPUClusterResolver as TPUClusterResolver
