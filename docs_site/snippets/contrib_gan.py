"""Examples of tf.contrib.gan."""

import numpy as np

import tideflow as tf

# %% tf.contrib.gan.gan_model, tf.contrib.gan.GANModel, tf.contrib.gan.gan_loss, tf.contrib.gan.GANLoss


def generator(noise):
    noise = noise[0] if isinstance(noise, list) else noise
    return tf.contrib.layers.fully_connected(noise, 2, activation_fn=None, scope="map")


def discriminator(data, inputs):
    return tf.contrib.layers.fully_connected(data, 1, activation_fn=None, scope="judge")


real, noise = tf.ones([4, 2]), tf.random_normal([4, 3], seed=1)
model = tf.contrib.gan.gan_model(generator, discriminator, real, noise)  # a GANModel
loss = tf.contrib.gan.gan_loss(model, gradient_penalty_weight=1.0)  # a GANLoss
print(loss.generator_loss.shape, [variable.name for variable in model.generator_variables])

# %% tf.contrib.gan.gan_train_ops, tf.contrib.gan.GANTrainOps
gan = tf.contrib.gan


def generator(noise):
    noise = noise[0] if isinstance(noise, list) else noise
    return tf.contrib.layers.fully_connected(noise, 2, activation_fn=None, scope="map")


def discriminator(data, inputs):
    return tf.contrib.layers.fully_connected(data, 1, activation_fn=None, scope="judge")


real, noise = tf.ones([4, 2]), tf.random_normal([4, 3], seed=1)


def make():
    return gan.gan_model(generator, discriminator, real, noise)


model = make()
optimizer = tf.train.GradientDescentOptimizer(0.01)
ops = tf.contrib.gan.gan_train_ops(model, gan.gan_loss(model), optimizer, optimizer)  # a GANTrainOps
print(ops.generator_train_op.shape)

# %% tf.contrib.gan.gan_train, tf.contrib.gan.get_sequential_train_hooks, tf.contrib.gan.GANTrainSteps
gan = tf.contrib.gan


def generator(noise):
    noise = noise[0] if isinstance(noise, list) else noise
    return tf.contrib.layers.fully_connected(noise, 2, activation_fn=None, scope="map")


def discriminator(data, inputs):
    return tf.contrib.layers.fully_connected(data, 1, activation_fn=None, scope="judge")


real, noise = tf.ones([4, 2]), tf.random_normal([4, 3], seed=1)


def make():
    return gan.gan_model(generator, discriminator, real, noise)


model = make()
optimizer = tf.train.GradientDescentOptimizer(0.01)
ops = gan.gan_train_ops(model, gan.gan_loss(model), optimizer, optimizer)
steps = tf.contrib.gan.GANTrainSteps(generator_train_steps=1, discriminator_train_steps=2)
hooks = tf.contrib.gan.get_sequential_train_hooks(steps)
stop = tf.train.StopAtStepHook(num_steps=3)
print(tf.contrib.gan.gan_train(ops, "gan_logs", hooks, hooks=[stop], save_checkpoint_secs=None))

# %% tf.contrib.gan.get_joint_train_hooks, tf.contrib.gan.RunTrainOpsHook
gan = tf.contrib.gan
hooks = tf.contrib.gan.get_joint_train_hooks()(gan.GANTrainOps(tf.no_op(), tf.no_op(), tf.no_op()))
print(all(isinstance(hook, tf.contrib.gan.RunTrainOpsHook) for hook in hooks))

# %% tf.contrib.gan.get_sequential_train_steps
train_step_fn = tf.contrib.gan.get_sequential_train_steps()  # for tf.contrib.slim.learning.train
print(callable(train_step_fn))

# %% tf.contrib.gan.infogan_model, tf.contrib.gan.InfoGANModel


def generator(noise):
    noise = noise[0] if isinstance(noise, list) else noise
    return tf.contrib.layers.fully_connected(noise, 2, activation_fn=None, scope="map")


def discriminator(data, inputs):
    return tf.contrib.layers.fully_connected(data, 1, activation_fn=None, scope="judge")


real, noise = tf.ones([4, 2]), tf.random_normal([4, 3], seed=1)


def recognizer(data, inputs):
    found = tf.contrib.layers.fully_connected(data, 1, None, scope="find")
    return discriminator(data, inputs), [tf.distributions.Normal(found, 1.0)]


