"""A training job that counts: `train_counting.py DIRECTORY STEPS`, its place in the cluster in TF_CONFIG."""

import json
import os
import sys

import tideflow as tf

directory, steps = sys.argv[1], int(sys.argv[2])
place = json.loads(os.environ["TF_CONFIG"])
job, index = place["task"]["type"], place["task"]["index"]
cluster = tf.train.ClusterSpec(place["cluster"])
server = tf.train.Server(cluster, job_name=job, task_index=index)
if job == "ps":
    server.join()
    sys.exit(0)

with tf.device(tf.train.replica_device_setter(cluster=cluster, worker_device=f"/job:worker/task:{index}")):
    step = tf.train.get_or_create_global_step()
    total = tf.get_variable("total", [1000], initializer=tf.zeros_initializer())
    train = tf.group(
        total.assign_add(tf.ones([1000]), use_locking=True), step.assign_add(1, use_locking=True)
    )

config = tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{index}"])
with tf.train.MonitoredTrainingSession(
    master=server.target,
    is_chief=index == 0,
    checkpoint_dir=directory,
    save_checkpoint_steps=20,
    save_checkpoint_secs=None,
    save_summaries_steps=None,
    save_summaries_secs=None,
    log_step_count_steps=None,
    hooks=[tf.train.StopAtStepHook(last_step=steps)],
    config=config,
    max_wait_secs=60,
) as session:
    while not session.should_stop():
        session.run(train)
