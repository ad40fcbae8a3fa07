# Written by `python -m tideflow.programs.stubs`.

from tideflow.ops.sparse.sets import set_difference as _difference
from tideflow.ops.sparse.sets import set_difference as set_difference
from tideflow.ops.sparse.sets import set_intersection as _intersection
from tideflow.ops.sparse.sets import set_intersection as set_intersection
from tideflow.ops.sparse.sets import set_size as _size
from tideflow.ops.sparse.sets import set_size as set_size
from tideflow.ops.sparse.sets import set_union as _union
from tideflow.ops.sparse.sets import set_union as set_union

difference = _difference
intersection = _intersection
size = _size
union = _union
