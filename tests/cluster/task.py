"""A task that serves: `task.py CLUSTER JOB INDEX [OP_LIBRARY…]`. It says when it listens, and ends when its
input does.
"""

import json
import sys

import tideflow as tf

cluster, job, index = json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3])
for library in sys.argv[4:]:
    tf.load_op_library(library)
server = tf.train.Server(cluster, job_name=job, task_index=index)
print("ready", flush=True)
sys.stdin.read()
server.stop()
