# Written by `python -m tideflow.programs.stubs`.

from tideflow.ops.images.regions import bipartite_match as bipartite_match
from tideflow.ops.images.warps import flat_transforms_to_matrices as flat_transforms_to_matrices
from tideflow.ops.images.warps import matrices_to_flat_transforms as matrices_to_flat_transforms
