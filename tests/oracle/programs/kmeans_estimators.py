"""k-means as an estimator: centers, scores, distances, checkpoints, what is exported and refused."""

from kit import Close, cases, product, raises
from supervised import folder_of_its_own


def _points(np):
    chance = np.random.RandomState(0)
    centers = np.array([[0.0, 0.0], [5.0, 5.0], [-5.0, 4.0]])
    return (centers[np.arange(30) % 3] + chance.normal(size=(30, 2)) * 0.5 + 6).astype("f")


@cases(  # by angles, where the clusters end depends on where they begin
    *product(["squared_euclidean"], ["given", "kmeans_plus_plus"], [True, False]),
    *product(["cosine"], ["given"], [True, False]),
)
def clustered(tf, np, distance, start, mini_batch):
    points = _points(np)
    starts = {"given": points[:3]}

    def input_fn():  # endless: at the end of its input, TensorFlow may or may not count a further step
        return tf.data.Dataset.from_tensors(points).repeat()

    def once():
        return tf.data.Dataset.from_tensors(points)

    with folder_of_its_own() as folder:
        kmeans = tf.estimator.experimental.KMeans(
            3, folder, starts.get(start, start), distance, seed=7, use_mini_batch=mini_batch
        )
        kmeans.train(input_fn, steps=4)
        centers = kmeans.cluster_centers()
        order = np.argsort(centers[:, 0])  # which of them is chosen first is chance
        # How far TensorFlow moves centers for a batch depends on whether it reads or adds to counts first.
        near = 0.5 if mini_batch else 1e-3
        return [
            Close(centers[order], near, near),
            Close(float(kmeans.score(once)), near, near),
            Close([row[order] for row in kmeans.transform(once)][:4], 10 * near, 10 * near),
            [int(np.argsort(order)[i]) for i in kmeans.predict_cluster_index(once)],
            sorted(kmeans.get_variable_names()),
            int(kmeans.get_variable_value("global_step")),
        ]


def until_steady(tf, np):
    points = _points(np)
    with folder_of_its_own() as folder:
        kmeans = tf.estimator.experimental.KMeans(
            3, folder, points[:3], use_mini_batch=False, relative_tolerance=1e-4
        )
        kmeans.train(lambda: tf.constant(points), steps=50)
        return [int(kmeans.get_variable_value("global_step")), Close(kmeans.cluster_centers(), 1e-4, 1e-4)]


def features_by_name(tf, np):
    points = _points(np)

    def input_fn():
        return {"b": tf.constant(points[:, :1]), "a": tf.constant(points[:, 1:])}

    with folder_of_its_own() as folder:
        columns = [tf.feature_column.numeric_column("b")]
        kmeans = tf.estimator.experimental.KMeans
        whole = kmeans(2, folder + "/whole", points[:2, ::-1].copy(), use_mini_batch=False)
        starts = points[:2, :1]
        part = kmeans(2, folder + "/part", starts, feature_columns=columns, use_mini_batch=False)
        found = []
        for kmeans in (whole, part):
            kmeans.train(input_fn, steps=5)
            found.append(Close(kmeans.cluster_centers(), 1e-4, 1e-4))
        return found


def refused(tf, np):
    kmeans = tf.estimator.experimental.KMeans
    return [
        raises(kmeans, 3, initial_clusters="some"),
        raises(kmeans, 3, distance_metric="far"),
        kmeans.SQUARED_EUCLIDEAN_DISTANCE,
        kmeans.COSINE_DISTANCE,
        kmeans.RANDOM_INIT,
        kmeans.KMEANS_PLUS_PLUS_INIT,
        kmeans.CLUSTER_CENTERS_VAR_NAME,
        tf.contrib.factorization.KMeansClustering.__name__,
    ]
