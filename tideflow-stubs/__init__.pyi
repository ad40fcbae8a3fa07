# Written by `python -m tideflow.programs.stubs`.

from builtins import bool as _bool
from builtins import int as _int
from builtins import str as _str
from tideflow.graph.operation import Operation as _Operation
from tideflow.graph.operation import Tensor as _Tensor
from typing import Any as _Any
from tensorboard.compat.proto.attr_value_pb2 import AttrValue as AttrValue
from tensorboard.compat.proto.attr_value_pb2 import NameAttrList as NameAttrList
from tensorboard.compat.proto.config_pb2 import ConfigProto as ConfigProto
from tensorboard.compat.proto.config_pb2 import GPUOptions as GPUOptions
from tensorboard.compat.proto.config_pb2 import GraphOptions as GraphOptions
from tensorboard.compat.proto.config_pb2 import OptimizerOptions as OptimizerOptions
from tensorboard.compat.proto.config_pb2 import RunMetadata as RunMetadata
from tensorboard.compat.proto.config_pb2 import RunOptions as RunOptions
from tensorboard.compat.proto.event_pb2 import Event as Event
from tensorboard.compat.proto.event_pb2 import LogMessage as LogMessage
from tensorboard.compat.proto.event_pb2 import SessionLog as SessionLog
from tensorboard.compat.proto.graph_pb2 import GraphDef as GraphDef
from tensorboard.compat.proto.histogram_pb2 import HistogramProto as HistogramProto
from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef as MetaGraphDef
from tensorboard.compat.proto.meta_graph_pb2 import SignatureDef as SignatureDef
from tensorboard.compat.proto.meta_graph_pb2 import TensorInfo as TensorInfo
from tensorboard.compat.proto.node_def_pb2 import NodeDef as NodeDef
from tensorboard.compat.proto.summary_pb2 import Summary as Summary
from tensorboard.compat.proto.summary_pb2 import SummaryMetadata as SummaryMetadata
from tideflow import app as app
from tideflow import audio as audio
from tideflow import bitwise as bitwise
from tideflow import compat as compat
from tideflow import config as config
from tideflow import contrib as contrib
from tideflow import data as data
from tideflow import debugging as debugging
from tideflow import distribute as distribute
from tideflow import distributions as distributions
from tideflow import dtypes as dtypes
from tideflow import errors as errors
from tideflow import feature_column as feature_column
from tideflow import floormod as mod
from tideflow import gfile as gfile
from tideflow import graph_util as graph_util
from tideflow import image as image
from tideflow import initializers as initializers
from tideflow import io as io
from tideflow import keras as keras
from tideflow import layers as layers
from tideflow import linalg as linalg
from tideflow import logging as logging
from tideflow import lookup as lookup
from tideflow import losses as losses
from tideflow import manip as manip
from tideflow import math as math
from tideflow import metrics as metrics
from tideflow import nest as nest
from tideflow import nn as nn
from tideflow import profiler as profiler
from tideflow import python_io as python_io
from tideflow import pywrap_tensorflow as pywrap_tensorflow
from tideflow import quantization as quantization
from tideflow import queue as queue
from tideflow import ragged as ragged
from tideflow import random as random
from tideflow import raw_ops as raw_ops
from tideflow import resource_loader as resource_loader
from tideflow import saved_model as saved_model
from tideflow import sets as sets
from tideflow import signal as signal
from tideflow import sparse as sparse
from tideflow import spectral as spectral
from tideflow import strings as strings
from tideflow import summary as summary
from tideflow import sysconfig as sysconfig
from tideflow import test as test
from tideflow import train as train
from tideflow import user_ops as user_ops
from tideflow import version as version
from tideflow._version import __version__ as __version__
from tideflow.autodiff.aggregate import AggregationMethod as AggregationMethod
from tideflow.autodiff.custom import custom_gradient as custom_gradient
from tideflow.autodiff.gradients import UnconnectedGradients as UnconnectedGradients
from tideflow.autodiff.gradients import gradients as gradients
from tideflow.autodiff.gradients import hessians as hessians
from tideflow.autodiff.recompute import grad_pass_through as grad_pass_through
from tideflow.autodiff.recompute import recompute_grad as recompute_grad
from tideflow.autodiff.registry import RegisterGradient as RegisterGradient
from tideflow.autodiff.registry import not_differentiable_type as NoGradient
from tideflow.autodiff.registry import not_differentiable_type as NotDifferentiable
from tideflow.autodiff.registry import not_differentiable_type as no_gradient
from tideflow.data.optional import OptionalSpec as OptionalSpec
from tideflow.graph.composite import IndexedSlices as IndexedSlices
from tideflow.graph.composite import SparseTensor as SparseTensor
from tideflow.graph.composite import SparseTensorValue as SparseTensorValue
from tideflow.graph.composite import convert_to_tensor_or_indexed_slices as convert_to_tensor_or_indexed_slices
from tideflow.graph.composite import convert_to_tensor_or_sparse_tensor as convert_to_tensor_or_sparse_tensor
from tideflow.graph.convert import convert_to_tensor as convert_to_tensor
from tideflow.graph.convert import is_tensor as is_tensor
from tideflow.graph.convert import register_tensor_conversion_function as register_tensor_conversion_function
from tideflow.graph.device import DeviceSpec as DeviceSpec
from tideflow.graph.dtypes import DType as DType
from tideflow.graph.dtypes import QUANTIZED_DTYPES as QUANTIZED_DTYPES
from tideflow.graph.dtypes import as_dtype as as_dtype
from tideflow.graph.dtypes import bfloat16 as bfloat16
from tideflow.graph.dtypes import bool as bool
from tideflow.graph.dtypes import complex128 as complex128
from tideflow.graph.dtypes import complex64 as complex64
from tideflow.graph.dtypes import double as double
from tideflow.graph.dtypes import double as float64
from tideflow.graph.dtypes import float32 as float32
from tideflow.graph.dtypes import half as float16
from tideflow.graph.dtypes import half as half
from tideflow.graph.dtypes import int16 as int16
from tideflow.graph.dtypes import int32 as int32
from tideflow.graph.dtypes import int64 as int64
from tideflow.graph.dtypes import int8 as int8
from tideflow.graph.dtypes import qint16 as qint16
from tideflow.graph.dtypes import qint32 as qint32
from tideflow.graph.dtypes import qint8 as qint8
from tideflow.graph.dtypes import quint16 as quint16
from tideflow.graph.dtypes import quint8 as quint8
from tideflow.graph.dtypes import resource as resource
from tideflow.graph.dtypes import string as string
from tideflow.graph.dtypes import uint16 as uint16
from tideflow.graph.dtypes import uint32 as uint32
from tideflow.graph.dtypes import uint64 as uint64
from tideflow.graph.dtypes import uint8 as uint8
from tideflow.graph.dtypes import variant as variant
from tideflow.graph.errors import OpError as OpError
from tideflow.graph.graph import Graph as Graph
from tideflow.graph.graph_import import import_graph_def as import_graph_def
from tideflow.graph.operation import Operation as Operation
from tideflow.graph.operation import Tensor as Tensor
from tideflow.graph.partial import constant_value as get_static_value
from tideflow.graph.scopes import GraphKeys as GraphKeys
from tideflow.graph.scopes import add_to_collection as add_to_collection
from tideflow.graph.scopes import add_to_collections as add_to_collections
from tideflow.graph.scopes import colocate_with as colocate_with
from tideflow.graph.scopes import container as container
from tideflow.graph.scopes import control_dependencies as control_dependencies
from tideflow.graph.scopes import device as device
from tideflow.graph.scopes import get_collection as get_collection
from tideflow.graph.scopes import get_collection_ref as get_collection_ref
from tideflow.graph.scopes import get_default_graph as get_default_graph
from tideflow.graph.scopes import get_default_session as get_default_session
from tideflow.graph.scopes import get_seed as get_seed
from tideflow.graph.scopes import init_scope as init_scope
from tideflow.graph.scopes import name_scope as name_scope
from tideflow.graph.scopes import op_scope as op_scope
from tideflow.graph.scopes import reset_default_graph as reset_default_graph
from tideflow.graph.scopes import set_random_seed as set_random_seed
from tideflow.graph.shapes import Dimension as Dimension
from tideflow.graph.shapes import TensorShape as TensorShape
from tideflow.graph.shapes import broadcast_static_shape as broadcast_static_shape
from tideflow.graph.shapes import dimension_at_index as dimension_at_index
from tideflow.graph.shapes import dimension_value as dimension_value
from tideflow.graph.tensor_proto import make_ndarray as make_ndarray
from tideflow.graph.tensor_proto import make_tensor_proto as make_tensor_proto
from tideflow.graph.type_spec import IndexedSlicesSpec as IndexedSlicesSpec
from tideflow.graph.type_spec import SparseTensorSpec as SparseTensorSpec
from tideflow.graph.type_spec import TensorSpec as TensorSpec
from tideflow.graph.type_spec import TypeSpec as TypeSpec
from tideflow.lookup.collections import initialize_all_tables as initialize_all_tables
from tideflow.lookup.collections import tables_initializer as tables_initializer
from tideflow.ops.arrays.blocks import batch_to_space as batch_to_space
from tideflow.ops.arrays.blocks import batch_to_space_nd as batch_to_space_nd
from tideflow.ops.arrays.blocks import depth_to_space as depth_to_space
from tideflow.ops.arrays.blocks import required_space_to_batch_paddings as required_space_to_batch_paddings
from tideflow.ops.arrays.blocks import space_to_batch as space_to_batch
from tideflow.ops.arrays.blocks import space_to_batch_nd as space_to_batch_nd
from tideflow.ops.arrays.blocks import space_to_depth as space_to_depth
from tideflow.ops.arrays.constants import constant as constant
from tideflow.ops.arrays.constants import constant as constant_v1
from tideflow.ops.arrays.constants import identity_n as identity_n
from tideflow.ops.arrays.constants import no_operation as no_op
from tideflow.ops.arrays.constants import placeholder as placeholder
from tideflow.ops.arrays.constants import placeholder_with_default as placeholder_with_default
from tideflow.ops.arrays.constants import stop_gradient as stop_gradient
from tideflow.ops.arrays.creation import eye as eye
from tideflow.ops.arrays.creation import fill as fill
from tideflow.ops.arrays.creation import guarantee_const as guarantee_const
from tideflow.ops.arrays.creation import linspace as lin_space
from tideflow.ops.arrays.creation import linspace as linspace
from tideflow.ops.arrays.creation import meshgrid as meshgrid
from tideflow.ops.arrays.creation import ones as ones
from tideflow.ops.arrays.creation import range as range
from tideflow.ops.arrays.creation import sequence_mask as sequence_mask
from tideflow.ops.arrays.creation import zeros as zeros
from tideflow.ops.arrays.diagonals import diag as diag
from tideflow.ops.arrays.diagonals import diag_part as diag_part
from tideflow.ops.arrays.diagonals import matrix_band_part as matrix_band_part
from tideflow.ops.arrays.diagonals import matrix_diag as matrix_diag
from tideflow.ops.arrays.diagonals import matrix_set_diag as matrix_set_diag
from tideflow.ops.arrays.indexing import boolean_mask as boolean_mask
from tideflow.ops.arrays.indexing import gather_nd as gather_nd
from tideflow.ops.arrays.indexing import unique as unique
from tideflow.ops.arrays.indexing import unique_with_counts as unique_with_counts
from tideflow.ops.arrays.indexing import where_v2 as where_v2
from tideflow.ops.arrays.joining import parallel_stack as parallel_stack
from tideflow.ops.arrays.joining import split as split
from tideflow.ops.arrays.joining import unstack as unstack
from tideflow.ops.arrays.scatter import scatter_nd as scatter_nd
from tideflow.ops.arrays.scatter import tensor_scatter_add as tensor_scatter_add
from tideflow.ops.arrays.scatter import tensor_scatter_add as tensor_scatter_nd_add
from tideflow.ops.arrays.scatter import tensor_scatter_sub as tensor_scatter_nd_sub
from tideflow.ops.arrays.scatter import tensor_scatter_sub as tensor_scatter_sub
from tideflow.ops.arrays.scatter import tensor_scatter_update as tensor_scatter_nd_update
from tideflow.ops.arrays.scatter import tensor_scatter_update as tensor_scatter_update
from tideflow.ops.arrays.shapes import broadcast_dynamic_shape as broadcast_dynamic_shape
from tideflow.ops.arrays.shapes import broadcast_to as broadcast_to
from tideflow.ops.arrays.shapes import ensure_shape as ensure_shape
from tideflow.ops.arrays.shapes import invert_permutation as invert_permutation
from tideflow.ops.arrays.shapes import matrix_transpose as matrix_transpose
from tideflow.ops.arrays.shapes import reshape as reshape
from tideflow.ops.arrays.shapes import shape as shape
from tideflow.ops.arrays.shapes import shape_n as shape_n
from tideflow.ops.arrays.shapes import squeeze as squeeze
from tideflow.ops.arrays.shapes import transpose as transpose
from tideflow.ops.arrays.slicing import slice as slice
from tideflow.ops.arrays.slicing import strided_slice as strided_slice
from tideflow.ops.arrays.sorting import argsort as argsort
from tideflow.ops.arrays.sorting import searchsorted as searchsorted
from tideflow.ops.arrays.sorting import sort as sort
from tideflow.ops.arrays.stitching import dynamic_partition as dynamic_partition
from tideflow.ops.arrays.stitching import dynamic_stitch as dynamic_stitch
from tideflow.ops.arrays.stitching import setdiff1d as setdiff1d
from tideflow.ops.arrays.tiling import pad as pad
from tideflow.ops.arrays.tiling import repeat as repeat
from tideflow.ops.arrays.tiling import reverse as reverse
from tideflow.ops.arrays.tiling import reverse as reverse_v2
from tideflow.ops.arrays.tiling import reverse_sequence as reverse_sequence
from tideflow.ops.arrays.tiling import roll as roll
from tideflow.ops.control_flow.conditionals import case as case
from tideflow.ops.control_flow.conditionals import cond as cond
from tideflow.ops.control_flow.conditionals import switch_case as switch_case
from tideflow.ops.control_flow.critical_section import CriticalSection as CriticalSection
from tideflow.ops.control_flow.grouping import Assert as Assert
from tideflow.ops.control_flow.grouping import Print as Print
from tideflow.ops.control_flow.grouping import group as group
from tideflow.ops.control_flow.grouping import numpy_function as numpy_function
from tideflow.ops.control_flow.grouping import py_func as py_func
from tideflow.ops.control_flow.grouping import tuple as tuple
from tideflow.ops.control_flow.grouping import with_dependencies as with_dependencies
from tideflow.ops.control_flow.map_and_fold import foldl as foldl
from tideflow.ops.control_flow.map_and_fold import foldr as foldr
from tideflow.ops.control_flow.map_and_fold import map_fn as map_fn
from tideflow.ops.control_flow.map_and_fold import scan as scan
from tideflow.ops.control_flow.map_and_fold import vectorized_map as vectorized_map
from tideflow.ops.control_flow.tensor_array import TensorArray as TensorArray
from tideflow.ops.control_flow.while_loops import while_loop as while_loop
from tideflow.ops.files.decoding import decode_csv as decode_csv
from tideflow.ops.files.decoding import decode_json_example as decode_json_example
from tideflow.ops.files.decoding import decode_raw as decode_raw
from tideflow.ops.files.decoding import parse_tensor as parse_tensor
from tideflow.ops.files.decoding import serialize_tensor as serialize_tensor
from tideflow.ops.files.feature_specs import FixedLenFeature as FixedLenFeature
from tideflow.ops.files.feature_specs import FixedLenSequenceFeature as FixedLenSequenceFeature
from tideflow.ops.files.feature_specs import SparseFeature as SparseFeature
from tideflow.ops.files.feature_specs import VarLenFeature as VarLenFeature
from tideflow.ops.files.files import matching_files as matching_files
from tideflow.ops.files.files import read_file as read_file
from tideflow.ops.files.files import write_file as write_file
from tideflow.ops.files.machine import timestamp as timestamp
from tideflow.ops.files.parsing import parse_example as parse_example
from tideflow.ops.files.parsing import parse_single_example as parse_single_example
from tideflow.ops.files.sequence_parsing import parse_single_sequence_example as parse_single_sequence_example
from tideflow.ops.images.patches import extract_image_patches as extract_image_patches
from tideflow.ops.images.patches import extract_volume_patches as extract_volume_patches
from tideflow.ops.linalg.contraction import einsum as einsum
from tideflow.ops.linalg.contraction import tensordot as tensordot
from tideflow.ops.linalg.decompositions import qr as qr
from tideflow.ops.linalg.matmul import sparse_matmul as sparse_matmul
from tideflow.ops.linalg.matrix_functions import matrix_square_root as matrix_square_root
from tideflow.ops.linalg.norms import norm as norm
from tideflow.ops.linalg.products import cross as cross
from tideflow.ops.linalg.solvers import cholesky_solve as cholesky_solve
from tideflow.ops.linalg.solvers import matrix_solve_ls as matrix_solve_ls
from tideflow.ops.linalg.solvers import matrix_triangular_solve as matrix_triangular_solve
from tideflow.ops.linalg.spectra import self_adjoint_eig as self_adjoint_eig
from tideflow.ops.linalg.spectra import self_adjoint_eigvals as self_adjoint_eigvals
from tideflow.ops.linalg.spectra import svd as svd
from tideflow.ops.math.binary import div as div
from tideflow.ops.math.binary import scalar_mul as scalar_mul
from tideflow.ops.math.casting import bitcast as bitcast
from tideflow.ops.math.casting import to_bfloat16 as to_bfloat16
from tideflow.ops.math.casting import to_complex128 as to_complex128
from tideflow.ops.math.casting import to_complex64 as to_complex64
from tideflow.ops.math.casting import to_double as to_double
from tideflow.ops.math.casting import to_float as to_float
from tideflow.ops.math.casting import to_int32 as to_int32
from tideflow.ops.math.casting import to_int64 as to_int64
from tideflow.ops.math.checks import add_check_numerics_ops as add_check_numerics_ops
from tideflow.ops.math.checks import assert_equal as assert_equal
from tideflow.ops.math.checks import assert_integer as assert_integer
from tideflow.ops.math.checks import assert_near as assert_near
from tideflow.ops.math.checks import assert_proper_iterable as assert_proper_iterable
from tideflow.ops.math.checks import assert_rank as assert_rank
from tideflow.ops.math.checks import assert_rank_at_least as assert_rank_at_least
from tideflow.ops.math.checks import assert_rank_in as assert_rank_in
from tideflow.ops.math.checks import assert_same_float_dtype as assert_same_float_dtype
from tideflow.ops.math.checks import assert_scalar as assert_scalar
from tideflow.ops.math.checks import assert_type as assert_type
from tideflow.ops.math.checks import is_non_decreasing as is_non_decreasing
from tideflow.ops.math.checks import is_numeric_tensor as is_numeric_tensor
from tideflow.ops.math.checks import is_strictly_increasing as is_strictly_increasing
from tideflow.ops.math.checks import verify_tensor_all_finite as verify_tensor_all_finite
from tideflow.ops.math.clipping import clip_by_average_norm as clip_by_average_norm
from tideflow.ops.math.clipping import clip_by_global_norm as clip_by_global_norm
from tideflow.ops.math.clipping import clip_by_norm as clip_by_norm
from tideflow.ops.math.clipping import global_norm as global_norm
from tideflow.ops.math.confusion import confusion_matrix as confusion_matrix
from tideflow.ops.math.counting import bincount as bincount
from tideflow.ops.math.cumulative import cumprod as cumprod
from tideflow.ops.math.cumulative import cumsum as cumsum
from tideflow.ops.math.histograms import histogram_fixed_width as histogram_fixed_width
from tideflow.ops.math.histograms import histogram_fixed_width_bins as histogram_fixed_width_bins
from tideflow.ops.math.histograms import unravel_index as unravel_index
from tideflow.ops.math.reductions import accumulate_n as accumulate_n
from tideflow.ops.math.reductions import arg_max as arg_max
from tideflow.ops.math.reductions import arg_min as arg_min
from tideflow.ops.math.reductions import argmax as argmax
from tideflow.ops.math.reductions import argmin as argmin
from tideflow.ops.math.reductions import count_nonzero as count_nonzero
from tideflow.ops.math.reductions import reduce_logsumexp as reduce_logsumexp
from tideflow.ops.math.special import betainc as betainc
from tideflow.ops.math.special import igamma as igamma
from tideflow.ops.math.special import igammac as igammac
from tideflow.ops.math.special import lbeta as lbeta
from tideflow.ops.math.special import polygamma as polygamma
from tideflow.ops.math.special import zeta as zeta
from tideflow.ops.quantization.fake_quant import fake_quant_with_min_max_args as fake_quant_with_min_max_args
from tideflow.ops.quantization.fake_quant import fake_quant_with_min_max_args_gradient as fake_quant_with_min_max_args_gradient
from tideflow.ops.quantization.fake_quant import fake_quant_with_min_max_vars as fake_quant_with_min_max_vars
from tideflow.ops.quantization.fake_quant import fake_quant_with_min_max_vars_gradient as fake_quant_with_min_max_vars_gradient
from tideflow.ops.quantization.fake_quant import fake_quant_with_min_max_vars_per_channel as fake_quant_with_min_max_vars_per_channel
from tideflow.ops.quantization.fake_quant import fake_quant_with_min_max_vars_per_channel_gradient as fake_quant_with_min_max_vars_per_channel_gradient
from tideflow.ops.quantization.quantization import dequantize as dequantize
from tideflow.ops.quantization.quantization import quantize as quantize
from tideflow.ops.quantization.quantization import quantize_v2 as quantize_v2
from tideflow.ops.quantization.requantization import quantized_concat as quantized_concat
from tideflow.ops.random.distributions import multinomial as multinomial
from tideflow.ops.random.distributions import random_crop as random_crop
from tideflow.ops.random.distributions import random_gamma as random_gamma
from tideflow.ops.random.distributions import random_normal as random_normal
from tideflow.ops.random.distributions import random_poisson as random_poisson
from tideflow.ops.random.distributions import random_shuffle as random_shuffle
from tideflow.ops.random.distributions import random_uniform as random_uniform
from tideflow.ops.random.distributions import truncated_normal as truncated_normal
from tideflow.ops.sparse.arithmetic import sparse_add as sparse_add
from tideflow.ops.sparse.arithmetic import sparse_maximum as sparse_maximum
from tideflow.ops.sparse.arithmetic import sparse_minimum as sparse_minimum
from tideflow.ops.sparse.arithmetic import sparse_softmax as sparse_softmax
from tideflow.ops.sparse.construction import sparse_merge as sparse_merge
from tideflow.ops.sparse.construction import sparse_placeholder as sparse_placeholder
from tideflow.ops.sparse.construction import sparse_reorder as sparse_reorder
from tideflow.ops.sparse.construction import sparse_reset_shape as sparse_reset_shape
from tideflow.ops.sparse.construction import sparse_reshape as sparse_reshape
from tideflow.ops.sparse.construction import sparse_retain as sparse_retain
from tideflow.ops.sparse.construction import sparse_transpose as sparse_transpose
from tideflow.ops.sparse.parts import sparse_concat as sparse_concat
from tideflow.ops.sparse.parts import sparse_fill_empty_rows as sparse_fill_empty_rows
from tideflow.ops.sparse.parts import sparse_slice as sparse_slice
from tideflow.ops.sparse.parts import sparse_split as sparse_split
from tideflow.ops.sparse.serialization import deserialize_many_sparse as deserialize_many_sparse
from tideflow.ops.sparse.serialization import serialize_many_sparse as serialize_many_sparse
from tideflow.ops.sparse.serialization import serialize_sparse as serialize_sparse
from tideflow.ops.sparse.sparse_reductions import sparse_reduce_max as sparse_reduce_max
from tideflow.ops.sparse.sparse_reductions import sparse_reduce_max_sparse as sparse_reduce_max_sparse
from tideflow.ops.sparse.sparse_reductions import sparse_reduce_sum as sparse_reduce_sum
from tideflow.ops.sparse.sparse_reductions import sparse_reduce_sum_sparse as sparse_reduce_sum_sparse
from tideflow.ops.sparse.sparse_segments import sparse_segment_mean as sparse_segment_mean
from tideflow.ops.sparse.sparse_segments import sparse_segment_sqrt_n as sparse_segment_sqrt_n
from tideflow.ops.sparse.sparse_segments import sparse_segment_sum as sparse_segment_sum
from tideflow.ops.sparse.with_dense import sparse_mask as sparse_mask
from tideflow.ops.sparse.with_dense import sparse_tensor_dense_matmul as sparse_tensor_dense_matmul
from tideflow.ops.sparse.with_dense import sparse_tensor_to_dense as sparse_tensor_to_dense
from tideflow.ops.sparse.with_dense import sparse_to_dense as sparse_to_dense
from tideflow.ops.sparse.with_dense import sparse_to_indicator as sparse_to_indicator
from tideflow.ops.state.reference_variables import assign as assign
from tideflow.ops.state.reference_variables import assign_add as assign_add
from tideflow.ops.state.reference_variables import assign_sub as assign_sub
from tideflow.ops.state.reference_variables import count_up_to as count_up_to
from tideflow.ops.state.reference_variables import is_variable_initialized as is_variable_initialized
from tideflow.ops.state.session_handles import delete_session_tensor as delete_session_tensor
from tideflow.ops.state.session_handles import get_session_handle as get_session_handle
from tideflow.ops.state.session_handles import get_session_tensor as get_session_tensor
from tideflow.ops.state.variable_rows import batch_scatter_update as batch_scatter_update
from tideflow.ops.strings.edit_distance import edit_distance as edit_distance
from tideflow.ops.strings.hashing import fingerprint as fingerprint
from tideflow.platform import flags as flags
from tideflow.platform.behavior import control_flow_v2_enabled as control_flow_v2_enabled
from tideflow.platform.behavior import disable_control_flow_v2 as disable_control_flow_v2
from tideflow.platform.behavior import disable_eager_execution as disable_eager_execution
from tideflow.platform.behavior import disable_tensor_equality as disable_tensor_equality
from tideflow.platform.behavior import disable_v2_behavior as disable_v2_behavior
from tideflow.platform.behavior import disable_v2_tensorshape as disable_v2_tensorshape
from tideflow.platform.behavior import enable_control_flow_v2 as enable_control_flow_v2
from tideflow.platform.behavior import enable_eager_execution as enable_eager_execution
from tideflow.platform.behavior import enable_tensor_equality as enable_tensor_equality
from tideflow.platform.behavior import enable_v2_behavior as enable_v2_behavior
from tideflow.platform.behavior import enable_v2_tensorshape as enable_v2_tensorshape
from tideflow.platform.behavior import executing_eagerly as executing_eagerly
from tideflow.platform.libraries import load_library as load_library
from tideflow.platform.libraries import load_op_library as load_op_library
from tideflow.platform.logging import get_logger as get_logger
from tideflow.platform.printing import print_v2 as print
from tideflow.queues.accumulators import ConditionalAccumulator as ConditionalAccumulator
from tideflow.queues.accumulators import ConditionalAccumulatorBase as ConditionalAccumulatorBase
from tideflow.queues.accumulators import SparseConditionalAccumulator as SparseConditionalAccumulator
from tideflow.queues.base import FIFOQueue as FIFOQueue
from tideflow.queues.base import PaddingFIFOQueue as PaddingFIFOQueue
from tideflow.queues.base import PriorityQueue as PriorityQueue
from tideflow.queues.base import QueueBase as QueueBase
from tideflow.queues.base import RandomShuffleQueue as RandomShuffleQueue
from tideflow.queues.readers import FixedLengthRecordReader as FixedLengthRecordReader
from tideflow.queues.readers import IdentityReader as IdentityReader
from tideflow.queues.readers import LMDBReader as LMDBReader
from tideflow.queues.readers import ReaderBase as ReaderBase
from tideflow.queues.readers import TFRecordReader as TFRecordReader
from tideflow.queues.readers import TextLineReader as TextLineReader
from tideflow.queues.readers import WholeFileReader as WholeFileReader
from tideflow.ragged.spec import RaggedTensorSpec as RaggedTensorSpec
from tideflow.ragged.strings import string_split as string_split
from tideflow.ragged.tensor import RaggedTensor as RaggedTensor
from tideflow.session.session import InteractiveSession as InteractiveSession
from tideflow.session.session import Session as Session
from tideflow.variables.base import Variable as Variable
from tideflow.variables.base import VariableAggregation as VariableAggregation
from tideflow.variables.base import VariableSynchronization as VariableSynchronization
from tideflow.variables.base import disable_resource_variables as disable_resource_variables
from tideflow.variables.base import enable_resource_variables as enable_resource_variables
from tideflow.variables.base import resource_variables_enabled as resource_variables_enabled
from tideflow.variables.collections import all_variables as all_variables
from tideflow.variables.collections import assert_variables_initialized as assert_variables_initialized
from tideflow.variables.collections import global_variables as global_variables
from tideflow.variables.collections import global_variables_initializer as global_variables_initializer
from tideflow.variables.collections import initialize_all_variables as initialize_all_variables
from tideflow.variables.collections import initialize_local_variables as initialize_local_variables
from tideflow.variables.collections import initialize_variables as initialize_variables
from tideflow.variables.collections import local_variables as local_variables
from tideflow.variables.collections import local_variables_initializer as local_variables_initializer
from tideflow.variables.collections import model_variables as model_variables
from tideflow.variables.collections import moving_average_variables as moving_average_variables
from tideflow.variables.collections import report_uninitialized_variables as report_uninitialized_variables
from tideflow.variables.collections import trainable_variables as trainable_variables
from tideflow.variables.collections import variables_initializer as variables_initializer
from tideflow.variables.initializers import Constant as constant_initializer
from tideflow.variables.initializers import GlorotNormal as glorot_normal_initializer
from tideflow.variables.initializers import GlorotUniform as glorot_uniform_initializer
from tideflow.variables.initializers import Ones as ones_initializer
from tideflow.variables.initializers import Orthogonal as orthogonal_initializer
from tideflow.variables.initializers import RandomNormal as random_normal_initializer
from tideflow.variables.initializers import RandomUniform as random_uniform_initializer
from tideflow.variables.initializers import TruncatedNormal as truncated_normal_initializer
from tideflow.variables.initializers import UniformUnitScaling as uniform_unit_scaling_initializer
from tideflow.variables.initializers import VarianceScaling as variance_scaling_initializer
from tideflow.variables.initializers import Zeros as zeros_initializer
from tideflow.variables.module import Module as Module
from tideflow.variables.partitioners import create_partitioned_variables as create_partitioned_variables
from tideflow.variables.partitioners import fixed_size_partitioner as fixed_size_partitioner
from tideflow.variables.partitioners import min_max_variable_partitioner as min_max_variable_partitioner
from tideflow.variables.partitioners import variable_axis_size_partitioner as variable_axis_size_partitioner
from tideflow.variables.template import make_template as make_template
from tideflow.variables.variable_scope import AUTO_REUSE as AUTO_REUSE
from tideflow.variables.variable_scope import VariableScope as VariableScope
from tideflow.variables.variable_scope import get_local_variable as get_local_variable
from tideflow.variables.variable_scope import get_variable as get_variable
from tideflow.variables.variable_scope import get_variable_scope as get_variable_scope
from tideflow.variables.variable_scope import no_regularizer as no_regularizer
from tideflow.variables.variable_scope import variable_creator_scope as variable_creator_scope
from tideflow.variables.variable_scope import variable_op_scope as variable_op_scope
from tideflow.variables.variable_scope import variable_scope as variable_scope

