"""Examples of tf.contrib.factorization."""

import numpy as np

import tideflow as tf

# %% tf.contrib.factorization.KMeans, tf.contrib.factorization.KMEANS_PLUS_PLUS_INIT
points = tf.constant([[0.0, 0.1], [0.2, 0.0], [5.0, 5.1], [5.2, 4.9]])
kmeans = tf.contrib.factorization.KMeans(points, 2, tf.contrib.factorization.KMEANS_PLUS_PLUS_INIT)
_, nearest, distances, done, init, train = kmeans.training_graph()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(init)
    for _ in range(3):
        sess.run(train)
    found = sess.run(nearest[0])
    print(found[0] == found[1], found[2] == found[3], found[0] == found[2])

# %% tf.contrib.factorization.RANDOM_INIT, tf.contrib.factorization.SQUARED_EUCLIDEAN_DISTANCE
print(tf.contrib.factorization.RANDOM_INIT, tf.contrib.factorization.SQUARED_EUCLIDEAN_DISTANCE)

# %% tf.contrib.factorization.COSINE_DISTANCE
points = tf.constant([[0.0, 0.1], [0.2, 0.0], [5.0, 5.1], [5.2, 4.9]])
kmeans = tf.contrib.factorization.KMeans(
    points, 2, points[1:3], distance_metric=tf.contrib.factorization.COSINE_DISTANCE
)
print(len(kmeans.training_graph()))

# %% tf.contrib.factorization.gmm
points = tf.constant([[0.0, 0.1], [0.2, 0.0], [5.0, 5.1], [5.2, 4.9]])
loss, scores, assigned, train, init, done = tf.contrib.factorization.gmm(
    points, points.eval(session=tf.Session())[1:3], 2, 0
)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(init)
    sess.run(train)
    print(sess.run(assigned))

# %% tf.contrib.factorization.GmmAlgorithm
points = tf.constant([[0.0, 0.1], [0.2, 0.0], [5.0, 5.1], [5.2, 4.9]])
mixture = tf.contrib.factorization.GmmAlgorithm([points], 2, points[1:3], covariance_type="diag")
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(mixture.init_ops())
    sess.run(mixture.training_ops())
    print(sess.run(mixture.clusters()).round(1).tolist())

# %% tf.contrib.factorization.WALSModel
model = tf.contrib.factorization.WALSModel(
    3, 2, n_components=1, row_init=np.ones((3, 1)), col_init=np.ones((2, 1))
)
known = tf.SparseTensor([[0, 0], [1, 1], [2, 0]], [2.0, 3.0, 4.0], [3, 2])
factors, update, loss, _, _ = model.update_row_factors(known)
with tf.Session() as sess:
    sess.run([model.initialize_op, tf.local_variables_initializer()])
    sess.run(model.worker_init)
    sess.run(model.row_update_prep_gramian_op)
    sess.run(model.initialize_row_update_op)
    print(sess.run(factors).round(2).tolist())
