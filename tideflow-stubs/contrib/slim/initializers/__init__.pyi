# Written by `python -m tideflow.programs.stubs`.

from builtins import int as _int
from tideflow.contrib.layers import avg_pool2d as avg_pool2d
from tideflow.contrib.layers import avg_pool3d as avg_pool3d
from tideflow.contrib.layers import conv1d as _convolution1d
from tideflow.contrib.layers import conv1d as conv1d
from tideflow.contrib.layers import conv2d as _convolution2d
from tideflow.contrib.layers import conv2d as conv2d
from tideflow.contrib.layers import conv2d_transpose as _convolution2d_transpose
from tideflow.contrib.layers import conv2d_transpose as conv2d_transpose
from tideflow.contrib.layers import conv3d as _convolution3d
from tideflow.contrib.layers import conv3d as conv3d
from tideflow.contrib.layers import conv3d_transpose as _convolution3d_transpose
from tideflow.contrib.layers import conv3d_transpose as conv3d_transpose
from tideflow.contrib.layers import max_pool2d as max_pool2d
from tideflow.contrib.layers import max_pool3d as max_pool3d
from tideflow.contrib.layers.arrangement import dense_to_sparse as dense_to_sparse
from tideflow.contrib.layers.arrangement import flatten as flatten
from tideflow.contrib.layers.arrangement import images_to_sequence as images_to_sequence
from tideflow.contrib.layers.arrangement import maxout as maxout
from tideflow.contrib.layers.arrangement import one_hot_encoding as one_hot_encoding
from tideflow.contrib.layers.arrangement import repeat as repeat
from tideflow.contrib.layers.arrangement import sequence_to_images as sequence_to_images
from tideflow.contrib.layers.arrangement import softmax as softmax
from tideflow.contrib.layers.arrangement import spatial_softmax as spatial_softmax
from tideflow.contrib.layers.arrangement import stack as stack
from tideflow.contrib.layers.arrangement import unit_norm as unit_norm
from tideflow.contrib.layers.columns.categories import crossed_column as crossed_column
from tideflow.contrib.layers.columns.categories import sparse_column_with_hash_bucket as sparse_column_with_hash_bucket
from tideflow.contrib.layers.columns.categories import sparse_column_with_integerized_feature as sparse_column_with_integerized_feature
from tideflow.contrib.layers.columns.categories import sparse_column_with_keys as sparse_column_with_keys
from tideflow.contrib.layers.columns.categories import sparse_column_with_vocabulary_file as sparse_column_with_vocabulary_file
from tideflow.contrib.layers.columns.categories import weighted_sparse_column as weighted_sparse_column
from tideflow.contrib.layers.columns.inputs import input_from_feature_columns as input_from_feature_columns
from tideflow.contrib.layers.columns.inputs import joint_weighted_sum_from_feature_columns as joint_weighted_sum_from_feature_columns
from tideflow.contrib.layers.columns.inputs import sequence_input_from_feature_columns as sequence_input_from_feature_columns
from tideflow.contrib.layers.columns.inputs import weighted_sum_from_feature_columns as weighted_sum_from_feature_columns
from tideflow.contrib.layers.columns.numbers import bucketized_column as bucketized_column
from tideflow.contrib.layers.columns.numbers import real_valued_column as real_valued_column
from tideflow.contrib.layers.columns.parsing import check_feature_columns as check_feature_columns
from tideflow.contrib.layers.columns.parsing import create_feature_spec_for_parsing as create_feature_spec_for_parsing
from tideflow.contrib.layers.columns.parsing import infer_real_valued_columns as infer_real_valued_columns
from tideflow.contrib.layers.columns.parsing import make_place_holder_tensors_for_base_features as make_place_holder_tensors_for_base_features
from tideflow.contrib.layers.columns.parsing import parse_feature_columns_from_examples as parse_feature_columns_from_examples
from tideflow.contrib.layers.columns.parsing import parse_feature_columns_from_sequence_examples as parse_feature_columns_from_sequence_examples
from tideflow.contrib.layers.columns.parsing import transform_features as transform_features
from tideflow.contrib.layers.columns.targets import multi_class_target as multi_class_target
from tideflow.contrib.layers.columns.targets import regression_target as regression_target
from tideflow.contrib.layers.columns.vectors import embedding_column as embedding_column
from tideflow.contrib.layers.columns.vectors import one_hot_column as one_hot_column
from tideflow.contrib.layers.columns.vectors import scattered_embedding_column as scattered_embedding_column
from tideflow.contrib.layers.columns.vectors import shared_embedding_columns as shared_embedding_columns
from tideflow.contrib.layers.convolutions import convolution as convolution
from tideflow.contrib.layers.convolutions import convolution2d_in_plane as _conv2d_in_plane
from tideflow.contrib.layers.convolutions import convolution2d_in_plane as convolution2d_in_plane
from tideflow.contrib.layers.convolutions import separable_convolution2d as _separable_conv2d
from tideflow.contrib.layers.convolutions import separable_convolution2d as separable_convolution2d
from tideflow.contrib.layers.dense import bias_add as bias_add
from tideflow.contrib.layers.dense import dropout as dropout
from tideflow.contrib.layers.dense import elu as elu
from tideflow.contrib.layers.dense import fully_connected as fully_connected
from tideflow.contrib.layers.dense import legacy_fully_connected as legacy_fully_connected
from tideflow.contrib.layers.dense import legacy_linear as legacy_linear
from tideflow.contrib.layers.dense import legacy_relu as legacy_relu
from tideflow.contrib.layers.dense import linear as linear
from tideflow.contrib.layers.dense import relu as relu
from tideflow.contrib.layers.dense import relu6 as relu6
from tideflow.contrib.layers.divisive import GDN as GDN
from tideflow.contrib.layers.divisive import gdn as gdn
from tideflow.contrib.layers.divisive import scale_gradient as scale_gradient
from tideflow.contrib.layers.embeddings import bow_encoder as bow_encoder
from tideflow.contrib.layers.embeddings import embed_sequence as embed_sequence
from tideflow.contrib.layers.embeddings import embedding_lookup_unique as embedding_lookup_unique
from tideflow.contrib.layers.embeddings import safe_embedding_lookup_sparse as safe_embedding_lookup_sparse
from tideflow.contrib.layers.normalizers import batch_norm as batch_norm
from tideflow.contrib.layers.normalizers import group_norm as group_norm
from tideflow.contrib.layers.normalizers import instance_norm as instance_norm
from tideflow.contrib.layers.normalizers import layer_norm as layer_norm
from tideflow.contrib.layers.optimization import OPTIMIZER_CLS_NAMES as OPTIMIZER_CLS_NAMES
from tideflow.contrib.layers.optimization import OPTIMIZER_SUMMARIES as OPTIMIZER_SUMMARIES
from tideflow.contrib.layers.optimization import optimize_loss as optimize_loss
from tideflow.contrib.layers.penalties import apply_regularization as apply_regularization
from tideflow.contrib.layers.penalties import l1_l2_regularizer as l1_l2_regularizer
from tideflow.contrib.layers.penalties import l1_regularizer as l1_regularizer
from tideflow.contrib.layers.penalties import l2_regularizer as l2_regularizer
from tideflow.contrib.layers.penalties import sum_regularizer as sum_regularizer
from tideflow.contrib.layers.reversible import RevBlock as RevBlock
from tideflow.contrib.layers.reversible import recompute_grad as recompute_grad
from tideflow.contrib.layers.reversible import rev_block as rev_block
from tideflow.contrib.layers.scaling import variance_scaling_initializer as variance_scaling_initializer
from tideflow.contrib.layers.scaling import xavier_initializer as _xavier_initializer_conv2d
from tideflow.contrib.layers.scaling import xavier_initializer as xavier_initializer
from tideflow.contrib.layers.summaries import summarize_activation as summarize_activation
from tideflow.contrib.layers.summaries import summarize_activations as summarize_activations
from tideflow.contrib.layers.summaries import summarize_collection as summarize_collection
from tideflow.contrib.layers.summaries import summarize_tensor as summarize_tensor
from tideflow.contrib.layers.summaries import summarize_tensors as summarize_tensors

SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY: _int
conv2d_in_plane = _conv2d_in_plane
convolution1d = _convolution1d
convolution2d = _convolution2d
convolution2d_transpose = _convolution2d_transpose
convolution3d = _convolution3d
convolution3d_transpose = _convolution3d_transpose
separable_conv2d = _separable_conv2d
xavier_initializer_conv2d = _xavier_initializer_conv2d
