"""Examples of tf.train: optimizers, learning rates, checkpoints, monitored sessions, hooks and input."""

import threading

import tideflow as tf

# %% tf.train.Optimizer, tf.train.GradientDescentOptimizer
w = tf.get_variable("w", initializer=5.0)
optimizer = tf.train.GradientDescentOptimizer(learning_rate=0.1)
step = optimizer.minimize(tf.square(w))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        sess.run(step)
    print(sess.run(w))

# %% tf.train.AdamOptimizer
w = tf.get_variable("w", initializer=5.0)
optimizer = tf.train.AdamOptimizer(0.1)
gradients = optimizer.compute_gradients(tf.square(w))
step = optimizer.apply_gradients([(tf.clip_by_value(g, -1.0, 1.0), v) for g, v in gradients])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(step)
    print(sess.run(w), optimizer.get_slot_names())

# %% tf.train.MomentumOptimizer
w = tf.get_variable("w", initializer=5.0)
step = tf.train.MomentumOptimizer(0.1, momentum=0.9, use_nesterov=True).minimize(tf.square(w))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(step)
    print(sess.run(w))

# %% tf.train.AdagradOptimizer
w = tf.get_variable("w", initializer=5.0)
step = tf.train.AdagradOptimizer(0.1).minimize(tf.square(w))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(step)
    print(sess.run(w))

# %% tf.train.AdagradDAOptimizer
w = tf.get_variable("w", initializer=5.0)
global_step = tf.train.get_or_create_global_step()
step = tf.train.AdagradDAOptimizer(0.1, global_step).minimize(tf.square(w), global_step=global_step)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(step)
    print(sess.run(w))

# %% tf.train.AdadeltaOptimizer
w = tf.get_variable("w", initializer=5.0)
step = tf.train.AdadeltaOptimizer(1.0).minimize(tf.square(w))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(step)
    print(sess.run(w))

# %% tf.train.RMSPropOptimizer
w = tf.get_variable("w", initializer=5.0)
step = tf.train.RMSPropOptimizer(0.1, decay=0.9, centered=True).minimize(tf.square(w))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(step)
    print(sess.run(w))

# %% tf.train.FtrlOptimizer
w = tf.get_variable("w", initializer=5.0)
step = tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01).minimize(tf.square(w))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(step)
    print(sess.run(w))

# %% tf.train.ProximalGradientDescentOptimizer, tf.train.ProximalAdagradOptimizer
w = tf.get_variable("w", initializer=5.0)
step = tf.train.ProximalGradientDescentOptimizer(0.1, l2_regularization_strength=0.01).minimize(tf.square(w))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(step)
    print(sess.run(w))

# %% tf.train.SyncReplicasOptimizer
w = tf.get_variable("w", initializer=5.0)
optimizer = tf.train.SyncReplicasOptimizer(
    tf.train.GradientDescentOptimizer(0.1), replicas_to_aggregate=2, total_num_replicas=2
)
step = optimizer.minimize(tf.square(w), global_step=tf.train.get_or_create_global_step())
hook = optimizer.make_session_run_hook(is_chief=True)  # for MonitoredTrainingSession
print(type(hook).__name__)

# %% tf.train.ExponentialMovingAverage
w = tf.get_variable("w", initializer=1.0)
averages = tf.train.ExponentialMovingAverage(decay=0.9)
keep = averages.apply([w])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(w.assign(2.0))
    sess.run(keep)
    print(sess.run(averages.average(w)), averages.average_name(w))

# %% tf.train.experimental.LossScale, tf.train.experimental.FixedLossScale,
# %% tf.train.experimental.DynamicLossScale
fixed = tf.train.experimental.FixedLossScale(128.0)
dynamic = tf.train.experimental.DynamicLossScale(initial_loss_scale=1024.0)
print(isinstance(fixed, tf.train.experimental.LossScale))
fixed(), dynamic()

# %% tf.train.experimental.MixedPrecisionLossScaleOptimizer
w = tf.get_variable("w", initializer=5.0)
optimizer = tf.train.GradientDescentOptimizer(0.1)
optimizer = tf.train.experimental.MixedPrecisionLossScaleOptimizer(optimizer, 128.0)
step = optimizer.minimize(tf.square(w))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(step)
    print(sess.run(w))


# %% tf.train.experimental.PythonState
class Epoch(tf.train.experimental.PythonState):
    """A Python value that goes into checkpoints."""

    value = 3

    def serialize(self):
        return str(self.value)

    def deserialize(self, text):
        self.value = int(text)


