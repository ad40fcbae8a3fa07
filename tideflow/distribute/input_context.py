"""What a function of inputs should know."""

from __future__ import annotations

import enum

from tideflow.export import export


@export("distribute.InputReplicationMode")
class InputReplicationMode(enum.Enum):
    """How a function of inputs is called.

    Attributes:
      PER_WORKER: Once for each worker; its replicas share what it gives.
    """

    PER_WORKER = "PER_WORKER"


@export("distribute.InputContext")
class InputContext:
    """What a function of inputs should know.

    Args:
      num_input_pipelines: The number of input pipelines.
      input_pipeline_id: Which of them this is.
      num_replicas_in_sync: The number of replicas that share a step.
    """

    def __init__(
        self, num_input_pipelines: int = 1, input_pipeline_id: int = 0, num_replicas_in_sync: int = 1
    ):
        self._num_input_pipelines = num_input_pipelines
        self._input_pipeline_id = input_pipeline_id
        self._num_replicas_in_sync = num_replicas_in_sync

    @property
    def num_replicas_in_sync(self) -> int:
        """The number of replicas that share a step."""
        return self._num_replicas_in_sync

    @property
    def input_pipeline_id(self) -> int:
        """Which of the input pipelines this is."""
        return self._input_pipeline_id

    @property
    def num_input_pipelines(self) -> int:
        """The number of input pipelines."""
        return self._num_input_pipelines

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """Computes a replica's share of a batch.

        Args:
          global_batch_size: The size of the batch of all replicas.

        Returns:
          The size of one replica's batch.

        Raises:
          ValueError: If the batch cannot be divided evenly.
        """
        if global_batch_size % self._num_replicas_in_sync:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size} is not divisible by `num_replicas_in_sync` "
                f"{self._num_replicas_in_sync} "
            )
        return global_batch_size // self._num_replicas_in_sync