COMPILER_VERSION: _str
CXX11_ABI_FLAG: _int
GIT_VERSION: _str
GRAPH_DEF_VERSION: _int
GRAPH_DEF_VERSION_MIN_CONSUMER: _int
GRAPH_DEF_VERSION_MIN_PRODUCER: _int
MONOLITHIC_BUILD: _int
VERSION: _str
__compiler_version__: _str
__cxx11_abi_flag__: _int
__git_version__: _str
__monolithic_build__: _int
def abs(x: _Any, name: _str | None = None) -> _Any:
    """The absolute value; of complex numbers, their real modulus."""

def acos(x: _Any, name: _str | None = None) -> _Tensor:
    """The angle whose cosine is x."""

def acosh(x: _Any, name: _str | None = None) -> _Tensor:
    """The inverse hyperbolic cosine."""

def add(x: _Any, y: _Any, name: _str | None = None) -> _Tensor:
    """x + y; strings are joined."""

def add_n(inputs, name: _str | None = None) -> _Tensor:
    """The sum of tensors of one shape and type."""

def angle(input: _Any, name: _str | None = None) -> _Tensor:
    """The argument of complex numbers; of real numbers, zeros."""

def as_string(input: _Any, precision: _int = -1, scientific: _bool = False, shortest: _bool = False, width: _int = -1, fill: _str = '', name: _str | None = None) -> _Tensor:
    """Each number as text, in the format of C's printf that the arguments describe."""

