"""tf.contrib.nearest_neighbor: buckets to look into for the neighbours of points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.ops.nn.hyperplane_probes import hyperplane_lsh_probes_op

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("contrib.nearest_neighbor.hyperplane_lsh_probes")
def hyperplane_lsh_probes(
    point_hyperplane_product: TensorLike,
    num_tables: TensorLike,
    num_hyperplanes_per_table: TensorLike,
    num_probes: TensorLike,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Says in which buckets of hash tables the neighbours of points are likely to be.

    A table's bucket is a number whose bits say on which side of the table's hyperplanes a point lies. The
    first probes are a point's own buckets, one of each table; the next are those that lie nearest to it.

    Args:
      point_hyperplane_product: Inner products of points and hyperplanes, float32 or float64,
        [points, num_tables * num_hyperplanes_per_table].
      num_tables: The number of tables.
      num_hyperplanes_per_table: The number of hyperplanes of a table, 30 at most.
      num_probes: The number of buckets for each point.
      name: A name for the operation.

    Returns:
      The buckets and the tables that they are in, both int32, [points, num_probes].

    Raises:
      InvalidArgumentError: In a step whose sizes do not fit.
      InternalError: In a step that asks for more probes than there are buckets.
    """
    return hyperplane_lsh_probes_op(
        point_hyperplane_product, num_tables, num_hyperplanes_per_table, num_probes, name=name
    )
