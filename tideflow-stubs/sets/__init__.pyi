# Written by `python -m tideflow.programs.stubs`.

from tideflow.ops.sparse.sets import set_difference as difference
from tideflow.ops.sparse.sets import set_difference as set_difference
from tideflow.ops.sparse.sets import set_intersection as intersection
from tideflow.ops.sparse.sets import set_intersection as set_intersection
from tideflow.ops.sparse.sets import set_size as set_size
from tideflow.ops.sparse.sets import set_size as size
from tideflow.ops.sparse.sets import set_union as set_union
from tideflow.ops.sparse.sets import set_union as union
