"""The op types of boosted trees: quantiles, statistics, the best splits, growing, pruning, predicting."""

from kit import Close, cases, product, raises


def _run(tf, fetches):
    with tf.Session() as session:
        return session.run(fetches)


# ------------------------------------------------------------------------------------------------ quantiles


def _values(np, count, kind):
    chance = np.random.RandomState(count)
    drawn = {
        "normal": chance.randn(count),
        "whole": chance.randint(0, 40, count),
        "sorted": np.arange(count) / 7.0,
        "one": np.ones(count),
    }
    return drawn[kind].astype("float32")


@cases(*product([0, 1, 5, 300, 5000], ["normal", "whole", "sorted", "one"], [0.3, 0.01]))
def quantile_summaries(tf, np, count, kind, epsilon):
    values = _values(np, count, kind)
    weights = np.full(max(count, 1), 0.5, "float32")
    raw = tf.raw_ops
    return _run(
        tf,
        [
            raw.BoostedTreesMakeQuantileSummaries(
                float_values=[values, -values], example_weights=weights, epsilon=epsilon
            ),
            raw.BoostedTreesMakeQuantileSummaries(
                float_values=[values], example_weights=np.ones(1, "f"), epsilon=epsilon
            ),
        ],
    )


def summaries_by_weight(tf, np):
    weights = np.array([1, 0, 2, -1, 0.25, 3], "f")
    values = np.array([5, 1, 5, 2, 3, 4], "f")
    return _run(
        tf,
        tf.raw_ops.BoostedTreesMakeQuantileSummaries(
            float_values=[values], example_weights=weights, epsilon=0.1
        ),
    )


@cases(*product([0.3, 0.05, 0.01], [2, 3, 10, 100], [False, True]))
def quantile_streams(tf, np, epsilon, buckets, quantiles):
    raw = tf.raw_ops
    handle = raw.BoostedTreesQuantileStreamResourceHandleOp(container="", shared_name="streams")
    made = raw.IsBoostedTreesQuantileStreamResourceInitialized(quantile_stream_resource_handle=handle)
    create = raw.BoostedTreesCreateQuantileStreamResource(
        quantile_stream_resource_handle=handle, epsilon=epsilon, num_streams=2
    )
    values = tf.placeholder(tf.float32, [None])
    summaries = raw.BoostedTreesMakeQuantileSummaries(
        float_values=[values, tf.floor(values * 3)], example_weights=[1.0], epsilon=epsilon
    )
    add = raw.BoostedTreesQuantileStreamResourceAddSummaries(
        quantile_stream_resource_handle=handle, summaries=summaries
    )
    flush = raw.BoostedTreesQuantileStreamResourceFlush(
        quantile_stream_resource_handle=handle,
        num_buckets=max(buckets, 3) if quantiles else buckets,
        generate_quantiles=quantiles,
    )
    boundaries = raw.BoostedTreesQuantileStreamResourceGetBucketBoundaries(
        quantile_stream_resource_handle=handle, num_features=2
    )
    with tf.Session() as session:
        found = [session.run(made)]
        session.run(create)
        found += [session.run(made), session.run(boundaries)]
        for i in range(6):
            session.run(add, {values: _values(np, 50 + 60 * i, "normal")})
        session.run(flush)
        found += [session.run(boundaries)]
        session.run(add, {values: _values(np, 500, "normal")})
        found += [session.run(boundaries)]
        session.run(flush)
        return found + [session.run(boundaries)]


def streams_without_boundaries(tf, np):
    raw = tf.raw_ops
    handle = raw.BoostedTreesQuantileStreamResourceHandleOp(container="", shared_name="more")
    create = raw.BoostedTreesCreateQuantileStreamResource(
        quantile_stream_resource_handle=handle, epsilon=0.2, num_streams=1
    )
    add = raw.BoostedTreesQuantileStreamResourceAddSummaries(
        quantile_stream_resource_handle=handle,
        summaries=raw.BoostedTreesMakeQuantileSummaries(
            float_values=[_values(np, 40, "normal")], example_weights=[2.0], epsilon=0.2
        ),
    )
    flush = raw.BoostedTreesFlushQuantileSummaries(quantile_stream_resource_handle=handle, num_features=1)
    restore = raw.BoostedTreesQuantileStreamResourceDeserialize(
        quantile_stream_resource_handle=handle,
        bucket_boundaries=[tf.placeholder_with_default([1.0, 2.5], None)],
    )
    boundaries = raw.BoostedTreesQuantileStreamResourceGetBucketBoundaries(
        quantile_stream_resource_handle=handle, num_features=1
    )
    with tf.Session() as session:
        early = raises(session.run, boundaries)
        session.run(create)
        session.run(create)
        session.run(add)
        found = session.run(flush)
        session.run(restore)
        return [early, found, session.run(boundaries)]


