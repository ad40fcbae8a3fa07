"""tf.distribute.experimental.TPUStrategy: a class to compare types with, as programs for TPUs and GPUs do."""

from __future__ import annotations

from typing import Any

from tideflow.distribute.strategy import Strategy
from tideflow.export import export


@export("distribute.experimental.TPUStrategy", "contrib.distribute.TPUStrategy")
class TPUStrategy(Strategy):
    """Trains on the cores of a TPU, of which there are none here: making one fails.

    Args:
      tpu_cluster_resolver: A resolver that finds the TPU.
      steps_per_run: The number of steps between two returns to the program.
      device_assignment: Where replicas are placed.

    Raises:
      RuntimeError: Always.
    """

    def __init__(
        self,
        tpu_cluster_resolver: Any = None,
        steps_per_run: int | None = None,
        device_assignment: Any = None,
    ):
        raise RuntimeError(
            "Cannot find any TPU cores in the system. Tideflow runs on CPUs and GPUs, not on TPUs: "
            "tf.distribute.MirroredStrategy uses the GPUs of this machine, "
            "tf.distribute.experimental.MultiWorkerMirroredStrategy those of several."
        )