model = tf.contrib.gan.infogan_model(generator, recognizer, real, [noise], [tf.ones([4, 1])])
print(isinstance(model, tf.contrib.gan.InfoGANModel))

# %% tf.contrib.gan.acgan_model, tf.contrib.gan.ACGANModel


def generator(noise):
    noise = noise[0] if isinstance(noise, list) else noise
    return tf.contrib.layers.fully_connected(noise, 2, activation_fn=None, scope="map")


def discriminator(data, inputs):
    return tf.contrib.layers.fully_connected(data, 1, activation_fn=None, scope="judge")


def classifier(data, inputs):
    return discriminator(data, inputs), tf.contrib.layers.fully_connected(data, 2, None, scope="class")


real, noise = tf.ones([4, 2]), tf.random_normal([4, 3], seed=1)
labels = tf.one_hot([0, 1, 0, 1], 2)
model = tf.contrib.gan.acgan_model(generator, classifier, real, noise, labels)
print(isinstance(model, tf.contrib.gan.ACGANModel), model.discriminator_gen_classification_logits.shape)

# %% tf.contrib.gan.cyclegan_model, tf.contrib.gan.CycleGANModel


def generator(noise):
    noise = noise[0] if isinstance(noise, list) else noise
    return tf.contrib.layers.fully_connected(noise, 2, activation_fn=None, scope="map")


def discriminator(data, inputs):
    return tf.contrib.layers.fully_connected(data, 1, activation_fn=None, scope="judge")


real, noise = tf.ones([4, 2]), tf.random_normal([4, 3], seed=1)
model = tf.contrib.gan.cyclegan_model(generator, discriminator, real, 2 * real)
print(isinstance(model, tf.contrib.gan.CycleGANModel), model.reconstructed_x.shape)

# %% tf.contrib.gan.cyclegan_loss, tf.contrib.gan.CycleGANLoss, tf.contrib.gan.losses.cycle_consistency_loss
gan = tf.contrib.gan


def generator(noise):
    noise = noise[0] if isinstance(noise, list) else noise
    return tf.contrib.layers.fully_connected(noise, 2, activation_fn=None, scope="map")


def discriminator(data, inputs):
    return tf.contrib.layers.fully_connected(data, 1, activation_fn=None, scope="judge")


real, noise = tf.ones([4, 2]), tf.random_normal([4, 3], seed=1)
model = gan.cyclegan_model(generator, discriminator, real, 2 * real)
loss = tf.contrib.gan.cyclegan_loss(
    model, cycle_consistency_loss_fn=tf.contrib.gan.losses.cycle_consistency_loss
)
print(isinstance(loss, tf.contrib.gan.CycleGANLoss), loss.loss_x2y.generator_loss.shape)

# %% tf.contrib.gan.stargan_model, tf.contrib.gan.StarGANModel, tf.contrib.gan.stargan_loss
real, noise = tf.ones([4, 2]), tf.random_normal([4, 3], seed=1)


def translator(data, domains):
    return tf.contrib.layers.fully_connected(tf.concat([data, domains], 1), 2, None, scope="map")


def judge(data, domains):
    made = tf.contrib.layers.fully_connected(data, 1 + domains, None, scope="judge")
    return made[:, 0], made[:, 1:]


model = tf.contrib.gan.stargan_model(translator, judge, real, tf.one_hot([0, 1, 0, 1], 2))
loss = tf.contrib.gan.stargan_loss(model)
print(isinstance(model, tf.contrib.gan.StarGANModel), loss.generator_loss.shape)

# %% tf.contrib.gan.losses.wargs.wasserstein_generator_loss
of_generated = tf.constant([0.5, -1.0])
made = tf.contrib.gan.losses.wargs.wasserstein_generator_loss(of_generated)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(made))

# %% tf.contrib.gan.losses.wargs.wasserstein_discriminator_loss
said = tf.constant([2.0, 1.0])
of_generated = tf.constant([0.5, -1.0])
made = tf.contrib.gan.losses.wargs.wasserstein_discriminator_loss(said, of_generated)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(made))

# %% tf.contrib.gan.losses.wargs.least_squares_generator_loss
of_generated = tf.constant([0.5, -1.0])
made = tf.contrib.gan.losses.wargs.least_squares_generator_loss(of_generated)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(made))