def asin(x: _Any, name: _str | None = None) -> _Tensor:
    """The angle whose sine is x."""

def asinh(x: _Any, name: _str | None = None) -> _Tensor:
    """The inverse hyperbolic sine."""

def assert_greater(x: _Any, y: _Any, data=None, summarize: _int | None = None, message: _str | None = None, name: _str | None = None) -> _Operation:
    """An operation that fails with InvalidArgumentError unless x > y in every element."""

def assert_greater_equal(x: _Any, y: _Any, data=None, summarize: _int | None = None, message: _str | None = None, name: _str | None = None) -> _Operation:
    """An operation that fails with InvalidArgumentError unless x >= y in every element."""

def assert_less(x: _Any, y: _Any, data=None, summarize: _int | None = None, message: _str | None = None, name: _str | None = None) -> _Operation:
    """An operation that fails with InvalidArgumentError unless x < y in every element."""

def assert_less_equal(x: _Any, y: _Any, data=None, summarize: _int | None = None, message: _str | None = None, name: _str | None = None) -> _Operation:
    """An operation that fails with InvalidArgumentError unless x <= y in every element."""

def assert_negative(x: _Any, data=None, summarize: _int | None = None, message: _str | None = None, name: _str | None = None) -> _Operation:
    """An operation that fails with InvalidArgumentError unless x < 0 in every element."""