def bad_streams(tf, np):
    raw = tf.raw_ops
    handle = raw.BoostedTreesQuantileStreamResourceHandleOp(container="", shared_name="bad")
    with tf.Session() as session:
        return [
            raises(
                session.run,
                raw.BoostedTreesCreateQuantileStreamResource(
                    quantile_stream_resource_handle=handle, epsilon=epsilon, num_streams=count
                ),
            )
            for epsilon, count in [(0.0, 1), (-0.5, 1)]
        ]


def buckets(tf, np):
    values = np.array([-10, 0.5, 1, 1.5, 2, 99, float("inf"), -float("inf")], "f")
    return _run(
        tf,
        tf.raw_ops.BoostedTreesBucketize(
            float_values=[values, -values, values], bucket_boundaries=[[0.5, 1, 2], [1.0], []]
        ),
    )


# ----------------------------------------------------------------------------------------------- statistics


@cases(1, 2, 5)
def statistics(tf, np, features):
    chance = np.random.RandomState(features)
    raw, count = tf.raw_ops, 200
    nodes = chance.randint(0, 3, count)
    gradients, hessians = chance.randn(count, 1).astype("f"), chance.rand(count, 1).astype("f")
    columns = [chance.randint(0, 6, count) for _ in range(features)]
    missing = np.stack(columns, 1) - 1
    return _run(
        tf,
        [
            raw.BoostedTreesMakeStatsSummary(
                node_ids=nodes,
                gradients=gradients,
                hessians=hessians,
                bucketized_features_list=columns,
                max_splits=4,
                num_buckets=7,
            ),
            raw.BoostedTreesAggregateStats(
                node_ids=nodes,
                gradients=gradients,
                hessians=hessians,
                feature=missing,
                max_splits=4,
                num_buckets=7,
            ),
            raw.BoostedTreesAggregateStats(
                node_ids=nodes,
                gradients=np.repeat(gradients, 2, 1),
                hessians=np.repeat(hessians, 4, 1),
                feature=missing,
                max_splits=3,
                num_buckets=5,
            ),
        ],
    )


def more_buckets_than_room(tf, np):
    return _run(
        tf,
        tf.raw_ops.BoostedTreesMakeStatsSummary(
            node_ids=[0, 1, 0, 1],
            gradients=[[1.0], [2.0], [4.0], [8.0]],
            hessians=[[1.0], [2.0], [4.0], [8.0]],
            bucketized_features_list=[[0, 2, 3, 4]],
            max_splits=4,
            num_buckets=3,
        ),
    )