# %% tf.contrib.gan.losses.wargs.least_squares_discriminator_loss
said = tf.constant([2.0, 1.0])
of_generated = tf.constant([0.5, -1.0])
made = tf.contrib.gan.losses.wargs.least_squares_discriminator_loss(said, of_generated)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(made))

# %% tf.contrib.gan.losses.wargs.minimax_generator_loss
of_generated = tf.constant([0.5, -1.0])
made = tf.contrib.gan.losses.wargs.minimax_generator_loss(of_generated)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(made))

# %% tf.contrib.gan.losses.wargs.minimax_discriminator_loss
said = tf.constant([2.0, 1.0])
of_generated = tf.constant([0.5, -1.0])
made = tf.contrib.gan.losses.wargs.minimax_discriminator_loss(said, of_generated)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(made))

# %% tf.contrib.gan.losses.wargs.modified_generator_loss
of_generated = tf.constant([0.5, -1.0])
made = tf.contrib.gan.losses.wargs.modified_generator_loss(of_generated)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(made))

# %% tf.contrib.gan.losses.wargs.modified_discriminator_loss
said = tf.constant([2.0, 1.0])
of_generated = tf.constant([0.5, -1.0])
made = tf.contrib.gan.losses.wargs.modified_discriminator_loss(said, of_generated)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(made))

# %% tf.contrib.gan.losses.wargs.acgan_generator_loss
made = tf.contrib.gan.losses.wargs.acgan_generator_loss([[1.0, 0.0]], [[1.0, 0.0]])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(made))

# %% tf.contrib.gan.losses.wargs.acgan_discriminator_loss
made = tf.contrib.gan.losses.wargs.acgan_discriminator_loss([[1.0, 0.0]], [[0.0, 0.0]], [[1.0, 0.0]])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(made))

# %% tf.contrib.gan.losses.wargs.wasserstein_gradient_penalty
slope = tf.contrib.gan.losses.wargs.wasserstein_gradient_penalty(
    tf.zeros([4, 2]), tf.ones([4, 2]), None, lambda data, inputs: tf.reduce_sum(3.0 * data, 1), "judge"
)
made = slope
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(made))

# %% tf.contrib.gan.losses.wargs.mutual_information_penalty
made = tf.contrib.gan.losses.wargs.mutual_information_penalty(
    [tf.constant([0.0])], [tf.distributions.Normal([0.0], [1.0])]
)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(made))

# %% tf.contrib.gan.losses.wargs.combine_adversarial_loss
main, adversarial = tf.constant(2.0), tf.constant(3.0)
made = tf.contrib.gan.losses.wargs.combine_adversarial_loss(main, adversarial, weight_factor=0.5)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(made))

# %% tf.contrib.gan.losses.wargs.cycle_consistency_loss
made = tf.contrib.gan.losses.wargs.cycle_consistency_loss([1.0], [2.0], [3.0], [3.0])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(made))

# %% tf.contrib.gan.losses.wasserstein_generator_loss, tf.contrib.gan.losses.wasserstein_discriminator_loss
gan = tf.contrib.gan


def generator(noise):
    noise = noise[0] if isinstance(noise, list) else noise
    return tf.contrib.layers.fully_connected(noise, 2, activation_fn=None, scope="map")


def discriminator(data, inputs):
    return tf.contrib.layers.fully_connected(data, 1, activation_fn=None, scope="judge")


real, noise = tf.ones([4, 2]), tf.random_normal([4, 3], seed=1)


def make():
    return gan.gan_model(generator, discriminator, real, noise)


model = make()
losses = tf.contrib.gan.losses
print(losses.wasserstein_generator_loss(model).shape, losses.wasserstein_discriminator_loss(model).shape)

# %% tf.contrib.gan.losses.least_squares_generator_loss,
# %% tf.contrib.gan.losses.least_squares_discriminator_loss
gan = tf.contrib.gan


def generator(noise):
    noise = noise[0] if isinstance(noise, list) else noise
    return tf.contrib.layers.fully_connected(noise, 2, activation_fn=None, scope="map")


def discriminator(data, inputs):
    return tf.contrib.layers.fully_connected(data, 1, activation_fn=None, scope="judge")