def assert_non_negative(x: _Any, data=None, summarize: _int | None = None, message: _str | None = None, name: _str | None = None) -> _Operation:
    """An operation that fails with InvalidArgumentError unless x >= 0 in every element."""

def assert_non_positive(x: _Any, data=None, summarize: _int | None = None, message: _str | None = None, name: _str | None = None) -> _Operation:
    """An operation that fails with InvalidArgumentError unless x <= 0 in every element."""

def assert_none_equal(x: _Any, y: _Any, data=None, summarize: _int | None = None, message: _str | None = None, name: _str | None = None) -> _Operation:
    """An operation that fails with InvalidArgumentError unless x != y in every element."""

def assert_positive(x: _Any, data=None, summarize: _int | None = None, message: _str | None = None, name: _str | None = None) -> _Operation:
    """An operation that fails with InvalidArgumentError unless x > 0 in every element."""

def atan(x: _Any, name: _str | None = None) -> _Tensor:
    """The angle whose tangent is x."""

def atan2(y: _Any, x: _Any, name: _str | None = None) -> _Tensor:
    """The angle of the point (x, y)."""

def atanh(x: _Any, name: _str | None = None) -> _Tensor:
    """The inverse hyperbolic tangent."""

def batch_gather(params: _Any, indices: _Any, name: _str | None = None) -> _Tensor:
    """Gathers along the last axis of `indices`; the axes before it are a batch."""