@cases(0, 3, 40)
def sparse_statistics(tf, np, entries):
    chance = np.random.RandomState(entries)
    count, dimensions = 20, 4
    places = np.sort(chance.permutation(count * dimensions)[:entries])
    return _run(
        tf,
        list(
            tf.raw_ops.BoostedTreesSparseAggregateStats(
                node_ids=chance.randint(0, 3, count),
                gradients=chance.randn(count, 1).astype("f"),
                hessians=chance.rand(count, 1).astype("f"),
                feature_indices=np.stack([places // dimensions, places % dimensions], 1).astype("i"),
                feature_values=chance.randint(0, 5, entries),
                feature_shape=[count, dimensions],
                max_splits=4,
                num_buckets=5,
            )
        ),
    )


# --------------------------------------------------------------------------------------------------- splits


def _limits(l1, l2, complexity, least):
    return {"l1": l1, "l2": l2, "tree_complexity": complexity, "min_node_weight": least}


_LIMITS = [
    (0.0, 0.0, 0.0, 0.0),
    (0.1, 0.0, 0.0, 0.0),
    (0.0, 0.3, 0.0, 0.0),
    (0.05, 0.3, 0.5, 2.0),
    (5.0, 0.0, 0.0, 0.0),
]


@cases(*product(range(len(_LIMITS)), [1, 2, 20]))
def best_gains(tf, np, limits, buckets):
    chance = np.random.RandomState(buckets)
    summaries = [
        np.stack([chance.randn(5, buckets), chance.rand(5, buckets)], 2).astype("f") for _ in range(3)
    ]
    summaries[1][2] = 0
    return _run(
        tf,
        [
            list(found)
            for found in tf.raw_ops.BoostedTreesCalculateBestGainsPerFeature(
                node_id_range=[1, 4], stats_summary_list=summaries, max_splits=5, **_limits(*_LIMITS[limits])
            )
        ],
    )


def _consistent(np, buckets, dimensions, width, seed):
    """Statistics of the same examples in each dimension."""
    chance = np.random.RandomState(seed)
    first = np.round(chance.rand(4, buckets + 1, width) * 16) / 4 - 1
    first[..., -1:] = abs(first[..., -1:]) + 1
    return np.stack([np.roll(first, i, 1) for i in range(dimensions)], 1).astype("f")


@cases(*product(range(len(_LIMITS)), ["inequality", "equality"], [1, 3]))
def best_feature_split(tf, np, limits, kind, dimensions):
    summary = _consistent(np, 6, dimensions, 2, limits)
    found = tf.raw_ops.BoostedTreesCalculateBestFeatureSplit(
        node_id_range=[0, 3],
        stats_summary=summary,
        logits_dimension=1,
        split_type=kind,
        **_limits(*_LIMITS[limits]),
    )
    return Close(_run(tf, list(found)), 1e-6, 1e-6)


@cases("diagonal", "whole", "singular", "zero")
def best_split_of_classes(tf, np, hessian):
    size = 3
    chance = np.random.RandomState(4)
    gradients = np.round(chance.randn(2, 2, 5, size) * 8) / 4
    factor = np.round(chance.randn(2, 2, 5, size, size) * 4) / 4
    whole = np.matmul(factor, np.swapaxes(factor, -1, -2)) + np.eye(size)
    hessians = {
        "diagonal": np.round(chance.rand(2, 2, 5, size) * 8) / 4 + 0.5,
        "zero": np.zeros((2, 2, 5, size)) + np.array([2.0, 0.0, 3.0]),
        "whole": whole.reshape(2, 2, 5, -1),
        "singular": np.tile(np.array([2.0, 0, 0, 0, 3, 0, 0, 0, 0]), (2, 2, 5, 1)),
    }[hessian]
    summary = np.concatenate([gradients, hessians], -1).astype("f")
    found = tf.raw_ops.BoostedTreesCalculateBestFeatureSplit(
        node_id_range=[0, 2], stats_summary=summary, logits_dimension=size, **_limits(0.0, 0.0, 0.1, 0.0)
    )
    return Close(_run(tf, list(found)), 1e-4, 1e-4)


@cases(*range(len(_LIMITS)))
def sparse_best_split(tf, np, limits):
    dense = _consistent(np, 5, 3, 2, limits)
    dense[:, 1, 2] = 0
    places = np.argwhere(dense[:, :, :, 1] > 0)
    indices = np.concatenate([np.repeat(places, 2, 0), np.tile([[0], [1]], (len(places), 1))], 1)
    found = tf.raw_ops.BoostedTreesSparseCalculateBestFeatureSplit(
        node_id_range=[0, 4],
        stats_summary_indices=indices.astype("i"),
        stats_summary_values=dense[tuple(indices.T)],
        stats_summary_shape=dense.shape,
        logits_dimension=1,
        **_limits(*_LIMITS[limits]),
    )
    return _run(tf, list(found))


# ------------------------------------------------------------------------------------------------ ensembles


class _Ensemble:
    """An ensemble, its operations, and a session."""

    def __init__(self, tf, logits=1):
        self.tf, self.raw, self.logits = tf, tf.raw_ops, logits
        self.handle = self.raw.BoostedTreesEnsembleResourceHandleOp(container="", shared_name="trees")
        self.session = tf.Session()
        self.run("CreateEnsemble", stamp_token=2, tree_ensemble_serialized="")

    def run(self, name, **inputs):
        found = getattr(self.raw, "BoostedTrees" + name)(tree_ensemble_handle=self.handle, **inputs)
        return self.session.run(list(found) if isinstance(found, tuple) else found)

    def grow(self, splits, max_depth=2, pruning=0, rate=0.5):
        """Splits by feature: rows of node, gain, threshold, left, right."""
        features = sorted(splits)
        columns = [[[row[i] for row in splits[feature]] for feature in features] for i in range(5)]
        self.run(
            "UpdateEnsemble",
            feature_ids=features,
            node_ids=columns[0],
            gains=columns[1],
            thresholds=columns[2],
            left_node_contribs=[[[x] for x in column] for column in columns[3]],
            right_node_contribs=[[[x] for x in column] for column in columns[4]],
            max_depth=max_depth,
            learning_rate=rate,
            pruning_mode=pruning,
        )

    def grow_v2(self, features, splits, max_depth=2, pruning=0, rate=0.5):
        """Splits by feature: rows of dimension, node, gain, threshold, left, right, kind."""
        names = ["dimension_ids", "node_ids", "gains", "thresholds"]
        names += ["left_node_contribs", "right_node_contribs", "split_types"]
        inputs = {name: [[row[i] for row in rows] for rows in splits] for i, name in enumerate(names)}
        inputs.update(max_depth=max_depth, learning_rate=rate, pruning_mode=pruning)
        try:  # as the list of op types has it: by groups, of which there is one
            self.run("UpdateEnsembleV2", feature_ids=[features], **inputs)
        except ValueError:  # as TensorFlow 1.15.5 has it
            self.run("UpdateEnsembleV2", feature_ids=features, **inputs)

    def everything(self, features):
        return [
            self.run("GetEnsembleStates"),
            self.run("SerializeEnsemble"),
            self.run("Predict", bucketized_features=features, logits_dimension=self.logits),
        ]


_FEATURES = [[0, 1, 2, 3, 4, 5], [5, 0, 3, 0, 1, 2]]


def _grown(tf, pruning, sign=1):
    ensemble = _Ensemble(tf)
    ensemble.grow({0: [(0, 0.5, 2, 0.25, -1.5)], 1: [(0, 0.5, 1, 3.0, -2.0)]}, pruning=pruning)
    yield ensemble
    ensemble.grow(
        {0: [(1, -0.25, 1, 1.0, -0.5), (2, 0.75 * sign, 3, 0.125, 2.0)], 1: [(1, -0.5, 0, 9.0, 9.0)]},
        pruning=pruning,
    )
    yield ensemble
    ensemble.grow({1: [(0, -2.0, 2, 0.75, 0.5)]}, pruning=pruning)
    yield ensemble
    ensemble.grow({0: [(1, -1.0, 0, 0.5, -0.25), (2, -3.0, 0, 0.5, -0.25)]}, pruning=pruning)
    yield ensemble


@cases(*product([0, 2], [1, -1]))
def growing(tf, np, pruning, sign):
    return [ensemble.everything(_FEATURES) for ensemble in _grown(tf, pruning, sign)]


@cases(-1.0, -0.0, 0.0, 1.0)
def pruned_beforehand(tf, np, gain):
    ensemble = _Ensemble(tf)
    ensemble.grow({0: [(0, gain, 2, 0.25, -1.5)], 1: [(0, gain / 2, 1, 3.0, -2.0)]}, pruning=1)
    found = ensemble.everything(_FEATURES)
    ensemble.grow({0: [(0, 1.0, 2, 0.25, -1.5)]} if gain < 0 else {1: [(2, gain, 1, 3.0, -2.0)]}, pruning=1)
    return found + ensemble.everything(_FEATURES)


@cases(*product([0, 2], ["nothing", "something"]))
def training_predictions(tf, np, pruning, cached):
    trees, nodes = np.zeros(6, "i"), np.full(6, -1, "i")
    logits, found = 0, []
    for ensemble in _grown(tf, pruning):
        partial, new_trees, new_nodes = ensemble.run(
            "TrainingPredict",
            cached_tree_ids=trees,
            cached_node_ids=nodes,
            bucketized_features=_FEATURES,
            logits_dimension=1,
        )
        logits = logits + partial
        found.append([partial, new_trees, new_nodes])
        if cached == "something":
            trees, nodes = new_trees, new_nodes
    return [found, logits]


def empty_ensembles(tf, np):
    ensemble = _Ensemble(tf)
    ensemble.run("CreateEnsemble", stamp_token=9, tree_ensemble_serialized="")
    found = ensemble.everything(_FEATURES)
    found.append(
        ensemble.run(
            "TrainingPredict",
            cached_tree_ids=[4, 4],
            cached_node_ids=[7, 7],
            bucketized_features=[[1, 2]],
            logits_dimension=1,
        )
    )
    return found + ensemble.everything(_FEATURES)


@cases(*product([0.0, 0.25], [0.0, 0.5], [1, -1]))
def centering(tf, np, l1, l2, sign):
    ensemble, found = _Ensemble(tf), []
    for gradient, hessian in [(0.75, 0.5), (0.375, 0.5), (0.03125, 0.25), (0.25, 0.0), (0.0625, 64.0)]:
        found.append(
            ensemble.run(
                "CenterBias",
                mean_gradients=[[sign * gradient]],
                mean_hessians=[[hessian]],
                l1=l1,
                l2=l2,
            )
        )
        found.append(ensemble.everything(_FEATURES))
    ensemble.grow({0: [(0, 0.5, 2, 0.25, -1.5)]})
    return found + ensemble.everything(_FEATURES)


def debug_outputs(tf, np):
    ensemble, found = _Ensemble(tf), []
    ensemble.run("CenterBias", mean_gradients=[[1.0]], mean_hessians=[[2.0]], l1=0.0, l2=0.0)
    for feature, max_depth in [(0, 1), (1, 2)]:
        ensemble.grow({feature: [(0, 0.5, 2, 0.25, -1.5)]}, max_depth=max_depth)
        outputs = ensemble.run("ExampleDebugOutputs", bucketized_features=_FEATURES, logits_dimension=1)
        found.append(outputs.tolist())
    ensemble.grow({0: [(1, 0.5, 1, 1.25, -0.5)], 1: [(2, -0.5, 0, 1.5, 0.5)]}, pruning=2)
    outputs = ensemble.run("ExampleDebugOutputs", bucketized_features=_FEATURES, logits_dimension=1)
    return found + [outputs.tolist()]


def splits_of_all_kinds(tf, np):
    ensemble = _Ensemble(tf)
    splits = [
        [(0, 0, 0.5, 2, [0.25], [-1.5], "EQUALITY_DEFAULT_RIGHT")],
        [(0, 0, 0.25, 2, [0.25], [-1.5], "INEQUALITY_DEFAULT_LEFT")],
    ]
    ensemble.grow_v2([1, 0], splits)
    found = ensemble.everything(_FEATURES)
    splits = [
        [
            (0, 1, 0.5, 2, [0.25], [-1.5], "INEQUALITY_DEFAULT_RIGHT"),
            (0, 2, -0.25, 2, [0.25], [1.5], "INEQUALITY_DEFAULT_LEFT"),
        ]
    ]
    ensemble.grow_v2([0], splits)
    return found + ensemble.everything(_FEATURES)


def written_and_read(tf, np):
    ensemble = list(_grown(tf, 2))[-1]
    stamp, serialized = ensemble.run("SerializeEnsemble")
    before = ensemble.everything(_FEATURES)
    ensemble.run("DeserializeEnsemble", stamp_token=stamp + 5, tree_ensemble_serialized=b"")
    empty = ensemble.everything(_FEATURES)
    ensemble.run("DeserializeEnsemble", stamp_token=stamp, tree_ensemble_serialized=serialized)
    return [before, empty, ensemble.everything(_FEATURES)]


def uninitialized(tf, np):
    raw = tf.raw_ops
    handle = raw.BoostedTreesEnsembleResourceHandleOp(container="", shared_name="nothing")
    with tf.Session() as session:
        return [
            session.run(raw.IsBoostedTreesEnsembleInitialized(tree_ensemble_handle=handle)),
            raises(session.run, raw.BoostedTreesGetEnsembleStates(tree_ensemble_handle=handle)[0]),
            raises(
                session.run,
                raw.BoostedTreesDeserializeEnsemble(
                    tree_ensemble_handle=handle, stamp_token=1, tree_ensemble_serialized=""
                ),
            ),
        ]


def wrong_ranks(tf, np):
    raw = tf.raw_ops
    handle = raw.BoostedTreesEnsembleResourceHandleOp(container="", shared_name="ranks")
    matrix, vector = np.zeros((2, 2), "f"), np.zeros(2, "i")
    return [
        raises(
            raw.BoostedTreesPredict,
            tree_ensemble_handle=handle,
            bucketized_features=[matrix.astype("i")],
            logits_dimension=1,
        ),
        raises(
            raw.BoostedTreesMakeStatsSummary,
            node_ids=matrix.astype("i"),
            gradients=matrix,
            hessians=matrix,
            bucketized_features_list=[vector],
            max_splits=1,
            num_buckets=1,
        ),
        raises(raw.BoostedTreesBucketize, float_values=[np.zeros(2, "f")], bucket_boundaries=[matrix]),
        raises(
            raw.BoostedTreesMakeQuantileSummaries, float_values=[matrix], example_weights=[1.0], epsilon=0.1
        ),
    ]