epoch = Epoch()
checkpoint = tf.train.Checkpoint(epoch=epoch)
with tf.Session() as sess:
    path = checkpoint.save("model", session=sess)
    epoch.value = 0
    checkpoint.restore(path).run_restore_ops(sess)
print(epoch.value)

# %% tf.train.exponential_decay, tf.train.natural_exp_decay, tf.train.inverse_time_decay
step = tf.constant(100)
decays = (tf.train.exponential_decay, tf.train.natural_exp_decay, tf.train.inverse_time_decay)
tuple(decay(0.1, step, decay_steps=100, decay_rate=0.5) for decay in decays)

# %% tf.train.polynomial_decay
tf.train.polynomial_decay(0.1, tf.constant(50), decay_steps=100, end_learning_rate=0.01)

# %% tf.train.piecewise_constant
tf.train.piecewise_constant(tf.constant(150), boundaries=[100, 200], values=[0.1, 0.01, 0.001])

# %% tf.train.cosine_decay, tf.train.linear_cosine_decay
step = tf.constant(50)
tf.train.cosine_decay(0.1, step, decay_steps=100), tf.train.linear_cosine_decay(0.1, step, decay_steps=100)

# %% tf.train.cosine_decay_restarts
tf.train.cosine_decay_restarts(0.1, tf.constant(150), first_decay_steps=100)

# %% tf.train.noisy_linear_cosine_decay
rate = tf.train.noisy_linear_cosine_decay(0.1, tf.constant(50), decay_steps=100)
tf.greater(rate, 0.0)

# %% tf.train.get_or_create_global_step, tf.train.get_global_step, tf.train.create_global_step
step = tf.train.get_or_create_global_step()
print(step.name, tf.train.get_global_step() is step)

# %% tf.train.global_step
step = tf.train.create_global_step()
with tf.Session() as sess:
    sess.run(step.initializer)
    print(tf.train.global_step(sess, step))

# %% tf.train.assert_global_step
tf.train.assert_global_step(tf.get_variable("step", initializer=0, trainable=False))
try:
    tf.train.assert_global_step(tf.constant(0.5))
except TypeError as error:
    print(error)

# %% tf.train.Saver, tf.train.latest_checkpoint
w = tf.get_variable("w", initializer=[1.0, 2.0])
saver = tf.train.Saver(max_to_keep=3)
with tf.Session() as sess:
    sess.run(w.initializer)
    saver.save(sess, "model.ckpt", global_step=7)
with tf.Session() as sess:
    saver.restore(sess, tf.train.latest_checkpoint("."))
    print(sess.run(w))
    print(saver.plan_restore("model.ckpt-7"))

# %% tf.train.checkpoint_exists, tf.train.get_checkpoint_mtimes, tf.train.remove_checkpoint
tf.get_variable("w", initializer=1.0)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    path = tf.train.Saver().save(sess, "model.ckpt")
print(tf.train.checkpoint_exists(path), len(tf.train.get_checkpoint_mtimes([path])))
tf.train.remove_checkpoint(path)
print(tf.train.checkpoint_exists(path))

# %% tf.train.get_checkpoint_state, tf.train.update_checkpoint_state,
# %% tf.train.generate_checkpoint_state_proto
tf.train.update_checkpoint_state(
    ".", "model.ckpt-2", all_model_checkpoint_paths=["model.ckpt-1", "model.ckpt-2"]
)
print(tf.train.get_checkpoint_state(".").model_checkpoint_path)
print(tf.train.generate_checkpoint_state_proto(".", "model.ckpt-2").model_checkpoint_path)

# %% tf.train.list_variables, tf.train.load_variable, tf.train.load_checkpoint, tf.train.NewCheckpointReader
tf.get_variable("w", initializer=[1.0, 2.0])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    path = tf.train.Saver().save(sess, "model.ckpt")
print(tf.train.list_variables(path))
print(tf.train.load_variable(path, "w"))
print(tf.train.load_checkpoint(path).get_variable_to_shape_map())

# %% tf.train.init_from_checkpoint
w = tf.get_variable("w", initializer=[1.0, 2.0])
with tf.Session() as sess:
    sess.run(w.initializer)
    path = tf.train.Saver().save(sess, "model.ckpt")
with tf.Graph().as_default():
    v = tf.get_variable("encoder/w", [2])
    tf.train.init_from_checkpoint(path, {"w": "encoder/w"})
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        print(sess.run(v))

