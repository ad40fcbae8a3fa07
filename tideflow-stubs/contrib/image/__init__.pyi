# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.image.components import connected_components as connected_components
from tideflow.contrib.image.projections import angles_to_projective_transforms as angles_to_projective_transforms
from tideflow.contrib.image.projections import compose_transforms as compose_transforms
from tideflow.contrib.image.projections import rotate as rotate
from tideflow.contrib.image.projections import transform as transform
from tideflow.contrib.image.projections import translate as translate
from tideflow.contrib.image.projections import translations_to_projective_transforms as translations_to_projective_transforms
from tideflow.contrib.image.splines import interpolate_spline as interpolate_spline
from tideflow.contrib.image.warping import dense_image_warp as dense_image_warp
from tideflow.contrib.image.warping import sparse_image_warp as sparse_image_warp
from tideflow.ops.images.regions import bipartite_match as bipartite_match
from tideflow.ops.images.stereograms import single_image_random_dot_stereograms as single_image_random_dot_stereograms
from tideflow.ops.images.warps import flat_transforms_to_matrices as flat_transforms_to_matrices
from tideflow.ops.images.warps import matrices_to_flat_transforms as matrices_to_flat_transforms
