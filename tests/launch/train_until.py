"""A training job that counts until the file `enough` is in its directory: `train_until.py DIRECTORY`."""

import json
import os
import sys
import time
from pathlib import Path

import tensorflow as tf

directory = Path(sys.argv[1])
place = json.loads(os.environ["TF_CONFIG"])
job, index = place["task"]["type"], place["task"]["index"]
cluster = tf.train.ClusterSpec(place["cluster"])
server = tf.train.Server(cluster, job_name=job, task_index=index)
if job == "ps":
    server.join()
    sys.exit(0)

with tf.device(tf.train.replica_device_setter(cluster=cluster, worker_device=f"/job:worker/task:{index}")):
    step = tf.train.get_or_create_global_step()
    train = step.assign_add(1, use_locking=True)

with tf.train.MonitoredTrainingSession(
    master=server.target,
    is_chief=index == 0,
    checkpoint_dir=str(directory),
    save_checkpoint_steps=20,
    save_checkpoint_secs=None,
    save_summaries_steps=None,
    save_summaries_secs=None,
    log_step_count_steps=None,
    config=tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{index}"]),
    stop_grace_period_secs=1,
    max_wait_secs=60,
) as session:
    taken = 0
    while not session.should_stop() and not (directory / "enough").exists():
        reached = session.run(train)
        if taken % 10 == 0:
            print(f"step {reached} of {len(place['cluster']['worker'])} workers", flush=True)
        taken += 1
        time.sleep(0.02)