# %% tf.train.warm_start, tf.train.VocabInfo
w = tf.get_variable("w", initializer=[1.0, 2.0])
with tf.Session() as sess:
    sess.run(w.initializer)
    path = tf.train.Saver().save(sess, "model.ckpt")
with tf.Graph().as_default(), tf.Session() as sess:
    v = tf.get_variable("w", [2])
    tf.train.warm_start(path, vars_to_warm_start="w")
    sess.run(tf.global_variables_initializer())
    print(sess.run(v))

# %% tf.train.Checkpoint
w = tf.Variable([1.0, 2.0], use_resource=True)
checkpoint = tf.train.Checkpoint(weights=w)
with tf.Session() as sess:
    sess.run(w.initializer)
    path = checkpoint.save("model", session=sess)
    sess.run(w.assign([0.0, 0.0]))
    checkpoint.restore(path).assert_consumed().run_restore_ops(sess)
    print(path, sess.run(w))

# %% tf.train.CheckpointManager
step = tf.train.get_or_create_global_step()
manager = tf.train.CheckpointManager(tf.train.Checkpoint(step=step), "saved", max_to_keep=2)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    with sess.as_default():
        for _ in range(3):
            manager.save()
print([path.rpartition("/")[2] for path in manager.checkpoints])

# %% tf.train.checkpoints_iterator
tf.get_variable("w", initializer=1.0)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    tf.train.Saver().save(sess, "./model.ckpt", global_step=1)
for path in tf.train.checkpoints_iterator(".", timeout=0):  # waits for new ones; here, not at all
    print(path)

# %% tf.train.export_meta_graph, tf.train.import_meta_graph
w = tf.get_variable("w", initializer=3.0)
saver = tf.train.Saver()
with tf.Session() as sess:
    sess.run(w.initializer)
    saver.save(sess, "model.ckpt")
tf.train.export_meta_graph("model.meta")
with tf.Graph().as_default(), tf.Session() as sess:
    tf.train.import_meta_graph("model.ckpt.meta").restore(sess, "model.ckpt")
    print(sess.run("w:0"))

# %% tf.train.write_graph
tf.constant(1.0, name="one")
print(tf.train.write_graph(tf.get_default_graph(), ".", "graph.pbtxt"))
print(open("graph.pbtxt").read().split()[:4])

# %% tf.train.MonitoredTrainingSession
step = tf.train.get_or_create_global_step()
count = tf.assign_add(step, 1)
hooks = [tf.train.StopAtStepHook(last_step=3)]
with tf.train.MonitoredTrainingSession(checkpoint_dir="run", hooks=hooks, log_step_count_steps=None) as sess:
    while not sess.should_stop():
        print(sess.run(count))
print(tf.train.latest_checkpoint("run"))

# %% tf.train.MonitoredSession, tf.train.ChiefSessionCreator, tf.train.Scaffold
w = tf.get_variable("w", initializer=2.0)
creator = tf.train.ChiefSessionCreator(scaffold=tf.train.Scaffold())
with tf.train.MonitoredSession(session_creator=creator) as sess:
    print(sess.run(w))

# %% tf.train.SingularMonitoredSession
w = tf.get_variable("w", initializer=2.0)
with tf.train.SingularMonitoredSession() as sess:
    print(sess.run(w))


# %% tf.train.SessionCreator, tf.train.WorkerSessionCreator
class Plain(tf.train.SessionCreator):
    def create_session(self):
        return tf.Session()


with tf.train.MonitoredSession(session_creator=Plain()) as sess:
    print(sess.run(tf.constant(1.0)))

# %% tf.train.SessionManager
w = tf.get_variable("w", initializer=2.0)
manager = tf.train.SessionManager()
with manager.prepare_session("", init_op=tf.global_variables_initializer()) as sess:
    print(sess.run(w))


# %% tf.train.SessionRunHook, tf.train.SessionRunArgs, tf.train.SessionRunContext, tf.train.SessionRunValues
class ShowLoss(tf.train.SessionRunHook):
    def before_run(self, context):
        return tf.train.SessionRunArgs({"loss": loss})  # is fetched, too

    def after_run(self, context, values):
        print("loss", values.results["loss"])
        context.request_stop()


loss, step = tf.constant(0.5), tf.no_op()
with tf.train.MonitoredSession(hooks=[ShowLoss()]) as sess:
    while not sess.should_stop():
        sess.run(step)