real, noise = tf.ones([4, 2]), tf.random_normal([4, 3], seed=1)


def make():
    return gan.gan_model(generator, discriminator, real, noise)


model = make()
losses = tf.contrib.gan.losses
print(losses.least_squares_generator_loss(model).shape, losses.least_squares_discriminator_loss(model).shape)

# %% tf.contrib.gan.losses.minimax_generator_loss, tf.contrib.gan.losses.minimax_discriminator_loss
gan = tf.contrib.gan


def generator(noise):
    noise = noise[0] if isinstance(noise, list) else noise
    return tf.contrib.layers.fully_connected(noise, 2, activation_fn=None, scope="map")


def discriminator(data, inputs):
    return tf.contrib.layers.fully_connected(data, 1, activation_fn=None, scope="judge")


real, noise = tf.ones([4, 2]), tf.random_normal([4, 3], seed=1)


def make():
    return gan.gan_model(generator, discriminator, real, noise)


model = make()
losses = tf.contrib.gan.losses
print(losses.minimax_generator_loss(model).shape, losses.minimax_discriminator_loss(model).shape)

# %% tf.contrib.gan.losses.modified_generator_loss, tf.contrib.gan.losses.modified_discriminator_loss
gan = tf.contrib.gan


def generator(noise):
    noise = noise[0] if isinstance(noise, list) else noise
    return tf.contrib.layers.fully_connected(noise, 2, activation_fn=None, scope="map")


def discriminator(data, inputs):
    return tf.contrib.layers.fully_connected(data, 1, activation_fn=None, scope="judge")


real, noise = tf.ones([4, 2]), tf.random_normal([4, 3], seed=1)


def make():
    return gan.gan_model(generator, discriminator, real, noise)


model = make()
losses = tf.contrib.gan.losses
print(losses.modified_generator_loss(model).shape, losses.modified_discriminator_loss(model).shape)

# %% tf.contrib.gan.losses.acgan_generator_loss, tf.contrib.gan.losses.acgan_discriminator_loss
gan = tf.contrib.gan


def generator(noise):
    noise = noise[0] if isinstance(noise, list) else noise
    return tf.contrib.layers.fully_connected(noise, 2, activation_fn=None, scope="map")


def discriminator(data, inputs):
    return tf.contrib.layers.fully_connected(data, 1, activation_fn=None, scope="judge")


def classifier(data, inputs):
    return discriminator(data, inputs), tf.contrib.layers.fully_connected(data, 2, None, scope="class")


real, noise = tf.ones([4, 2]), tf.random_normal([4, 3], seed=1)
model = gan.acgan_model(generator, classifier, real, noise, tf.one_hot([0, 1, 0, 1], 2))
losses = tf.contrib.gan.losses
print(losses.acgan_generator_loss(model).shape, losses.acgan_discriminator_loss(model).shape)

# %% tf.contrib.gan.losses.wasserstein_gradient_penalty
gan = tf.contrib.gan


def generator(noise):
    noise = noise[0] if isinstance(noise, list) else noise
    return tf.contrib.layers.fully_connected(noise, 2, activation_fn=None, scope="map")


def discriminator(data, inputs):
    return tf.contrib.layers.fully_connected(data, 1, activation_fn=None, scope="judge")


real, noise = tf.ones([4, 2]), tf.random_normal([4, 3], seed=1)


def make():
    return gan.gan_model(generator, discriminator, real, noise)


print(tf.contrib.gan.losses.wasserstein_gradient_penalty(make(), target=2.0).shape)

# %% tf.contrib.gan.losses.mutual_information_penalty
gan = tf.contrib.gan


def generator(noise):
    noise = noise[0] if isinstance(noise, list) else noise
    return tf.contrib.layers.fully_connected(noise, 2, activation_fn=None, scope="map")


def discriminator(data, inputs):
    return tf.contrib.layers.fully_connected(data, 1, activation_fn=None, scope="judge")


real, noise = tf.ones([4, 2]), tf.random_normal([4, 3], seed=1)


def finder(data, inputs):
    found = tf.contrib.layers.fully_connected(data, 1, None, scope="find")
    return discriminator(data, inputs), [tf.distributions.Normal(found, 1.0)]


model = gan.infogan_model(generator, finder, real, [noise], [tf.ones([4, 1])])
print(tf.contrib.gan.losses.mutual_information_penalty(model).shape)

