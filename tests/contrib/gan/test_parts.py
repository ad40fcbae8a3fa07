"""Parts of GANs, and scores of what they make, against NumPy."""

import numpy as np
import pytest

import tideflow as tf

gan = tf.contrib.gan
features, scores = gan.features, gan.eval


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        tf.set_random_seed(5)
        yield


def _evaluate(fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def _normal(*shape, seed=0):
    return np.random.RandomState(seed).normal(size=shape).astype("float32")


def test_conditions_are_added():
    tensor = tf.constant(_normal(3, 2, 2))
    made = features.condition_tensor_from_onehot(tensor, tf.one_hot([0, 1, 0], 2), embedding_size=4)
    assert made.shape == [3, 2, 2]
    added = _evaluate(made - tensor)
    np.testing.assert_allclose(added[0], added[2], rtol=1e-5)
    with pytest.raises(ValueError, match="conditioning must be at least 2D"):
        features.condition_tensor(tensor, tf.zeros([3]))


def test_weights_are_clipped():
    x = tf.get_variable("x", initializer=[5.0, -5.0, 0.001])
    train = features.clip_variables(tf.train.GradientDescentOptimizer(0.0), [x], 0.01).minimize(
        tf.reduce_sum(x)
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        np.testing.assert_allclose(session.run(x), [0.01, -0.01, 0.001], rtol=1e-4)
    with pytest.raises(ValueError, match="must be positive"):
        features.clip_variables(tf.train.GradientDescentOptimizer(1.0), [x], -1)


def test_a_pool_gives_earlier_tensors_once_it_is_full():
    number = tf.placeholder(tf.float32, [])
    pooled = features.tensor_pool((number, [number * 10]), pool_size=3, pooling_probability=1.0)
    with tf.Session() as session:
        given = [session.run(pooled, {number: i}) for i in range(20)]
    assert [g[0] for g in given[:3]] == [0, 1, 2]
    assert all(g[1] == [10 * g[0]] for g in given)
    later = [g[0] for g in given[3:]]
    assert len(set(later)) == len(later)
    assert all(g < i for i, g in enumerate(later, 3))
    assert features.tensor_pool(number, pool_size=0) is number


@pytest.mark.parametrize(("axis", "batch_axis"), [(-1, 0), (1, 0), (1, 2)])
def test_virtual_batch_normalization(axis, batch_axis):
    reference, batch = _normal(4, 3, 5), _normal(4, 3, 5, seed=1)
    vbn = features.VBN(tf.constant(reference), axis=axis, batch_axis=batch_axis)
    whole, made = _evaluate([vbn.reference_batch_normalization(), vbn(tf.constant(batch))])
    axis %= 3
    others = tuple(i for i in range(3) if i != axis)
    mean, variance = reference.mean(others, keepdims=True), reference.var(others, keepdims=True)
    np.testing.assert_allclose(whole, (reference - mean) / np.sqrt(variance + 1e-3), rtol=1e-3, atol=1e-4)
    # An example together with the reference batch, which it weighs one in so many.
    example = np.take(batch, [1], batch_axis)
    count = reference.shape[batch_axis]
    inner = tuple(i for i in others if i != batch_axis)
    own = example.mean(inner, keepdims=True), (example**2).mean(inner, keepdims=True)
    joined = [
        (own[0] + count * mean) / (count + 1),
        (own[1] + count * (reference**2).mean(others, keepdims=True)) / (count + 1),
    ]
    expected = (example - joined[0]) / np.sqrt(joined[1] - joined[0] ** 2 + 1e-3)
    np.testing.assert_allclose(np.take(made, [1], batch_axis), expected, rtol=1e-3, atol=1e-4)
    with pytest.raises(ValueError, match="cannot be the same"):
        features.VBN(tf.constant(reference), axis=0)


def test_spectral_norms():
    weights = _normal(2, 3, 4)
    norm = features.compute_spectral_norm(tf.constant(weights), power_iteration_rounds=50)
    largest = np.linalg.svd(weights.reshape(6, 4), compute_uv=False)[0]
    np.testing.assert_allclose(_evaluate(norm), largest, rtol=1e-4)
    getter = features.spectral_normalization_custom_getter(power_iteration_rounds=50)
    with tf.variable_scope("net", custom_getter=getter):
        made = tf.layers.dense(tf.constant(np.eye(5, dtype=np.float32)), 4, use_bias=False)
    np.testing.assert_allclose(np.linalg.svd(_evaluate(made), compute_uv=False)[0], 1.0, rtol=1e-3)
    penalty = features.spectral_norm_regularizer(0.5, 50)(tf.constant(weights))
    np.testing.assert_allclose(_evaluate(penalty), largest / 2, rtol=1e-4)
    assert features.spectral_norm_regularizer(0.0)(weights) is None
    with pytest.raises(ValueError, match="scale cannot be an integer"):
        features.spectral_norm_regularizer(1)


def test_inception_scores():
    logits = _normal(12, 5)
    share = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    expected = np.exp((share * np.log(share / share.mean(0))).sum(1).mean())
    images = tf.constant(logits)
    made = [
        scores.classifier_score_from_logits(images),
        scores.classifier_score(images, lambda x: x, num_batches=3),
        scores.inception_score(images, classifier_fn=lambda x: x),
    ]
    np.testing.assert_allclose(_evaluate(made), [expected] * 3, rtol=1e-5)


def test_frechet_distances():
    a, b = _normal(40, 3), 0.5 * _normal(40, 3, seed=1) + 1
    c, d = np.cov(a.T), np.cov(b.T)
    values = np.linalg.eigvals(c @ d)
    between = ((a.mean(0) - b.mean(0)) ** 2).sum()
    expected = between + np.trace(c + d) - 2 * np.sqrt(values.real).sum()
    made = [
        scores.frechet_classifier_distance_from_activations(tf.constant(a), tf.constant(b)),
        scores.frechet_classifier_distance(tf.constant(a), tf.constant(b), lambda x: x, num_batches=2),
        scores.frechet_inception_distance(tf.constant(a), tf.constant(b), classifier_fn=lambda x: x),
    ]
    np.testing.assert_allclose(_evaluate(made), [expected] * 3, rtol=1e-4)
    simple = [
        scores.mean_only_frechet_classifier_distance_from_activations(tf.constant(a), tf.constant(b)),
        scores.diagonal_only_frechet_classifier_distance_from_activations(tf.constant(a), tf.constant(b)),
    ]
    deviations = ((a.std(0) - b.std(0)) ** 2).sum()
    np.testing.assert_allclose(_evaluate(simple), [between, between + deviations], rtol=1e-4)


def test_kernel_distances():
    a, b = _normal(7, 3), _normal(9, 3, seed=1) + 0.5

    def estimate(x, y):
        def kernel(p, q):
            return (p @ q.T / 3 + 1) ** 3

        def within(p):
            found = kernel(p, p)
            return (found.sum() - np.trace(found)) / (len(p) * (len(p) - 1))

        return within(x) + within(y) - 2 * kernel(x, y).mean()

    whole = scores.kernel_classifier_distance_from_activations(tf.constant(a), tf.constant(b))
    parts = scores.kernel_classifier_distance_and_std(
        tf.constant(a), tf.constant(b), lambda x: x, max_block_size=5
    )
    whole, (mean, error) = _evaluate([whole, parts])
    np.testing.assert_allclose(whole, estimate(a, b), rtol=1e-4)
    two = [estimate(a[:3], b[:4]), estimate(a[3:], b[4:])]
    np.testing.assert_allclose(mean, np.mean(two), rtol=1e-4)
    np.testing.assert_allclose(error, np.std(two, ddof=1) / np.sqrt(2), rtol=1e-4)


@pytest.mark.parametrize("use_svd", [False, True])
def test_sliced_wasserstein_distances_tell_noise_from_images(use_svd):
    np.random.seed(0)
    smooth = np.cumsum(np.cumsum(_normal(8, 32, 32, 3), 1), 2)
    noise = _normal(8, 32, 32, 3, seed=1)
    made = scores.sliced_wasserstein_distance(
        tf.constant(smooth), tf.constant(noise), patches_per_image=8, use_svd=use_svd
    )
    found = np.array(_evaluate(made))
    assert found.shape == (2, 2)
    assert np.isfinite(found).all()
    assert (found[:, 1] > found[:, 0]).any()


def test_images_in_a_grid():
    images = np.arange(4 * 2 * 3).reshape(4, 2, 3, 1).astype("float32")
    grid = scores.image_grid(tf.constant(images), (2, 2), (2, 3), 1)
    rows = [np.concatenate(images[i : i + 2], 1) for i in (0, 2)]
    expected = np.concatenate(rows, 0)[None]
    flat = scores.image_grid(tf.constant(images.reshape(4, 6)), (2, 2), (2, 3), 1)
    tiled = scores.image_reshaper(tf.constant(images[:3]))
    grid, flat, tiled = _evaluate([grid, flat, tiled])
    np.testing.assert_array_equal(grid, expected)
    np.testing.assert_array_equal(flat, expected)
    expected[:, 2:, 3:] = 0
    np.testing.assert_array_equal(tiled, expected)
    with pytest.raises(ValueError, match="incompatible with minibatch size"):
        scores.image_grid(tf.constant(images), (3, 2), (2, 3), 1)


def test_summaries_of_models():
    def judge(data, inputs):
        return tf.layers.dense(tf.layers.flatten(data), 1)

    def translate(data, domains=None):
        return data * tf.get_variable("scale", initializer=2.0)

    def judge_domains(data, domains):
        return judge(data, None)[:, 0], tf.layers.dense(tf.layers.flatten(data), domains, name="domain")

    images = tf.constant(_normal(4, 2, 2, 3))
    model = gan.cyclegan_model(translate, judge, images, images)
    star = gan.stargan_model(translate, judge_domains, images, tf.one_hot([0, 1, 0, 1], 2), "GS", "DS")
    scores.add_gan_model_image_summaries(model, grid_size=2)
    scores.add_image_comparison_summaries(model, display_diffs=True)
    scores.add_cyclegan_image_summaries(model)
    scores.add_stargan_image_summaries(star, display_diffs=True)
    scores.add_regularization_loss_summaries(model)
    written = tf.Summary.FromString(_evaluate(tf.summary.merge_all()))
    pictures = {v.tag: (v.image.height, v.image.width) for v in written.value if v.HasField("image")}
    assert pictures["cyclegan_x2y_image_summaries/real_data/image"] == (4, 4)
    assert pictures["cyclegan_y2x_image_comparison_summaries/image_comparison/image"] == (8, 4)
    assert pictures["x2y_image_comparison_summaries/image_comparison/image"] == (2, 6)
    assert pictures["stargan_image_generation/image/0"] == (4, 6)
    assert sum(v.HasField("histo") for v in written.value) == 6


def test_a_frozen_graph_classifies(tmp_path):
    with tf.Graph().as_default() as frozen:
        images = tf.placeholder(tf.float32, [None, 4, 4, 3], name="Mul")
        tf.reduce_mean(images, [1, 2], keepdims=True, name="logits")
    path = tmp_path / "graph.pb"
    path.write_bytes(frozen.as_graph_def().SerializeToString())
    graph_def = scores.get_graph_def_from_disk(str(path))
    pixels = tf.constant(np.full((2, 8, 8, 3), 128, np.uint8))
    prepared = scores.preprocess_image(pixels, 4, 4)
    made = scores.run_inception(prepared, graph_def, image_size=4)
    assert _evaluate(made).tolist() == [[0, 0, 0], [0, 0, 0]]
    assert scores.preprocess_image(pixels[0]).shape == [299, 299, 3]
    with pytest.raises(ValueError, match="default_graph_def_fn"):
        scores.run_inception(prepared, default_graph_def_fn=None, image_size=4)