# %% tf.train.StopAtStepHook
count = tf.assign_add(tf.train.get_or_create_global_step(), 1)
with tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(num_steps=2)]) as sess:
    while not sess.should_stop():
        print(sess.run(count))

# %% tf.train.LoggingTensorHook, tf.train.StepCounterHook
count = tf.assign_add(tf.train.get_or_create_global_step(), 1)
hooks = [
    tf.train.LoggingTensorHook({"step": count}, every_n_iter=1),
    tf.train.StepCounterHook(every_n_steps=100),
]
with tf.train.MonitoredSession(hooks=hooks) as sess:
    print(sess.run(count))


# %% tf.train.CheckpointSaverHook, tf.train.CheckpointSaverListener
class Told(tf.train.CheckpointSaverListener):
    def after_save(self, session, global_step_value):
        print("saved at step", global_step_value)


count = tf.assign_add(tf.train.get_or_create_global_step(), 1)
hook = tf.train.CheckpointSaverHook("run", save_steps=2, listeners=[Told()])
with tf.train.MonitoredSession(hooks=[hook]) as sess:
    for _ in range(3):
        sess.run(count)

# %% tf.train.SummarySaverHook
count = tf.assign_add(tf.train.get_or_create_global_step(), 1)
summary = tf.summary.scalar("twice", 2 * count)
hook = tf.train.SummarySaverHook(save_steps=1, output_dir="logs", summary_op=summary)
with tf.train.MonitoredSession(hooks=[hook]) as sess:
    sess.run(count)
print(len(tf.gfile.ListDirectory("logs")))

# %% tf.train.NanTensorHook, tf.train.NanLossDuringTrainingError
loss = tf.log(tf.placeholder_with_default(-1.0, []))
try:
    with tf.train.MonitoredSession(hooks=[tf.train.NanTensorHook(loss)]) as sess:
        sess.run(loss)
except tf.train.NanLossDuringTrainingError as error:
    print(error)

# %% tf.train.FeedFnHook
x = tf.placeholder(tf.float32)
double = 2 * x
with tf.train.MonitoredSession(hooks=[tf.train.FeedFnHook(lambda: {x: 3.0})]) as sess:
    print(sess.run(double))

# %% tf.train.FinalOpsHook
w = tf.get_variable("w", initializer=1.0)
change = w.assign(9.0)
hook = tf.train.FinalOpsHook(final_ops=w.read_value())
with tf.train.MonitoredSession(hooks=[hook]) as sess:
    sess.run(change)
print(hook.final_ops_values)

# %% tf.train.GlobalStepWaiterHook
count = tf.assign_add(tf.train.get_or_create_global_step(), 1)
with tf.train.MonitoredSession(hooks=[tf.train.GlobalStepWaiterHook(wait_until_step=0)]) as sess:
    print(sess.run(count))

# %% tf.train.ProfilerHook
count = tf.assign_add(tf.train.get_or_create_global_step(), 1)
with tf.train.MonitoredSession(hooks=[tf.train.ProfilerHook(save_steps=1, output_dir="profile")]) as sess:
    for _ in range(2):
        sess.run(count)
print("timeline-1.json" in tf.gfile.ListDirectory("profile"))

# %% tf.train.SecondOrStepTimer
timer = tf.train.SecondOrStepTimer(every_steps=10)
print(timer.should_trigger_for_step(1), timer.update_last_triggered_step(1))
print(timer.should_trigger_for_step(5), timer.should_trigger_for_step(11))

# %% tf.train.Supervisor
w = tf.get_variable("w", initializer=4.0)
supervisor = tf.train.Supervisor(logdir="run", save_model_secs=0)
with supervisor.managed_session() as sess:
    print(sess.run(w))

# %% tf.train.basic_train_loop
step = tf.train.get_or_create_global_step()
supervisor = tf.train.Supervisor(logdir="run", save_model_secs=0)


def train(sess):
    print("at step", sess.run(step))
    supervisor.request_stop()


tf.train.basic_train_loop(supervisor, train)

# %% tf.train.Coordinator
coordinator = tf.train.Coordinator()


def work():
    while not coordinator.should_stop():
        coordinator.request_stop()


threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
coordinator.join(threads)
print(coordinator.should_stop())


# %% tf.train.LooperThread
class Tick(tf.train.LooperThread):
    def run_loop(self):
        print("tick")
        self._coord.request_stop()


coordinator = tf.train.Coordinator()
thread = Tick(coordinator, timer_interval_secs=0.01)
thread.start()
coordinator.join([thread])

