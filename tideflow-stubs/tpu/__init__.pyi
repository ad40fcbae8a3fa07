# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.tpu.computations import batch_parallel as batch_parallel
from tideflow.contrib.tpu.computations import bfloat16_scope as bfloat16_scope
from tideflow.contrib.tpu.computations import core as core
from tideflow.contrib.tpu.computations import cross_replica_sum as cross_replica_sum
from tideflow.contrib.tpu.computations import outside_compilation as outside_compilation
from tideflow.contrib.tpu.computations import replicate as replicate
from tideflow.contrib.tpu.computations import rewrite as rewrite
from tideflow.contrib.tpu.computations import shard as shard
from tideflow.contrib.tpu.optimizers import CrossShardOptimizer as CrossShardOptimizer
