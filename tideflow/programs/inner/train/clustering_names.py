"""`tensorflow.contrib.losses.python.metric_learning.metric_loss_ops`: the steps of the clustering loss."""

from __future__ import annotations

from typing import Any

import numpy as np

import tideflow as tf
from tideflow.contrib import metric_learning

pairwise_distance = metric_learning.pairwise_distance


def masked_maximum(data: Any, mask: Any, dim: int = 1) -> Any:
    """The largest of the elements along an axis where the mask is 1."""
    least = tf.reduce_min(data, dim, keepdims=True)
    return tf.reduce_max((data - least) * mask, dim, keepdims=True) + least


def masked_minimum(data: Any, mask: Any, dim: int = 1) -> Any:
    """The smallest of the elements along an axis where the mask is 1."""
    return -masked_maximum(-data, mask, dim)


def update_1d_tensor(y: Any, index: Any, value: Any) -> Any:
    """A vector with another element at an index."""
    y = tf.convert_to_tensor(y)
    return tf.concat([y[:index], [value], y[index + 1 :]], 0)


def get_cluster_assignment(pairwise_distances: Any, centroid_ids: Any) -> Any:
    """The nearest center of each example; a center stands for itself."""
    return _of_arrays(
        lambda distances, chosen: metric_learning.assignments(distances, chosen.tolist()).astype(np.int64),
        tf.int64,
        [None],
        pairwise_distances,
        centroid_ids,
    )


def compute_facility_energy(pairwise_distances: Any, centroid_ids: Any) -> Any:
    """The sum of the examples' distances from their centers, negative."""
    return -tf.reduce_sum(tf.reduce_min(tf.gather(pairwise_distances, centroid_ids), axis=0))


def compute_clustering_score(labels: Any, predictions: Any, margin_type: str) -> Any:
    """How well a clustering agrees with labels, from 0 to 1."""
    score = metric_learning.score_function(margin_type)
    return _of_arrays(lambda *both: np.float32(score(*both)), tf.float32, [], labels, predictions)


def compute_augmented_facility_locations(
    pairwise_distances: Any, labels: Any, all_ids: Any, margin_multiplier: float, margin_type: str
) -> Any:
    """The centers, found greedily, of clusters that lie well and agree badly with the labels."""
    score = metric_learning.score_function(margin_type)

    def chosen(distances: np.ndarray, labels: np.ndarray) -> np.ndarray:
        return np.array(metric_learning.facilities(distances, labels, margin_multiplier, score), np.int32)

    return _of_arrays(chosen, tf.int32, [None], pairwise_distances, labels)


def compute_augmented_facility_locations_pam(
    pairwise_distances: Any,
    labels: Any,
    margin_multiplier: float,
    margin_type: str,
    chosen_ids: Any,
    pam_max_iter: int = 5,
) -> Any:
    """Centers refined: each is exchanged for the best member of its cluster, some times over."""
    for _ in range(pam_max_iter):
        predictions = get_cluster_assignment(pairwise_distances, chosen_ids)
        chosen_ids = update_all_medoids(
            pairwise_distances, predictions, labels, chosen_ids, margin_multiplier, margin_type
        )
    return chosen_ids


def update_all_medoids(
    pairwise_distances: Any,
    predictions: Any,
    labels: Any,
    chosen_ids: Any,
    margin_multiplier: float,
    margin_type: str,
) -> Any:
    """Centers refined once, one cluster after another."""
    score = metric_learning.score_function(margin_type)

    def refined(distances: np.ndarray, clusters: np.ndarray, labels: np.ndarray, ids: np.ndarray) -> Any:
        found = metric_learning.refined(distances, clusters, labels, ids.tolist(), margin_multiplier, score)
        return np.array(found, np.int32)

    return _of_arrays(refined, tf.int32, [None], pairwise_distances, predictions, labels, chosen_ids)


def compute_gt_cluster_score(pairwise_distances: Any, labels: Any) -> Any:
    """What `compute_facility_energy` would be if the labels were the clusters."""
    return metric_learning.energy_of_labels(tf.convert_to_tensor(pairwise_distances), labels)


def _of_arrays(function: Any, dtype: Any, shape: list[Any], *inputs: Any) -> Any:
    result = tf.py_func(function, list(inputs), dtype)
    result.set_shape(shape)
    return result