# %% tf.train.QueueRunner, tf.train.add_queue_runner, tf.train.start_queue_runners
queue = tf.FIFOQueue(10, tf.float32, shapes=[[]])
tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(1.0)] * 2))  # two threads
x = queue.dequeue_many(5)
with tf.Session() as sess, tf.train.Coordinator() as coordinator:
    tf.train.start_queue_runners(sess, coordinator)
    print(sess.run(x))
    coordinator.request_stop()

# %% tf.train.batch, tf.train.maybe_batch
number = tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue()
numbers = tf.train.batch([number], batch_size=3)
with tf.train.MonitoredSession() as sess:
    print(sess.run(numbers), sess.run(numbers))

# %% tf.train.batch_join, tf.train.maybe_batch_join
numbers = tf.train.batch_join([[tf.constant(1)], [tf.constant(1)]], batch_size=3)  # two threads
with tf.train.MonitoredSession() as sess:
    print(sess.run(numbers))

# %% tf.train.shuffle_batch, tf.train.maybe_shuffle_batch
number = tf.train.range_input_producer(100, shuffle=False).dequeue()
numbers = tf.train.shuffle_batch([number], batch_size=4, capacity=50, min_after_dequeue=10, seed=1)
with tf.train.MonitoredSession() as sess:
    print(sess.run(numbers).shape)

# %% tf.train.shuffle_batch_join, tf.train.maybe_shuffle_batch_join
number = tf.train.range_input_producer(100).dequeue()
numbers = tf.train.shuffle_batch_join([[number], [number]], batch_size=4, capacity=50, min_after_dequeue=10)
with tf.train.MonitoredSession() as sess:
    print(sess.run(numbers).shape)

# %% tf.train.input_producer, tf.train.range_input_producer
words = tf.train.input_producer(tf.constant(["ebb", "flow"]), shuffle=False, num_epochs=1).dequeue()
with tf.train.MonitoredSession() as sess:
    print(sess.run(words), sess.run(words))

# %% tf.train.slice_input_producer
picture, label = tf.train.slice_input_producer(
    [tf.constant([[1, 2], [3, 4]]), tf.constant(["a", "b"])], shuffle=False
)
with tf.train.MonitoredSession() as sess:
    print(sess.run([picture, label]))

# %% tf.train.string_input_producer, tf.train.match_filenames_once
for name in ("a.txt", "b.txt"):
    with open(name, "w") as file:
        file.write(f"text of {name}\n")
files = tf.train.string_input_producer(tf.train.match_filenames_once("*.txt"), shuffle=False)
key, text = tf.WholeFileReader().read(files)
with tf.train.MonitoredSession() as sess:
    print(sess.run([key, text]))

# %% tf.train.limit_epochs
twice = tf.train.limit_epochs(tf.constant(1.0), num_epochs=2)
with tf.train.MonitoredSession() as sess:
    while not sess.should_stop():
        print(sess.run(twice))

# %% tf.train.queue_report, tf.train.queue_summary
queue = tf.FIFOQueue(10, tf.float32, name="numbers")
with tf.Session() as sess:
    sess.run(queue.enqueue_many([[1.0, 2.0]]))
    print(tf.train.queue_report(sess))

# %% tf.train.ClusterSpec
cluster = tf.train.ClusterSpec({"ps": ["10.0.0.1:2222"], "worker": ["10.0.0.2:2222", "10.0.0.3:2222"]})
print(cluster.jobs, cluster.num_tasks("worker"), cluster.task_address("ps", 0))

# %% tf.train.Server
server = tf.train.Server.create_local_server()
with tf.Session(server.target) as sess:
    print(sess.run(tf.constant(1.0) + 1.0), server.target.startswith("grpc://"))

# %% tf.train.replica_device_setter
cluster = tf.train.ClusterSpec({"ps": ["a:1", "b:1"], "worker": ["c:1"]})
with tf.device(tf.train.replica_device_setter(cluster=cluster)):
    v, w = tf.get_variable("v", initializer=1.0), tf.get_variable("w", initializer=2.0)
    y = v + w
print(v.device, w.device, y.device)

# %% tf.train.summary_iterator
with tf.summary.FileWriter("logs") as writer:
    writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.5)]), global_step=1)
for event in tf.train.summary_iterator(tf.gfile.Glob("logs/*")[0]):
    for value in event.summary.value:
        print(event.step, value.tag, value.simple_value)
