"""GMM and WALSMatrixFactorization of tf.contrib.factorization: trained, evaluated and asked."""

from kit import Close, cases, product
from supervised import folder_of_its_own


def _points(np):
    random = np.random.RandomState(2)
    centers = np.array([[0.0, 0.0], [4.0, 4.0]])
    return (np.repeat(centers, 12, 0) + random.randn(24, 2)).astype(np.float32)


@cases(*product(["full", "diag"], ["wmc", "mc"]))
def mixtures(tf, np, covariance_type, params):
    points = _points(np)
    with folder_of_its_own() as folder:
        model = tf.contrib.factorization.GMM(
            2,
            model_dir=folder,
            initial_clusters=points[[0, 12]],
            covariance_type=covariance_type,
            params=params,
            config=tf.contrib.learn.RunConfig(tf_random_seed=3),
        )
        model.fit(input_fn=lambda: (tf.constant(points), None), steps=3)
        fitted = [model.weights(), model.clusters(), model.covariances()]
        found = model.evaluate(input_fn=lambda: (tf.constant(points), None), steps=1)
        return [
            [Close(value, 1e-3, 1e-4) for value in fitted],
            {name: Close(value, 1e-3) for name, value in sorted(found.items())},
            Close(model.score(input_fn=lambda: (tf.constant(points), None), steps=1), 1e-3),
            sorted(model.get_variable_names()),
        ]


def _matrix(np):
    random = np.random.RandomState(5)
    full = random.randn(5, 2).dot(random.randn(2, 4))
    return np.where(random.rand(5, 4) < 0.7, full, 0.0).astype(np.float32)


def _input_fn(tf, np, rows=None, weights=None):
    def sparse(matrix):
        places = np.argwhere(matrix)
        return tf.SparseTensor(places, tf.constant(matrix[tuple(places.T)]), matrix.shape)

    def input_fn():
        matrix = _matrix(np)
        features = {"input_rows": sparse(matrix), "input_cols": sparse(matrix.T)}
        if rows is not None:
            features["project_row"] = tf.constant(rows)
        if weights is not None:
            features["projection_weights"] = tf.constant(weights)
        return features, None

    return input_fn


@cases("plain", "shards", "unweighted", "uncached")
def factors(tf, np, which):
    random = np.random.RandomState(7)
    rows, cols = random.randn(5, 2).astype(np.float32), random.randn(4, 2).astype(np.float32)
    options = {
        "plain": {"max_sweeps": 3},
        "shards": {"num_row_shards": 2, "row_init": [rows[:3], rows[3:]], "regularization_coeff": 0.1},
        "unweighted": {"row_weights": None, "col_weights": None, "max_sweeps": 2},
        "uncached": {
            "use_factors_weights_cache_for_training": False,
            "use_gramian_cache_for_training": False,
            "unobserved_weight": 0.3,
        },
    }[which]
    with folder_of_its_own() as folder:
        options = dict({"row_init": rows, "regularization_coeff": 0.01}, **options)
        model = tf.contrib.factorization.WALSMatrixFactorization(
            5, 4, 2, col_init=cols, model_dir=folder, **options
        )
        model.fit(input_fn=_input_fn(tf, np), steps=4)
        found = [model.get_row_factors(), model.get_col_factors()]
        found += [model.evaluate(input_fn=_input_fn(tf, np, of_rows), steps=1) for of_rows in (True, False)]
        if which != "unweighted":
            found.append(list(model.get_projections(_input_fn(tf, np, True, [0.5] * 5))))
            found.append(list(model.get_projections(_input_fn(tf, np, False))))
        return [Close(found, 2e-3, 1e-4), sorted(model.get_variable_names())]
