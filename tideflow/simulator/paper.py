"""What the OSDI 2016 paper says of its own cluster, as its text has it: Abadi et al., "TensorFlow: A System
for Large-Scale Machine Learning", section 6.

Only numbers of the text are here. Its figures have more points, which are not published as numbers.
"""

from __future__ import annotations

NULL_STEP_SERVERS = 16
NULL_STEP_SECONDS = {  # (curve, workers) -> seconds, medians
    ("scalar", 1): 1.8e-3,
    ("scalar", 100): 8.8e-3,
    ("dense 100 MB", 1): 147e-3,
    ("dense 100 MB", 100): 613e-3,
    ("dense 1 GB", 1): 1.01,
    ("dense 1 GB", 100): 7.16,
}
SPARSE_SECONDS = (5e-3, 20e-3)  # the range over all workers, for 1 GB as for 16 GB

INCEPTION_SERVERS = 17
INCEPTION_WORKERS = 200
INCEPTION_IMAGES_PER_SECOND = 2300.0  # with so many workers
SYNCHRONOUS_OVER_ASYNCHRONOUS = 1.10  # of median steps, "approximately"

BACKUP_WORKERS_NEEDED = 50
BEST_BACKUPS = 4  # for the shortest step; a fifth makes it slightly longer
BEST_BACKUPS_SECONDS = 1.93
BEST_NORMALIZED_BACKUPS = 3
BEST_NORMALIZED_SPEEDUP = 1.095  # t(0)/t(3) x 50/53