# %% tf.contrib.gan.losses.combine_adversarial_loss
gan = tf.contrib.gan


def generator(noise):
    noise = noise[0] if isinstance(noise, list) else noise
    return tf.contrib.layers.fully_connected(noise, 2, activation_fn=None, scope="map")


def discriminator(data, inputs):
    return tf.contrib.layers.fully_connected(data, 1, activation_fn=None, scope="judge")


real, noise = tf.ones([4, 2]), tf.random_normal([4, 3], seed=1)


def make():
    return gan.gan_model(generator, discriminator, real, noise)


model = make()
other = tf.reduce_mean(tf.abs(model.generated_data - real))
both = tf.contrib.gan.losses.combine_adversarial_loss(gan.gan_loss(model), model, other, weight_factor=0.1)
print(both.generator_loss.shape)

# %% tf.contrib.gan.losses.stargan_generator_loss_wrapper
gan = tf.contrib.gan
loss_fn = tf.contrib.gan.losses.stargan_generator_loss_wrapper(gan.losses.wargs.minimax_generator_loss)
print(loss_fn.__name__)

# %% tf.contrib.gan.losses.stargan_discriminator_loss_wrapper
gan = tf.contrib.gan
loss_fn = tf.contrib.gan.losses.stargan_discriminator_loss_wrapper(
    gan.losses.wargs.minimax_discriminator_loss
)
print(loss_fn.__name__)

# %% tf.contrib.gan.losses.stargan_gradient_penalty_wrapper
gan = tf.contrib.gan
loss_fn = tf.contrib.gan.losses.stargan_gradient_penalty_wrapper(
    gan.losses.wargs.wasserstein_gradient_penalty
)
print(loss_fn.__name__)

# %% tf.contrib.gan.features.condition_tensor
print(tf.contrib.gan.features.condition_tensor(tf.zeros([4, 5]), tf.ones([4, 2])).shape)

# %% tf.contrib.gan.features.condition_tensor_from_onehot
print(tf.contrib.gan.features.condition_tensor_from_onehot(tf.zeros([2, 5]), tf.one_hot([0, 1], 3), 4).shape)

# %% tf.contrib.gan.features.clip_variables, tf.contrib.gan.features.clip_discriminator_weights
gan = tf.contrib.gan


def generator(noise):
    noise = noise[0] if isinstance(noise, list) else noise
    return tf.contrib.layers.fully_connected(noise, 2, activation_fn=None, scope="map")


def discriminator(data, inputs):
    return tf.contrib.layers.fully_connected(data, 1, activation_fn=None, scope="judge")


real, noise = tf.ones([4, 2]), tf.random_normal([4, 3], seed=1)


def make():
    return gan.gan_model(generator, discriminator, real, noise)


model = make()
optimizer = tf.contrib.gan.features.clip_discriminator_weights(tf.train.AdamOptimizer(), model, 0.01)
same = tf.contrib.gan.features.clip_variables(tf.train.AdamOptimizer(), model.discriminator_variables, 0.01)
print(type(optimizer).__name__, type(same).__name__)

# %% tf.contrib.gan.features.tensor_pool
pooled = tf.contrib.gan.features.tensor_pool(tf.ones([2]), pool_size=3)
made = pooled
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(made))

# %% tf.contrib.gan.features.VBN
vbn = tf.contrib.gan.features.VBN(tf.random_normal([8, 3]))
print(vbn(tf.zeros([2, 3])).shape, vbn.reference_batch_normalization().shape)

# %% tf.contrib.gan.features.compute_spectral_norm, tf.contrib.gan.features.spectral_normalize
weights = tf.constant([[3.0, 0.0], [0.0, 1.0]])
norm = tf.contrib.gan.features.compute_spectral_norm(weights, power_iteration_rounds=30)
normal = tf.contrib.gan.features.spectral_normalize(weights, power_iteration_rounds=30)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(norm).round(3), sess.run(normal).round(3).tolist())

# %% tf.contrib.gan.features.spectral_norm_regularizer
regularizer = tf.contrib.gan.features.spectral_norm_regularizer(0.1)
print(regularizer(tf.ones([3, 2])).shape)

