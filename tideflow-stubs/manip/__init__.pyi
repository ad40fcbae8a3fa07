# Written by `python -m tideflow.programs.stubs`.

from tideflow.ops.arrays.blocks import batch_to_space_nd as batch_to_space_nd
from tideflow.ops.arrays.blocks import space_to_batch_nd as space_to_batch_nd
from tideflow.ops.arrays.indexing import gather_nd as gather_nd
from tideflow.ops.arrays.rolling import roll as roll
from tideflow.ops.arrays.scatter import scatter_nd as scatter_nd
from tideflow.ops.arrays.shapes import reshape as reshape
from tideflow.ops.arrays.tiling import reverse as reverse
from tideflow.ops.arrays.tiling import tile as tile