def cast(x: _Any, dtype: _Any, name: _str | None = None) -> _Any:
    """A tensor, SparseTensor or IndexedSlices with elements of another type; itself if it has that type."""

def ceil(x: _Any, name: _str | None = None) -> _Tensor:
    """The next integer above."""

def check_numerics(tensor: _Any, message: _str, name: _str | None = None) -> _Tensor:
    """`tensor`, or InvalidArgumentError with `message` where an element is NaN or infinite."""

def cholesky(input: _Any, name: _str | None = None) -> _Tensor:
    """The lower triangular L of each positive definite matrix, with L·Lᴴ = input."""

def clip_by_value(t: _Any, clip_value_min: _Any, clip_value_max: _Any, name: _str | None = None) -> _Any:
    """`t` with what lies outside the bounds moved to the nearer one."""

def complex(real: _Any, imag: _Any, name: _str | None = None) -> _Tensor:
    """real + i * imag."""

def concat(values: _Any, axis: _Any, name: _str = 'concat') -> _Tensor:
    """The tensors one after the other along `axis`."""

def conj(x: _Any, name: _str | None = None) -> _Tensor:
    """The complex conjugate; of real numbers, themselves."""

def cos(x: _Any, name: _str | None = None) -> _Tensor:
    """The cosine."""