# %% tf.contrib.gan.features.spectral_normalization_custom_getter
getter = tf.contrib.gan.features.spectral_normalization_custom_getter()
with tf.variable_scope("net", custom_getter=getter):
    print(tf.layers.dense(tf.ones([2, 3]), 4).shape)

# %% tf.contrib.gan.eval.image_grid, tf.contrib.gan.eval.image_reshaper
images = tf.zeros([4, 8, 8, 3])
print(tf.contrib.gan.eval.image_grid(images, (2, 2), (8, 8)).shape)
print(tf.contrib.gan.eval.image_reshaper(images, num_cols=4).shape)

# %% tf.contrib.gan.eval.add_gan_model_image_summaries, tf.contrib.gan.eval.add_image_comparison_summaries
gan = tf.contrib.gan


def invert(images):
    return -images * tf.get_variable("scale", initializer=1.0)


def judge_image(images, inputs):
    return tf.layers.dense(tf.layers.flatten(images), 1)


pictures = tf.zeros([16, 8, 8, 3])
model = gan.gan_model(invert, judge_image, pictures, pictures)
tf.contrib.gan.eval.add_gan_model_image_summaries(model)
tf.contrib.gan.eval.add_image_comparison_summaries(model)
print(len(tf.get_collection(tf.GraphKeys.SUMMARIES)))

# %% tf.contrib.gan.eval.add_gan_model_summaries, tf.contrib.gan.eval.add_regularization_loss_summaries
gan = tf.contrib.gan


def generator(noise):
    noise = noise[0] if isinstance(noise, list) else noise
    return tf.contrib.layers.fully_connected(noise, 2, activation_fn=None, scope="map")


def discriminator(data, inputs):
    return tf.contrib.layers.fully_connected(data, 1, activation_fn=None, scope="judge")


real, noise = tf.ones([4, 2]), tf.random_normal([4, 3], seed=1)


def make():
    return gan.gan_model(generator, discriminator, real, noise)


model = make()
tf.contrib.gan.eval.add_gan_model_summaries(model)
tf.contrib.gan.eval.add_regularization_loss_summaries(model)
print(len(tf.get_collection(tf.GraphKeys.SUMMARIES)))

# %% tf.contrib.gan.eval.add_cyclegan_image_summaries
gan = tf.contrib.gan


def shift(images):
    return images + tf.get_variable("shift", initializer=1.0)


def judge_pictures(images, inputs):
    return tf.layers.dense(tf.layers.flatten(images), 1)


pictures = tf.zeros([2, 8, 8, 3])
model = gan.cyclegan_model(shift, judge_pictures, pictures, pictures)
tf.contrib.gan.eval.add_cyclegan_image_summaries(model)
print(len(tf.get_collection(tf.GraphKeys.SUMMARIES)))

# %% tf.contrib.gan.eval.add_stargan_image_summaries
gan = tf.contrib.gan


def recolor(images, domains):
    return images + tf.get_variable("shift", initializer=1.0)


def judge_domains(images, domains):
    made = tf.layers.dense(tf.layers.flatten(images), 1 + domains)
    return made[:, 0], made[:, 1:]


model = gan.stargan_model(recolor, judge_domains, tf.zeros([2, 8, 8, 3]), tf.one_hot([0, 1], 2))
tf.contrib.gan.eval.add_stargan_image_summaries(model)
print(len(tf.get_collection(tf.GraphKeys.SUMMARIES)))

# %% tf.contrib.gan.eval.preprocess_image, tf.contrib.gan.eval.INCEPTION_DEFAULT_IMAGE_SIZE
size = tf.contrib.gan.eval.INCEPTION_DEFAULT_IMAGE_SIZE
print(tf.contrib.gan.eval.preprocess_image(tf.zeros([2, 64, 64, 3])).shape, size)

# %% tf.contrib.gan.eval.run_image_classifier, tf.contrib.gan.eval.run_inception
with tf.Graph().as_default() as frozen:
    tf.identity(tf.reduce_mean(tf.placeholder(tf.float32, [None, 4, 4, 3], "Mul"), [1, 2]), name="logits")
graph_def = frozen.as_graph_def()
print(tf.contrib.gan.eval.run_image_classifier(tf.zeros([2, 4, 4, 3]), graph_def, "Mul:0", "logits:0").shape)
print(tf.contrib.gan.eval.run_inception(tf.zeros([2, 4, 4, 3]), graph_def, image_size=4).shape)

