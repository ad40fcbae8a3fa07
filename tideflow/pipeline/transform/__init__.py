"""Preprocessing that training and serving share: TensorFlow Transform's analyzers and mappers.

import tideflow.pipeline.transform as tft

def preprocessing_fn(inputs):
    return {"fare": tft.scale_to_z_score(inputs["fare"])}
"""

from tideflow.pipeline.transform import experimental  # noqa: F401
from tideflow.pipeline.transform.analyzers import (  # noqa: F401
    count_per_key,
    covariance,
    histogram,
    max,
    mean,
    min,
    pca,
    quantiles,
    size,
    sum,
    tukey_h_params,
    tukey_location,
    tukey_scale,
    var,
    vocabulary,
)
from tideflow.pipeline.transform.buckets import (  # noqa: F401
    apply_buckets,
    apply_buckets_with_interpolation,
    bucketize,
    bucketize_per_key,
    estimated_probability_density,
)
from tideflow.pipeline.transform.lookups import (  # noqa: F401
    apply_vocabulary,
    compute_and_apply_vocabulary,
    get_num_buckets_for_transformed_feature,
    hash_strings,
)
from tideflow.pipeline.transform.output import (  # noqa: F401
    DatasetMetadata,
    TFTransformOutput,
    TransformFeaturesLayer,
)
from tideflow.pipeline.transform.run import (  # noqa: F401
    analyze_data,
    get_analyze_input_columns,
    get_transform_input_columns,
    transform_blocks,
)
from tideflow.pipeline.transform.scaling import (  # noqa: F401
    scale_by_min_max,
    scale_by_min_max_per_key,
    scale_to_0_1,
    scale_to_0_1_per_key,
    scale_to_gaussian,
    scale_to_z_score,
    scale_to_z_score_per_key,
)
from tideflow.pipeline.transform.text import (  # noqa: F401
    bag_of_words,
    deduplicate_tensor_per_row,
    ngrams,
    segment_indices,
    sparse_tensor_left_align,
    sparse_tensor_to_dense_with_shape,
    tfidf,
    word_count,
)
from tideflow.pipeline.transform.trace import annotate_asset  # noqa: F401