def cosh(x: _Any, name: _str | None = None) -> _Tensor:
    """The hyperbolic cosine."""

def decode_base64(input: _Any, name: _str | None = None) -> _Tensor:
    """Strings from their web-safe base64, padded or not."""

def decode_compressed(bytes: _Any, compression_type: _str = '', name: _str | None = None) -> _Tensor:
    """Each string decompressed: "ZLIB", "GZIP", or "" for strings that are not compressed."""

def digamma(x: _Any, name: _str | None = None) -> _Tensor:
    """The derivative of lgamma."""

def div_no_nan(x: _Any, y: _Any, name: _str | None = None) -> _Tensor:
    """x / y, 0 where y is 0."""

def divide(x: _Any, y: _Any, name: _str | None = None) -> _Any:
    """x / y as Python has it, of whatever x and y are."""

def encode_base64(input: _Any, pad: _bool = False, name: _str | None = None) -> _Tensor:
    """Each string in web-safe base64, with or without the padding at its end."""

def equal(x: _Any, y: _Any, name: _str | None = None) -> _Tensor:
    """x == y, element by element."""

def erf(x: _Any, name: _str | None = None) -> _Any:
    """The error function."""

def erfc(x: _Any, name: _str | None = None) -> _Tensor:
    """1 - erf(x)."""

def exp(x: _Any, name: _str | None = None) -> _Tensor:
    """e to the power x."""

def expand_dims(input: _Any, axis: _Any = None, name: _str | None = None, dim: _Any = None) -> _Tensor:
    """The tensor with a dimension of size 1 put in at `axis`."""

def expm1(x: _Any, name: _str | None = None) -> _Tensor:
    """exp(x) - 1, exact near 0."""

def fft(input: _Any, name: _str | None = None) -> _Tensor:
    """The spectrum along the last axis."""

def fft2d(input: _Any, name: _str | None = None) -> _Tensor:
    """The spectrum over the last two axes."""

def fft3d(input: _Any, name: _str | None = None) -> _Tensor:
    """The spectrum over the last three axes."""

def floor(x: _Any, name: _str | None = None) -> _Tensor:
    """The next integer below."""

def floor_div(x: _Any, y: _Any, name: _str | None = None) -> _Tensor:
    """x / y rounded down."""

def floordiv(x: _Any, y: _Any, name: _str | None = None) -> _Tensor:
    """x / y rounded down."""

def floormod(x: _Any, y: _Any, name: _str | None = None) -> _Tensor:
    """What x / y rounded down leaves; it has the sign of y."""

def gather(params: _Any, indices: _Any, validate_indices: _bool | None = None, name: _str | None = None, axis: _Any = None, batch_dims: _int = 0) -> _Tensor:
    """The slices of `params` at `indices` along `axis`; the first `batch_dims` axes of both go together."""

def greater(x: _Any, y: _Any, name: _str | None = None) -> _Tensor:
    """x > y."""

def greater_equal(x: _Any, y: _Any, name: _str | None = None) -> _Tensor:
    """x >= y."""

def identity(input: _Any, name: _str | None = None) -> _Tensor:
    """A tensor with the same value."""

def ifft(input: _Any, name: _str | None = None) -> _Tensor:
    """The signal of a spectrum along the last axis."""

def ifft2d(input: _Any, name: _str | None = None) -> _Tensor:
    """The signal of a spectrum over the last two axes."""

def ifft3d(input: _Any, name: _str | None = None) -> _Tensor:
    """The signal of a spectrum over the last three axes."""

def imag(input: _Any, name: _str | None = None) -> _Tensor:
    """The imaginary part; of real numbers, zeros."""

def is_finite(x: _Any, name: _str | None = None) -> _Tensor:
    """Which elements are finite numbers."""

def is_inf(x: _Any, name: _str | None = None) -> _Tensor:
    """Which elements are infinite."""

def is_nan(x: _Any, name: _str | None = None) -> _Tensor:
    """Which elements are not a number."""

def less(x: _Any, y: _Any, name: _str | None = None) -> _Tensor:
    """x < y."""

def less_equal(x: _Any, y: _Any, name: _str | None = None) -> _Tensor:
    """x <= y."""

def lgamma(x: _Any, name: _str | None = None) -> _Tensor:
    """The logarithm of the absolute value of the gamma function."""

def log(x: _Any, name: _str | None = None) -> _Tensor:
    """The natural logarithm."""