# %% tf.contrib.gan.eval.get_graph_def_from_disk
tf.train.write_graph(tf.get_default_graph(), ".", "graph.pb", as_text=False)
print(type(tf.contrib.gan.eval.get_graph_def_from_disk("graph.pb")).__name__)

# %% tf.contrib.gan.eval.get_graph_def_from_resource, tf.contrib.gan.eval.get_graph_def_from_url_tarball
print(tf.contrib.gan.eval.get_graph_def_from_resource.__name__)
print(tf.contrib.gan.eval.get_graph_def_from_url_tarball.__name__)

# %% tf.contrib.gan.eval.classifier_score_from_logits, tf.contrib.gan.eval.classifier_score
logits = tf.constant([[5.0, 0.0], [0.0, 5.0]])
made = tf.contrib.gan.eval.classifier_score_from_logits(logits)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(made))
made = tf.contrib.gan.eval.classifier_score(logits, lambda images: images)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(made))

# %% tf.contrib.gan.eval.inception_score
made = tf.contrib.gan.eval.inception_score(tf.constant([[5.0, 0.0], [0.0, 5.0]]), classifier_fn=tf.identity)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(made))

# %% tf.contrib.gan.eval.frechet_classifier_distance, tf.contrib.gan.eval.frechet_inception_distance
first, second = (
    tf.constant([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]]),
    tf.constant([[3.0, 1.0], [4.0, 0.0], [5.0, 1.0]]),
)
with tf.Session() as sess:
    print(sess.run(tf.contrib.gan.eval.frechet_classifier_distance(first, second, tf.identity)).round(3))
    print(sess.run(tf.contrib.gan.eval.frechet_inception_distance(first, second, tf.identity)).round(3))

# %% tf.contrib.gan.eval.frechet_classifier_distance_from_activations
first = tf.constant([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]])
with tf.Session() as sess:
    print(
        sess.run(tf.contrib.gan.eval.frechet_classifier_distance_from_activations(first, first + 1.0)).round(
            3
        )
    )

# %% tf.contrib.gan.eval.mean_only_frechet_classifier_distance_from_activations
first = tf.constant([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]])
made = tf.contrib.gan.eval.mean_only_frechet_classifier_distance_from_activations(first, first + 1.0)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(made))

# %% tf.contrib.gan.eval.diagonal_only_frechet_classifier_distance_from_activations
first = tf.constant([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]])
made = tf.contrib.gan.eval.diagonal_only_frechet_classifier_distance_from_activations(first, first + 1.0)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(made))

# %% tf.contrib.gan.eval.kernel_classifier_distance_from_activations
first = tf.constant([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]])
with tf.Session() as sess:
    print(
        sess.run(tf.contrib.gan.eval.kernel_classifier_distance_from_activations(first, first + 1.0)).round(3)
    )

# %% tf.contrib.gan.eval.kernel_classifier_distance_and_std_from_activations
first = tf.constant([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [1.0, 1.0]])
found = tf.contrib.gan.eval.kernel_classifier_distance_and_std_from_activations(first, first + 1.0, 2)
print([part.shape for part in found])

# %% tf.contrib.gan.eval.kernel_classifier_distance, tf.contrib.gan.eval.kernel_classifier_distance_and_std
first = tf.constant([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]])
print(tf.contrib.gan.eval.kernel_classifier_distance(first, first + 1.0, tf.identity).shape)
print(len(tf.contrib.gan.eval.kernel_classifier_distance_and_std(first, first + 1.0, tf.identity)))

# %% tf.contrib.gan.eval.kernel_inception_distance, tf.contrib.gan.eval.kernel_inception_distance_and_std
first = tf.constant([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]])
print(tf.contrib.gan.eval.kernel_inception_distance(first, first + 1.0, tf.identity).shape)
print(len(tf.contrib.gan.eval.kernel_inception_distance_and_std(first, first + 1.0, tf.identity)))

# %% tf.contrib.gan.eval.sliced_wasserstein_distance
images = tf.constant(np.random.RandomState(0).normal(size=(4, 16, 16, 3)).astype("float32"))
print(len(tf.contrib.gan.eval.sliced_wasserstein_distance(images, images, patches_per_image=4)))
