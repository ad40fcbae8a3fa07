"""Monitored training in a cluster: workers wait for the chief, and everybody ends at the same step."""

import threading

import tideflow as tf
from tests.cluster.clusters import servers

LAST_STEP = 20
PATIENCE = 60


def _train(task, target, folder, told):
    with tf.Graph().as_default():
        place = f"/job:worker/task:{task}"
        with tf.device(tf.train.replica_device_setter(ps_tasks=1, worker_device=place)):
            step = tf.train.get_or_create_global_step()
            total = tf.get_variable("total", [3], initializer=tf.zeros_initializer(), use_resource=True)
            with tf.control_dependencies([tf.assign_add(total, tf.ones([3]))]):
                train = tf.assign_add(step, 1)
        with tf.train.MonitoredTrainingSession(
            master=target,
            is_chief=task == 0,
            checkpoint_dir=folder,
            save_checkpoint_steps=5,
            hooks=[tf.train.StopAtStepHook(last_step=LAST_STEP)],
            config=tf.ConfigProto(device_filters=["/job:ps", place]),
            max_wait_secs=PATIENCE,
        ) as session:
            while not session.should_stop():
                session.run(train)
                told.append(task)


def test_workers_wait_for_the_chief_and_stop_together(tmp_path):
    folder, told = str(tmp_path), []
    with servers(ps=1, worker=2) as made:
        threads = [
            threading.Thread(target=_train, args=(task, made["worker", task].target, folder, told))
            for task in (1, 0)  # the worker comes first
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        assert not any(thread.is_alive() for thread in threads)
    tf.summary.FileWriterCache.clear()
    newest = tf.train.latest_checkpoint(folder)
    step = int(tf.train.load_variable(newest, "global_step"))
    assert LAST_STEP <= step <= len(told), "steps are made by both, and counted once"
    assert set(told) == {0, 1}