def log1p(x: _Any, name: _str | None = None) -> _Tensor:
    """log(1 + x), exact near 0."""

def log_sigmoid(x: _Any, name: _str | None = None) -> _Tensor:
    """log(sigmoid(x)), exact where the sigmoid vanishes."""

def logical_and(x: _Any, y: _Any, name: _str | None = None) -> _Tensor:
    """True where both are."""

def logical_not(x: _Any, name: _str | None = None) -> _Tensor:
    """True where x is False."""

def logical_or(x: _Any, y: _Any, name: _str | None = None) -> _Tensor:
    """True where one is, or both."""

def logical_xor(x: _Any, y: _Any, name: _str = 'LogicalXor') -> _Tensor:
    """True where exactly one is."""

def matmul(a: _Any, b: _Any, transpose_a: _bool = False, transpose_b: _bool = False, adjoint_a: _bool = False, adjoint_b: _bool = False, a_is_sparse: _bool = False, b_is_sparse: _bool = False, name: _str | None = None) -> _Tensor:
    """The matrix product of a and b, or of each pair of matrices where they have more axes."""

def matrix_determinant(input: _Any, name: _str | None = None) -> _Tensor:
    """The determinant of each matrix."""

def matrix_diag_part(input: _Any, name: _str = 'diag_part', k: _Any = 0, padding_value: _Any = 0) -> _Tensor:
    """The diagonals of matrices, the main one or `k`; `padding_value` fills those that are shorter."""

def matrix_inverse(input: _Any, adjoint: _bool = False, name: _str | None = None) -> _Tensor:
    """The inverse of each matrix, or of its adjoint."""

def matrix_solve(matrix: _Any, rhs: _Any, adjoint: _bool = False, name: _str | None = None) -> _Tensor:
    """X with `matrix`·X = `rhs`, or `matrix`ᴴ·X = `rhs`, for each square matrix."""

def maximum(x: _Any, y: _Any, name: _str | None = None) -> _Tensor:
    """The larger of x and y."""

def minimum(x: _Any, y: _Any, name: _str | None = None) -> _Tensor:
    """The smaller of x and y."""

def multiply(x: _Any, y: _Any, name: _str | None = None) -> _Tensor:
    """x * y."""

def negative(x: _Any, name: _str | None = None) -> _Any:
    """-x."""

newaxis: None
def not_equal(x: _Any, y: _Any, name: _str | None = None) -> _Tensor:
    """x != y, element by element."""

def one_hot(indices: _Any, depth: _Any, on_value: _Any = None, off_value: _Any = None, axis: _int | None = None, dtype: _Any = None, name: _str | None = None) -> _Tensor:
    """`on_value` (1) where `indices` say, along a new axis of size `depth`; `off_value` (0) elsewhere."""

def ones_like(tensor: _Any, dtype: _Any = None, name: _str | None = None, optimize: _bool = True) -> _Tensor:
    """Ones of the shape of `tensor`, and of its type where no other is given."""

def pow(x: _Any, y: _Any, name: _str | None = None) -> _Tensor:
    """x to the power y."""

def rank(input: _Any, name: _str | None = None) -> _Tensor:
    """How many dimensions a tensor has: a constant where that is known."""

def real(input: _Any, name: _str | None = None) -> _Tensor:
    """The real part; of real numbers, themselves."""

def realdiv(x: _Any, y: _Any, name: _str | None = None) -> _Tensor:
    """x / y of real numbers."""

def reciprocal(x: _Any, name: _str | None = None) -> _Tensor:
    """1 / x."""

def reduce_all(input_tensor: _Any, axis: _Any = None, keepdims: _bool | None = None, name: _str | None = None, reduction_indices: _Any = None, keep_dims: _bool | None = None) -> _Tensor:
    """Whether all elements along the given axes are true."""

def reduce_any(input_tensor: _Any, axis: _Any = None, keepdims: _bool | None = None, name: _str | None = None, reduction_indices: _Any = None, keep_dims: _bool | None = None) -> _Tensor:
    """Whether any element along the given axes is true."""

def reduce_join(inputs: _Any, axis: _Any = None, keep_dims: _bool | None = None, separator: _str = '', name: _str | None = None, reduction_indices: _Any = None, keepdims: _bool | None = None) -> _Tensor:
    """Strings joined along the axes, in the order given; along all of them, the last first, by default."""

def reduce_max(input_tensor: _Any, axis: _Any = None, keepdims: _bool | None = None, name: _str | None = None, reduction_indices: _Any = None, keep_dims: _bool | None = None) -> _Tensor:
    """The largest element along the given axes."""

def reduce_mean(input_tensor: _Any, axis: _Any = None, keepdims: _bool | None = None, name: _str | None = None, reduction_indices: _Any = None, keep_dims: _bool | None = None) -> _Tensor:
    """The mean over the given axes; of integers, rounded towards 0."""

def reduce_min(input_tensor: _Any, axis: _Any = None, keepdims: _bool | None = None, name: _str | None = None, reduction_indices: _Any = None, keep_dims: _bool | None = None) -> _Tensor:
    """The smallest element along the given axes."""

def reduce_prod(input_tensor: _Any, axis: _Any = None, keepdims: _bool | None = None, name: _str | None = None, reduction_indices: _Any = None, keep_dims: _bool | None = None) -> _Tensor:
    """The product over the given axes."""

def reduce_sum(input_tensor: _Any, axis: _Any = None, keepdims: _bool | None = None, name: _str | None = None, reduction_indices: _Any = None, keep_dims: _bool | None = None) -> _Tensor:
    """The sum over the given axes, over all by default."""

def regex_replace(input: _Any, pattern: _Any, rewrite: _Any, replace_global: _bool = True, name: _str | None = None) -> _Tensor:
    """Strings with their matches rewritten; `\1` in the rewrite is what the first group matched."""

def rint(x: _Any, name: _str | None = None) -> _Tensor:
    """The nearest integer; halves go to the even one."""

def round(x: _Any, name: _str | None = None) -> _Tensor:
    """The nearest integer; halves go to the even one."""

def rsqrt(x: _Any, name: _str | None = None) -> _Tensor:
    """1 / sqrt(x)."""

def saturate_cast(value: _Any, dtype: _Any, name: _str | None = None) -> _Tensor:
    """`value` cast to a type, with what lies outside its range moved to its ends first."""

def scatter_add(ref: _Any, indices: _Any, updates: _Any, use_locking: _bool = False, name: _str | None = None) -> _Any:
    """Adds `updates` to rows `indices` of `ref`."""

def scatter_div(ref: _Any, indices: _Any, updates: _Any, use_locking: _bool = False, name: _str | None = None) -> _Any:
    """Divides rows `indices` of `ref` by `updates`."""

def scatter_max(ref: _Any, indices: _Any, updates: _Any, use_locking: _bool = False, name: _str | None = None) -> _Any:
    """The greatest of rows `indices` of `ref` and `updates`."""

def scatter_min(ref: _Any, indices: _Any, updates: _Any, use_locking: _bool = False, name: _str | None = None) -> _Any:
    """The least of rows `indices` of `ref` and `updates`."""

def scatter_mul(ref: _Any, indices: _Any, updates: _Any, use_locking: _bool = False, name: _str | None = None) -> _Any:
    """Multiplies rows `indices` of `ref` by `updates`."""

def scatter_nd_add(ref: _Any, indices: _Any, updates: _Any, use_locking: _bool = False, name: _str | None = None) -> _Any:
    """Adds `updates` to the slices of `ref` at `indices`."""

def scatter_nd_sub(ref: _Any, indices: _Any, updates: _Any, use_locking: _bool = False, name: _str | None = None) -> _Any:
    """Subtracts `updates` from slices of `ref` at `indices`."""

def scatter_nd_update(ref: _Any, indices: _Any, updates: _Any, use_locking: _bool = True, name: _str | None = None) -> _Any:
    """Slices of `ref` at `indices` become `updates`."""

def scatter_sub(ref: _Any, indices: _Any, updates: _Any, use_locking: _bool = False, name: _str | None = None) -> _Any:
    """Subtracts `updates` from rows `indices` of `ref`."""

def scatter_update(ref: _Any, indices: _Any, updates: _Any, use_locking: _bool = True, name: _str | None = None) -> _Any:
    """Rows `indices` of `ref` become `updates`."""

def segment_max(data: _Any, segment_ids: _Any, name: _str | None = None) -> _Tensor:
    """Largest elements of rows with equal, sorted ids."""

def segment_mean(data: _Any, segment_ids: _Any, name: _str | None = None) -> _Tensor:
    """Means of rows with equal, sorted ids."""

def segment_min(data: _Any, segment_ids: _Any, name: _str | None = None) -> _Tensor:
    """Smallest elements of rows with equal, sorted ids."""

def segment_prod(data: _Any, segment_ids: _Any, name: _str | None = None) -> _Tensor:
    """Products of rows with equal, sorted ids."""

def segment_sum(data: _Any, segment_ids: _Any, name: _str | None = None) -> _Tensor:
    """Sums of rows with equal, sorted ids."""

def sigmoid(x: _Any, name: _str | None = None) -> _Tensor:
    """1 / (1 + exp(-x))."""

def sign(x: _Any, name: _str | None = None) -> _Any:
    """-1, 0 or 1 as x is below, at or above 0; of a complex number, x / abs(x)."""

def sin(x: _Any, name: _str | None = None) -> _Tensor:
    """The sine."""

def sinh(x: _Any, name: _str | None = None) -> _Tensor:
    """The hyperbolic sine."""

def size(input: _Any, name: _str | None = None, out_type: _Any = ...) -> _Tensor:
    """How many elements a tensor has: a constant where its shape is known."""

def sqrt(x: _Any, name: _str | None = None) -> _Any:
    """The square root."""

def square(x: _Any, name: _str | None = None) -> _Any:
    """x * x."""

def squared_difference(x: _Any, y: _Any, name: _str | None = None) -> _Tensor:
    """(x - y) * (x - y)."""

def stack(values: _Any, axis: _int = 0, name: _str = 'stack') -> _Tensor:
    """Tensors of one shape along a new axis: a constant where the values are Python's."""

def string_join(inputs: _Any, separator: _str = '', name: _str | None = None) -> _Tensor:
    """The strings at the same place of each tensor joined; scalars join with all."""

def string_strip(input: _Any, name: _str | None = None) -> _Tensor:
    """The strings without whitespace at both ends."""

def string_to_hash_bucket(string_tensor: _Any = None, num_buckets: _int | None = None, name: _str | None = None, input: _Any = None) -> _Tensor:
    """A number below num_buckets for each string, by TensorFlow's first hash function."""

def string_to_hash_bucket_fast(input: _Any, num_buckets: _int, name: _str | None = None) -> _Tensor:
    """A number below num_buckets for each string, by its fingerprint, which never changes."""

def string_to_hash_bucket_strong(input: _Any, num_buckets: _int, key, name: _str | None = None) -> _Tensor:
    """A number below num_buckets for each string, by a hash under a secret key of two numbers."""

def string_to_number(string_tensor: _Any = None, out_type: _Any = ..., name: _str | None = None, input: _Any = None) -> _Tensor:
    """Each string as a number; an error where one is none, or an integer too large."""

def substr(input: _Any, pos: _Any, len: _Any, name: _str | None = None, unit: _str = 'BYTE') -> _Tensor:
    """`len` bytes or UTF-8 characters of each string from `pos`, which counts from the end where negative."""

def subtract(x: _Any, y: _Any, name: _str | None = None) -> _Tensor:
    """x - y."""

def tan(x: _Any, name: _str | None = None) -> _Tensor:
    """The tangent."""

def tanh(x: _Any, name: _str | None = None) -> _Any:
    """The hyperbolic tangent."""

def tile(input: _Any, multiples: _Any, name: _str | None = None) -> _Tensor:
    """`input` repeated `multiples[i]` times along axis i."""

def trace(x: _Any, name: _str | None = None) -> _Tensor:
    """The sum of the diagonal of each matrix."""

def truediv(x: _Any, y: _Any, name: _str | None = None) -> _Tensor:
    """x / y as Python has it: integers are divided as floating point numbers."""

def truncatediv(x: _Any, y: _Any, name: _str | None = None) -> _Tensor:
    """x / y, of integers rounded toward zero."""

def truncatemod(x: _Any, y: _Any, name: _str | None = None) -> _Tensor:
    """What x / y rounded toward zero leaves; it has the sign of x."""

def unsorted_segment_max(data: _Any, segment_ids: _Any, num_segments: _Any, name: _str | None = None) -> _Tensor:
    """Largest elements of rows with equal ids."""

def unsorted_segment_mean(data: _Any, segment_ids: _Any, num_segments: _Any, name: _str | None = None) -> _Tensor:
    """Means of rows with equal ids, 0 where there are none."""

def unsorted_segment_min(data: _Any, segment_ids: _Any, num_segments: _Any, name: _str | None = None) -> _Tensor:
    """Smallest elements of rows with equal ids."""

def unsorted_segment_prod(data: _Any, segment_ids: _Any, num_segments: _Any, name: _str | None = None) -> _Tensor:
    """Products of rows with equal ids, 1 where there are none."""

def unsorted_segment_sqrt_n(data: _Any, segment_ids: _Any, num_segments: _Any, name: _str | None = None) -> _Tensor:
    """Sums of rows with equal ids, divided by the square root of their number."""

def unsorted_segment_sum(data: _Any, segment_ids: _Any, num_segments: _Any, name: _str | None = None) -> _Tensor:
    """Sums of rows with equal ids; negative ids are left out."""

def where(condition: _Any, x: _Any = None, y: _Any = None, name: _str | None = None) -> _Tensor:
    """`x` where the condition holds and `y` elsewhere; without them, the places where it holds."""

def zeros_like(tensor: _Any, dtype: _Any = None, name: _str | None = None, optimize: _bool = True) -> _Tensor:
    """Zeros of the shape of `tensor`, and of its type where no other is given."""
