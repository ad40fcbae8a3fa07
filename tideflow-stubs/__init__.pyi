# Written by `python -m tideflow.programs.stubs`.

from builtins import bool as _bool
from builtins import int as _int
from builtins import str as _str
from collections.abc import Sequence as _Sequence
from tideflow.graph.composite import SparseTensor as _SparseTensor
from tideflow.graph.operation import Operation as _Operation
from tideflow.graph.operation import Tensor as _Tensor
from tideflow.graph.typing import TensorLike as _TensorLike
from tideflow.graph.typing import TensorOrRagged as _TensorOrRagged
from tideflow.graph.typing import VariableLike as _VariableLike
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
from tideflow import autograph as autograph
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
from tideflow import estimator as estimator
from tideflow import experimental as experimental
from tideflow import feature_column as feature_column
from tideflow import floormod as _mod
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
from tideflow import tpu as tpu
from tideflow import train as train
from tideflow import user_ops as user_ops
from tideflow import version as version
from tideflow import xla as xla
from tideflow._version import __version__ as __version__
from tideflow.autodiff.aggregate import AggregationMethod as AggregationMethod
from tideflow.autodiff.custom import custom_gradient as custom_gradient
from tideflow.autodiff.gradients import UnconnectedGradients as UnconnectedGradients
from tideflow.autodiff.gradients import gradients as gradients
from tideflow.autodiff.gradients import hessians as hessians
from tideflow.autodiff.registry import RegisterGradient as RegisterGradient
from tideflow.autodiff.registry import not_differentiable_type as _NoGradient
from tideflow.autodiff.registry import not_differentiable_type as _NotDifferentiable
from tideflow.autodiff.registry import not_differentiable_type as _no_gradient
from tideflow.contrib.slim.reading import _STRING as _string
from tideflow.data.optional import OptionalSpec as OptionalSpec
from tideflow.eager.context import disable_eager_execution as disable_eager_execution
from tideflow.eager.context import enable_eager_execution as enable_eager_execution
from tideflow.eager.python_functions import py_function as py_function
from tideflow.eager.recompute import grad_pass_through as grad_pass_through
from tideflow.eager.recompute import recompute_grad as recompute_grad
from tideflow.eager.tape import GradientTape as GradientTape
from tideflow.functions.batching import nondifferentiable_batch_function as nondifferentiable_batch_function
from tideflow.functions.def_function import function as function
from tideflow.functions.torch_functions import torch_function as torch_function
from tideflow.functions.wrapping import wrap_function as wrap_function
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
from tideflow.graph.dtypes import double as _float64
from tideflow.graph.dtypes import double as double
from tideflow.graph.dtypes import float32 as float32
from tideflow.graph.dtypes import half as _float16
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
from tideflow.graph.partial import constant_value as _get_static_value
from tideflow.graph.scopes import GraphKeys as GraphKeys
from tideflow.graph.scopes import add_to_collection as add_to_collection
from tideflow.graph.scopes import add_to_collections as add_to_collections
from tideflow.graph.scopes import colocate_with as colocate_with
from tideflow.graph.scopes import container as container
from tideflow.graph.scopes import control_dependencies as control_dependencies
from tideflow.graph.scopes import device as device
from tideflow.graph.scopes import executing_eagerly as executing_eagerly
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
from tideflow.graph.shapes import disable_v2_tensorshape as disable_v2_tensorshape
from tideflow.graph.shapes import enable_v2_tensorshape as enable_v2_tensorshape
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
from tideflow.ops.arrays.broadcasting import broadcast_dynamic_shape as broadcast_dynamic_shape
from tideflow.ops.arrays.broadcasting import broadcast_to as broadcast_to
from tideflow.ops.arrays.constants import constant as _constant_v1
from tideflow.ops.arrays.constants import constant as constant
from tideflow.ops.arrays.constants import identity as identity
from tideflow.ops.arrays.constants import identity_n as identity_n
from tideflow.ops.arrays.constants import no_operation as _no_op
from tideflow.ops.arrays.constants import placeholder as placeholder
from tideflow.ops.arrays.constants import placeholder_with_default as placeholder_with_default
from tideflow.ops.arrays.constants import stop_gradient as stop_gradient
from tideflow.ops.arrays.creation import eye as eye
from tideflow.ops.arrays.creation import fill as fill
from tideflow.ops.arrays.creation import guarantee_const as guarantee_const
from tideflow.ops.arrays.creation import linspace as _lin_space
from tideflow.ops.arrays.creation import linspace as linspace
from tideflow.ops.arrays.creation import meshgrid as meshgrid
from tideflow.ops.arrays.creation import one_hot as one_hot
from tideflow.ops.arrays.creation import ones as ones
from tideflow.ops.arrays.creation import ones_like as ones_like
from tideflow.ops.arrays.creation import range as range
from tideflow.ops.arrays.creation import sequence_mask as sequence_mask
from tideflow.ops.arrays.creation import zeros as zeros
from tideflow.ops.arrays.creation import zeros_like as zeros_like
from tideflow.ops.arrays.diagonals import diag as diag
from tideflow.ops.arrays.diagonals import diag_part as diag_part
from tideflow.ops.arrays.diagonals import matrix_band_part as matrix_band_part
from tideflow.ops.arrays.diagonals import matrix_diag as matrix_diag
from tideflow.ops.arrays.diagonals import matrix_diag_part as matrix_diag_part
from tideflow.ops.arrays.diagonals import matrix_set_diag as matrix_set_diag
from tideflow.ops.arrays.distinct import unique as unique
from tideflow.ops.arrays.distinct import unique_with_counts as unique_with_counts
from tideflow.ops.arrays.indexing import batch_gather as batch_gather
from tideflow.ops.arrays.indexing import boolean_mask as boolean_mask
from tideflow.ops.arrays.indexing import gather as gather
from tideflow.ops.arrays.indexing import gather_nd as gather_nd
from tideflow.ops.arrays.indexing import where as where
from tideflow.ops.arrays.indexing import where_v2 as where_v2
from tideflow.ops.arrays.joining import concat as concat
from tideflow.ops.arrays.joining import split as split
from tideflow.ops.arrays.joining import stack as stack
from tideflow.ops.arrays.joining import unstack as unstack
from tideflow.ops.arrays.parallel_stack import parallel_stack as parallel_stack
from tideflow.ops.arrays.rolling import repeat as repeat
from tideflow.ops.arrays.rolling import roll as roll
from tideflow.ops.arrays.scatter import scatter_nd as scatter_nd
from tideflow.ops.arrays.scatter import tensor_scatter_add as _tensor_scatter_nd_add
from tideflow.ops.arrays.scatter import tensor_scatter_add as tensor_scatter_add
from tideflow.ops.arrays.scatter import tensor_scatter_sub as _tensor_scatter_nd_sub
from tideflow.ops.arrays.scatter import tensor_scatter_sub as tensor_scatter_sub
from tideflow.ops.arrays.scatter import tensor_scatter_update as _tensor_scatter_nd_update
from tideflow.ops.arrays.scatter import tensor_scatter_update as tensor_scatter_update
from tideflow.ops.arrays.shapes import ensure_shape as ensure_shape
from tideflow.ops.arrays.shapes import expand_dims as expand_dims
from tideflow.ops.arrays.shapes import invert_permutation as invert_permutation
from tideflow.ops.arrays.shapes import matrix_transpose as matrix_transpose
from tideflow.ops.arrays.shapes import rank as rank
from tideflow.ops.arrays.shapes import reshape as reshape
from tideflow.ops.arrays.shapes import shape as shape
from tideflow.ops.arrays.shapes import shape_n as shape_n
from tideflow.ops.arrays.shapes import size as size
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
from tideflow.ops.arrays.tiling import reverse as _reverse_v2
from tideflow.ops.arrays.tiling import reverse as reverse
from tideflow.ops.arrays.tiling import reverse_sequence as reverse_sequence
from tideflow.ops.arrays.tiling import tile as tile
from tideflow.ops.control_flow.conditionals import case as case
from tideflow.ops.control_flow.conditionals import cond as cond
from tideflow.ops.control_flow.conditionals import switch_case as switch_case
from tideflow.ops.control_flow.critical_section import CriticalSection as CriticalSection
from tideflow.ops.control_flow.debugging import Assert as Assert
from tideflow.ops.control_flow.debugging import Print as Print
from tideflow.ops.control_flow.debugging import check_numerics as check_numerics
from tideflow.ops.control_flow.debugging import timestamp as timestamp
from tideflow.ops.control_flow.grouping import group as group
from tideflow.ops.control_flow.grouping import tuple as tuple
from tideflow.ops.control_flow.grouping import with_dependencies as with_dependencies
from tideflow.ops.control_flow.map_and_fold import foldl as foldl
from tideflow.ops.control_flow.map_and_fold import foldr as foldr
from tideflow.ops.control_flow.map_and_fold import map_fn as map_fn
from tideflow.ops.control_flow.map_and_fold import scan as scan
from tideflow.ops.control_flow.map_and_fold import vectorized_map as vectorized_map
from tideflow.ops.control_flow.python_functions import numpy_function as numpy_function
from tideflow.ops.control_flow.python_functions import py_func as py_func
from tideflow.ops.control_flow.tensor_array import TensorArray as TensorArray
from tideflow.ops.control_flow.tensor_array_spec import TensorArraySpec as TensorArraySpec
from tideflow.ops.control_flow.while_loops import while_loop as while_loop
from tideflow.ops.files.csv_records import decode_csv as decode_csv
from tideflow.ops.files.decoding import decode_compressed as decode_compressed
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
from tideflow.ops.files.parsing import parse_example as parse_example
from tideflow.ops.files.parsing import parse_single_example as parse_single_example
from tideflow.ops.files.sequence_parsing import parse_single_sequence_example as parse_single_sequence_example
from tideflow.ops.images.patches import extract_image_patches as extract_image_patches
from tideflow.ops.images.patches import extract_volume_patches as extract_volume_patches
from tideflow.ops.linalg.contraction import einsum as einsum
from tideflow.ops.linalg.contraction import tensordot as tensordot
from tideflow.ops.linalg.contraction import trace as trace
from tideflow.ops.linalg.decompositions import cholesky as cholesky
from tideflow.ops.linalg.decompositions import qr as qr
from tideflow.ops.linalg.matmul import matmul as matmul
from tideflow.ops.linalg.matmul import sparse_matmul as sparse_matmul
from tideflow.ops.linalg.matrix_functions import matrix_determinant as matrix_determinant
from tideflow.ops.linalg.matrix_functions import matrix_inverse as matrix_inverse
from tideflow.ops.linalg.matrix_functions import matrix_square_root as matrix_square_root
from tideflow.ops.linalg.norms import norm as norm
from tideflow.ops.linalg.products import cross as cross
from tideflow.ops.linalg.solvers import cholesky_solve as cholesky_solve
from tideflow.ops.linalg.solvers import matrix_solve as matrix_solve
from tideflow.ops.linalg.solvers import matrix_solve_ls as matrix_solve_ls
from tideflow.ops.linalg.solvers import matrix_triangular_solve as matrix_triangular_solve
from tideflow.ops.linalg.spectra import self_adjoint_eig as self_adjoint_eig
from tideflow.ops.linalg.spectra import self_adjoint_eigvals as self_adjoint_eigvals
from tideflow.ops.linalg.spectra import svd as svd
from tideflow.ops.math.adding import accumulate_n as accumulate_n
from tideflow.ops.math.adding import add_n as add_n
from tideflow.ops.math.binary import div as div
from tideflow.ops.math.binary import div_no_nan as div_no_nan
from tideflow.ops.math.binary import divide as divide
from tideflow.ops.math.binary import equal as equal
from tideflow.ops.math.binary import floordiv as floordiv
from tideflow.ops.math.binary import logical_xor as logical_xor
from tideflow.ops.math.binary import not_equal as not_equal
from tideflow.ops.math.binary import scalar_mul as scalar_mul
from tideflow.ops.math.binary import truediv as truediv
from tideflow.ops.math.casting import bitcast as bitcast
from tideflow.ops.math.casting import cast as cast
from tideflow.ops.math.casting import saturate_cast as saturate_cast
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
from tideflow.ops.math.clipping import clip_by_value as clip_by_value
from tideflow.ops.math.clipping import global_norm as global_norm
from tideflow.ops.math.complex_numbers import angle as angle
from tideflow.ops.math.complex_numbers import complex as complex
from tideflow.ops.math.complex_numbers import imag as imag
from tideflow.ops.math.complex_numbers import real as real
from tideflow.ops.math.confusion import confusion_matrix as confusion_matrix
from tideflow.ops.math.counting import bincount as bincount
from tideflow.ops.math.cumulative import cumprod as cumprod
from tideflow.ops.math.cumulative import cumsum as cumsum
from tideflow.ops.math.histograms import histogram_fixed_width as histogram_fixed_width
from tideflow.ops.math.histograms import histogram_fixed_width_bins as histogram_fixed_width_bins
from tideflow.ops.math.histograms import unravel_index as unravel_index
from tideflow.ops.math.positions import arg_max as arg_max
from tideflow.ops.math.positions import arg_min as arg_min
from tideflow.ops.math.positions import argmax as argmax
from tideflow.ops.math.positions import argmin as argmin
from tideflow.ops.math.powers import atan2 as atan2
from tideflow.ops.math.powers import pow as pow
from tideflow.ops.math.reductions import count_nonzero as count_nonzero
from tideflow.ops.math.reductions import reduce_logsumexp as reduce_logsumexp
from tideflow.ops.math.segments import unsorted_segment_mean as unsorted_segment_mean
from tideflow.ops.math.segments import unsorted_segment_sqrt_n as unsorted_segment_sqrt_n
from tideflow.ops.math.special import betainc as betainc
from tideflow.ops.math.special import igamma as igamma
from tideflow.ops.math.special import igammac as igammac
from tideflow.ops.math.special import lbeta as lbeta
from tideflow.ops.math.special import polygamma as polygamma
from tideflow.ops.math.special import zeta as zeta
from tideflow.ops.math.unary import abs as abs
from tideflow.ops.math.unary import conj as conj
from tideflow.ops.math.unary import log_sigmoid as log_sigmoid
from tideflow.ops.math.unary import logical_not as logical_not
from tideflow.ops.math.unary import round as round
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
from tideflow.ops.random.choices import multinomial as multinomial
from tideflow.ops.random.choices import random_crop as random_crop
from tideflow.ops.random.choices import random_shuffle as random_shuffle
from tideflow.ops.random.distributions import random_gamma as random_gamma
from tideflow.ops.random.distributions import random_normal as random_normal
from tideflow.ops.random.distributions import random_poisson as random_poisson
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
from tideflow.ops.strings.hashing import string_to_hash_bucket as string_to_hash_bucket
from tideflow.ops.strings.hashing import string_to_hash_bucket_fast as string_to_hash_bucket_fast
from tideflow.ops.strings.hashing import string_to_hash_bucket_strong as string_to_hash_bucket_strong
from tideflow.ops.strings.joined import reduce_join as reduce_join
from tideflow.ops.strings.joined import string_join as string_join
from tideflow.ops.strings.numbers import as_string as as_string
from tideflow.ops.strings.numbers import string_to_number as string_to_number
from tideflow.ops.strings.regex import regex_replace as regex_replace
from tideflow.ops.strings.strings import decode_base64 as decode_base64
from tideflow.ops.strings.strings import encode_base64 as encode_base64
from tideflow.ops.strings.strings import string_strip as string_strip
from tideflow.ops.strings.strings import substr as substr
from tideflow.platform import flags as flags
from tideflow.platform.libraries import load_library as load_library
from tideflow.platform.libraries import load_op_library as load_op_library
from tideflow.platform.logging import get_logger as get_logger
from tideflow.platform.printing import print_v2 as _print
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
from tideflow.variables.behavior import control_flow_v2_enabled as control_flow_v2_enabled
from tideflow.variables.behavior import disable_control_flow_v2 as disable_control_flow_v2
from tideflow.variables.behavior import disable_tensor_equality as disable_tensor_equality
from tideflow.variables.behavior import disable_v2_behavior as disable_v2_behavior
from tideflow.variables.behavior import enable_control_flow_v2 as enable_control_flow_v2
from tideflow.variables.behavior import enable_tensor_equality as enable_tensor_equality
from tideflow.variables.behavior import enable_v2_behavior as enable_v2_behavior
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
from tideflow.variables.initializers import Constant as _constant_initializer
from tideflow.variables.initializers import GlorotNormal as _glorot_normal_initializer
from tideflow.variables.initializers import GlorotUniform as _glorot_uniform_initializer
from tideflow.variables.initializers import Ones as _ones_initializer
from tideflow.variables.initializers import Orthogonal as _orthogonal_initializer
from tideflow.variables.initializers import RandomNormal as _random_normal_initializer
from tideflow.variables.initializers import RandomUniform as _random_uniform_initializer
from tideflow.variables.initializers import TruncatedNormal as _truncated_normal_initializer
from tideflow.variables.initializers import UniformUnitScaling as _uniform_unit_scaling_initializer
from tideflow.variables.initializers import VarianceScaling as _variance_scaling_initializer
from tideflow.variables.initializers import Zeros as _zeros_initializer
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
NoGradient = _NoGradient
NotDifferentiable = _NotDifferentiable
VERSION: _str
__compiler_version__: _str
__cxx11_abi_flag__: _int
__git_version__: _str
__monolithic_build__: _int
def acos(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The angle whose cosine is x.

    Args:
      x: A tensor of type bfloat16, float16, float32, float64, complex64 or complex128.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`."""

def acosh(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The inverse hyperbolic cosine.

    Args:
      x: A tensor of type bfloat16, float16, float32, float64, complex64 or complex128.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`."""

def add(x: _TensorOrRagged, y: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The sum x + y; strings are joined.

    Args:
      x: A tensor of type bfloat16, float16, float32, float64, uint8, int8, int16, int32, int64, complex64, complex128 or string.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `x` and of the broadcast shape."""

def asin(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The angle whose sine is x.

    Args:
      x: A tensor of type bfloat16, float16, float32, float64, complex64 or complex128.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`."""

def asinh(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The inverse hyperbolic sine.

    Args:
      x: A tensor of type bfloat16, float16, float32, float64, complex64 or complex128.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`."""

def assert_greater(x: _TensorLike, y: _TensorLike, data: _Sequence[_Any] | None = None, summarize: _int | None = None, message: _str | None = None, name: _str | None = None) -> _Operation:
    """Makes an operation that fails unless x > y in every element.

    Args:
      x: A tensor.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      data: The tensors and strings to print on failure, instead of the operands.
      summarize: How many elements of each tensor to print.
      message: What to say first on failure.
      name: A name for the operation.

    Returns:
      An operation that fails with InvalidArgumentError. Where the values are known already, that is raised
      right away."""

def assert_greater_equal(x: _TensorLike, y: _TensorLike, data: _Sequence[_Any] | None = None, summarize: _int | None = None, message: _str | None = None, name: _str | None = None) -> _Operation:
    """Makes an operation that fails unless x >= y in every element.

    Args:
      x: A tensor.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      data: The tensors and strings to print on failure, instead of the operands.
      summarize: How many elements of each tensor to print.
      message: What to say first on failure.
      name: A name for the operation.

    Returns:
      An operation that fails with InvalidArgumentError. Where the values are known already, that is raised
      right away."""

def assert_less(x: _TensorLike, y: _TensorLike, data: _Sequence[_Any] | None = None, summarize: _int | None = None, message: _str | None = None, name: _str | None = None) -> _Operation:
    """Makes an operation that fails unless x < y in every element.

    Args:
      x: A tensor.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      data: The tensors and strings to print on failure, instead of the operands.
      summarize: How many elements of each tensor to print.
      message: What to say first on failure.
      name: A name for the operation.

    Returns:
      An operation that fails with InvalidArgumentError. Where the values are known already, that is raised
      right away."""

def assert_less_equal(x: _TensorLike, y: _TensorLike, data: _Sequence[_Any] | None = None, summarize: _int | None = None, message: _str | None = None, name: _str | None = None) -> _Operation:
    """Makes an operation that fails unless x <= y in every element.

    Args:
      x: A tensor.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      data: The tensors and strings to print on failure, instead of the operands.
      summarize: How many elements of each tensor to print.
      message: What to say first on failure.
      name: A name for the operation.

    Returns:
      An operation that fails with InvalidArgumentError. Where the values are known already, that is raised
      right away."""

def assert_negative(x: _TensorLike, data: _Sequence[_Any] | None = None, summarize: _int | None = None, message: _str | None = None, name: _str | None = None) -> _Operation:
    """Makes an operation that fails unless x < 0 in every element.

    Args:
      x: A tensor of numbers.
      data: The tensors and strings to print on failure, instead of the operands.
      summarize: How many elements of each tensor to print.
      message: What to say first on failure.
      name: A name for the operation.

    Returns:
      An operation that fails with InvalidArgumentError. Where the values are known already, that is raised
      right away."""

def assert_non_negative(x: _TensorLike, data: _Sequence[_Any] | None = None, summarize: _int | None = None, message: _str | None = None, name: _str | None = None) -> _Operation:
    """Makes an operation that fails unless x >= 0 in every element.

    Args:
      x: A tensor of numbers.
      data: The tensors and strings to print on failure, instead of the operands.
      summarize: How many elements of each tensor to print.
      message: What to say first on failure.
      name: A name for the operation.

    Returns:
      An operation that fails with InvalidArgumentError. Where the values are known already, that is raised
      right away."""

def assert_non_positive(x: _TensorLike, data: _Sequence[_Any] | None = None, summarize: _int | None = None, message: _str | None = None, name: _str | None = None) -> _Operation:
    """Makes an operation that fails unless x <= 0 in every element.

    Args:
      x: A tensor of numbers.
      data: The tensors and strings to print on failure, instead of the operands.
      summarize: How many elements of each tensor to print.
      message: What to say first on failure.
      name: A name for the operation.

    Returns:
      An operation that fails with InvalidArgumentError. Where the values are known already, that is raised
      right away."""

def assert_none_equal(x: _TensorLike, y: _TensorLike, data: _Sequence[_Any] | None = None, summarize: _int | None = None, message: _str | None = None, name: _str | None = None) -> _Operation:
    """Makes an operation that fails unless x != y in every element.

    Args:
      x: A tensor.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      data: The tensors and strings to print on failure, instead of the operands.
      summarize: How many elements of each tensor to print.
      message: What to say first on failure.
      name: A name for the operation.

    Returns:
      An operation that fails with InvalidArgumentError. Where the values are known already, that is raised
      right away."""

def assert_positive(x: _TensorLike, data: _Sequence[_Any] | None = None, summarize: _int | None = None, message: _str | None = None, name: _str | None = None) -> _Operation:
    """Makes an operation that fails unless x > 0 in every element.

    Args:
      x: A tensor of numbers.
      data: The tensors and strings to print on failure, instead of the operands.
      summarize: How many elements of each tensor to print.
      message: What to say first on failure.
      name: A name for the operation.

    Returns:
      An operation that fails with InvalidArgumentError. Where the values are known already, that is raised
      right away."""

def atan(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The angle whose tangent is x.

    Args:
      x: A tensor of type bfloat16, float16, float32, float64, complex64 or complex128.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`."""

def atanh(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The inverse hyperbolic tangent.

    Args:
      x: A tensor of type bfloat16, float16, float32, float64, complex64 or complex128.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`."""

def ceil(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The smallest integer that is not below x.

    Args:
      x: A tensor of type bfloat16, float16, float32 or float64.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`."""

constant_initializer = _constant_initializer
constant_v1 = _constant_v1
def cos(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The cosine.

    Args:
      x: A tensor of type bfloat16, float16, float32, float64, complex64 or complex128.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`."""

def cosh(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The hyperbolic cosine.

    Args:
      x: A tensor of type bfloat16, float16, float32, float64, complex64 or complex128.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`."""

def digamma(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The derivative of lgamma, the logarithm of the gamma function.

    Args:
      x: A tensor of type bfloat16, float16, float32 or float64.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`."""

def erf(x: _TensorOrRagged | _SparseTensor, name: _str | None = None) -> _Any:
    """The error function.

    Args:
      x: A tensor or SparseTensor of type bfloat16, float16, float32 or float64.
      name: A name for the operation.

    Returns:
      A tensor or SparseTensor of the shape and type of `x`."""

def erfc(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The complementary error function, 1 - erf(x).

    Args:
      x: A tensor of type bfloat16, float16, float32 or float64.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`."""

def exp(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """e to the power x.

    Args:
      x: A tensor of type bfloat16, float16, float32, float64, complex64 or complex128.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`."""

def expm1(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """exp(x) - 1, exact near 0.

    Args:
      x: A tensor of type bfloat16, float16, float32, float64, complex64 or complex128.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`."""

def fft(input: _TensorLike, name: _str | None = None) -> _Tensor:
    """The discrete Fourier transform, the spectrum, along the last axis.

    Args:
      input: A tensor of type complex64 or complex128, of at least as many axes.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `input`."""

def fft2d(input: _TensorLike, name: _str | None = None) -> _Tensor:
    """The discrete Fourier transform, the spectrum, over the last two axes.

    Args:
      input: A tensor of type complex64 or complex128, of at least as many axes.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `input`."""

def fft3d(input: _TensorLike, name: _str | None = None) -> _Tensor:
    """The discrete Fourier transform, the spectrum, over the last three axes.

    Args:
      input: A tensor of type complex64 or complex128, of at least as many axes.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `input`."""

float16 = _float16
float64 = _float64
def floor(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The largest integer that is not above x.

    Args:
      x: A tensor of type bfloat16, float16, float32 or float64.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`."""

def floor_div(x: _TensorOrRagged, y: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The quotient x / y, rounded down.

    Args:
      x: A tensor of type bfloat16, float16, float32, float64, uint8, int8, uint16, int16, int32, uint32, uint64, int64, complex64 or complex128.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `x` and of the broadcast shape."""

def floormod(x: _TensorOrRagged, y: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The remainder of x / y rounded down; it has the sign of y.

    Args:
      x: A tensor of type int8, int16, int32, int64, uint8, uint16, uint32, uint64, bfloat16, float16, float32 or float64.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `x` and of the broadcast shape."""

get_static_value = _get_static_value
glorot_normal_initializer = _glorot_normal_initializer
glorot_uniform_initializer = _glorot_uniform_initializer
def greater(x: _TensorOrRagged, y: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """Tells where x > y.

    Args:
      x: A tensor of type float32, float64, int32, uint8, int16, int8, int64, bfloat16, uint16, float16, uint32 or uint64.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of type bool and of the broadcast shape."""

def greater_equal(x: _TensorOrRagged, y: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """Tells where x >= y.

    Args:
      x: A tensor of type float32, float64, int32, uint8, int16, int8, int64, bfloat16, uint16, float16, uint32 or uint64.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of type bool and of the broadcast shape."""

def ifft(input: _TensorLike, name: _str | None = None) -> _Tensor:
    """The signal of a spectrum along the last axis: undoes `fft`.

    Args:
      input: A tensor of type complex64 or complex128, of at least as many axes.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `input`."""

def ifft2d(input: _TensorLike, name: _str | None = None) -> _Tensor:
    """The signal of a spectrum over the last two axes: undoes `fft2d`.

    Args:
      input: A tensor of type complex64 or complex128, of at least as many axes.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `input`."""

def ifft3d(input: _TensorLike, name: _str | None = None) -> _Tensor:
    """The signal of a spectrum over the last three axes: undoes `fft3d`.

    Args:
      input: A tensor of type complex64 or complex128, of at least as many axes.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `input`."""

def is_finite(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """Tells which elements are finite numbers.

    Args:
      x: A tensor of type bfloat16, float16, float32 or float64.
      name: A name for the operation.

    Returns:
      A tensor of type bool and the shape of `x`."""

def is_inf(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """Tells which elements are infinite.

    Args:
      x: A tensor of type bfloat16, float16, float32 or float64.
      name: A name for the operation.

    Returns:
      A tensor of type bool and the shape of `x`."""

def is_nan(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """Tells which elements are not a number (NaN).

    Args:
      x: A tensor of type bfloat16, float16, float32 or float64.
      name: A name for the operation.

    Returns:
      A tensor of type bool and the shape of `x`."""

def less(x: _TensorOrRagged, y: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """Tells where x < y.

    Args:
      x: A tensor of type float32, float64, int32, uint8, int16, int8, int64, bfloat16, uint16, float16, uint32 or uint64.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of type bool and of the broadcast shape."""

def less_equal(x: _TensorOrRagged, y: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """Tells where x <= y.

    Args:
      x: A tensor of type float32, float64, int32, uint8, int16, int8, int64, bfloat16, uint16, float16, uint32 or uint64.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of type bool and of the broadcast shape."""

def lgamma(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The logarithm of the absolute value of the gamma function.

    Args:
      x: A tensor of type bfloat16, float16, float32 or float64.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`."""

lin_space = _lin_space
def log(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The natural logarithm.

    Args:
      x: A tensor of type bfloat16, float16, float32, float64, complex64 or complex128.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`."""

def log1p(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """log(1 + x), exact near 0.

    Args:
      x: A tensor of type bfloat16, float16, float32, float64, complex64 or complex128.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`."""

def logical_and(x: _TensorOrRagged, y: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """Tells where x and y are both True.

    Args:
      x: A tensor of type bool.
      y: A tensor of type bool, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of type bool and of the broadcast shape."""

def logical_or(x: _TensorOrRagged, y: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """Tells where x or y is True, or both.

    Args:
      x: A tensor of type bool.
      y: A tensor of type bool, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of type bool and of the broadcast shape."""

def maximum(x: _TensorOrRagged, y: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The larger of x and y.

    Args:
      x: A tensor of type bfloat16, float16, float32, float64, int8, uint8, int16, uint16, int32, uint32, int64 or uint64.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `x` and of the broadcast shape."""

def minimum(x: _TensorOrRagged, y: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The smaller of x and y.

    Args:
      x: A tensor of type bfloat16, float16, float32, float64, int8, uint8, int16, uint16, int32, uint32, int64 or uint64.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `x` and of the broadcast shape."""

mod = _mod
def multiply(x: _TensorOrRagged, y: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The product x * y.

    Args:
      x: A tensor of type bfloat16, float16, float32, float64, uint8, int8, uint16, int16, int32, uint32, uint64, int64, complex64 or complex128.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `x` and of the broadcast shape."""

def negative(x: _TensorOrRagged | _SparseTensor, name: _str | None = None) -> _Any:
    """The negative of each element, -x.

    Args:
      x: A tensor or SparseTensor of type bfloat16, float16, float32, float64, int8, int16, int32, int64, complex64 or complex128.
      name: A name for the operation.

    Returns:
      A tensor or SparseTensor of the shape and type of `x`."""

newaxis: None
no_gradient = _no_gradient
no_op = _no_op
ones_initializer = _ones_initializer
orthogonal_initializer = _orthogonal_initializer
print = _print
random_normal_initializer = _random_normal_initializer
random_uniform_initializer = _random_uniform_initializer
def realdiv(x: _TensorOrRagged, y: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The quotient x / y; of integers, rounded toward zero.

    Args:
      x: A tensor of type bfloat16, float16, float32, float64, uint8, int8, uint16, int16, int32, uint32, uint64, int64, complex64 or complex128.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `x` and of the broadcast shape."""

def reciprocal(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The reciprocal of each element, 1 / x; of integers, rounded toward zero.

    Args:
      x: A tensor of type bfloat16, float16, float32, float64, int8, int16, int32, int64, complex64 or complex128.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`."""

def reduce_all(input_tensor: _TensorOrRagged, axis: _TensorLike | None = None, keepdims: _bool | None = None, name: _str | None = None, reduction_indices: _TensorLike | None = None, keep_dims: _bool | None = None) -> _Tensor:
    """Tells whether all elements along the given axes are True.

    Args:
      input_tensor: The tensor to reduce.
      axis: The axes to reduce over: an integer, or a vector of them, negative ones counted from the end. By
        default all axes.
      keepdims: Whether a reduced axis stays, with size 1.
      name: A name for the operation.
      reduction_indices: The deprecated name of `axis`.
      keep_dims: The deprecated name of `keepdims`.

    Returns:
      A tensor of the type of `input_tensor`, without the reduced axes unless `keepdims` is set."""

def reduce_any(input_tensor: _TensorOrRagged, axis: _TensorLike | None = None, keepdims: _bool | None = None, name: _str | None = None, reduction_indices: _TensorLike | None = None, keep_dims: _bool | None = None) -> _Tensor:
    """Tells whether any element along the given axes is True.

    Args:
      input_tensor: The tensor to reduce.
      axis: The axes to reduce over: an integer, or a vector of them, negative ones counted from the end. By
        default all axes.
      keepdims: Whether a reduced axis stays, with size 1.
      name: A name for the operation.
      reduction_indices: The deprecated name of `axis`.
      keep_dims: The deprecated name of `keepdims`.

    Returns:
      A tensor of the type of `input_tensor`, without the reduced axes unless `keepdims` is set."""

def reduce_max(input_tensor: _TensorOrRagged, axis: _TensorLike | None = None, keepdims: _bool | None = None, name: _str | None = None, reduction_indices: _TensorLike | None = None, keep_dims: _bool | None = None) -> _Tensor:
    """The largest element along the given axes.

    Args:
      input_tensor: The tensor to reduce.
      axis: The axes to reduce over: an integer, or a vector of them, negative ones counted from the end. By
        default all axes.
      keepdims: Whether a reduced axis stays, with size 1.
      name: A name for the operation.
      reduction_indices: The deprecated name of `axis`.
      keep_dims: The deprecated name of `keepdims`.

    Returns:
      A tensor of the type of `input_tensor`, without the reduced axes unless `keepdims` is set."""

def reduce_mean(input_tensor: _TensorOrRagged, axis: _TensorLike | None = None, keepdims: _bool | None = None, name: _str | None = None, reduction_indices: _TensorLike | None = None, keep_dims: _bool | None = None) -> _Tensor:
    """The mean over the given axes; of integers, rounded to zero.

    Args:
      input_tensor: The tensor to reduce.
      axis: The axes to reduce over: an integer, or a vector of them, negative ones counted from the end. By
        default all axes.
      keepdims: Whether a reduced axis stays, with size 1.
      name: A name for the operation.
      reduction_indices: The deprecated name of `axis`.
      keep_dims: The deprecated name of `keepdims`.

    Returns:
      A tensor of the type of `input_tensor`, without the reduced axes unless `keepdims` is set."""

def reduce_min(input_tensor: _TensorOrRagged, axis: _TensorLike | None = None, keepdims: _bool | None = None, name: _str | None = None, reduction_indices: _TensorLike | None = None, keep_dims: _bool | None = None) -> _Tensor:
    """The smallest element along the given axes.

    Args:
      input_tensor: The tensor to reduce.
      axis: The axes to reduce over: an integer, or a vector of them, negative ones counted from the end. By
        default all axes.
      keepdims: Whether a reduced axis stays, with size 1.
      name: A name for the operation.
      reduction_indices: The deprecated name of `axis`.
      keep_dims: The deprecated name of `keepdims`.

    Returns:
      A tensor of the type of `input_tensor`, without the reduced axes unless `keepdims` is set."""

def reduce_prod(input_tensor: _TensorOrRagged, axis: _TensorLike | None = None, keepdims: _bool | None = None, name: _str | None = None, reduction_indices: _TensorLike | None = None, keep_dims: _bool | None = None) -> _Tensor:
    """The product over the given axes.

    Args:
      input_tensor: The tensor to reduce.
      axis: The axes to reduce over: an integer, or a vector of them, negative ones counted from the end. By
        default all axes.
      keepdims: Whether a reduced axis stays, with size 1.
      name: A name for the operation.
      reduction_indices: The deprecated name of `axis`.
      keep_dims: The deprecated name of `keepdims`.

    Returns:
      A tensor of the type of `input_tensor`, without the reduced axes unless `keepdims` is set."""

def reduce_sum(input_tensor: _TensorOrRagged, axis: _TensorLike | None = None, keepdims: _bool | None = None, name: _str | None = None, reduction_indices: _TensorLike | None = None, keep_dims: _bool | None = None) -> _Tensor:
    """The sum over the given axes.

    Args:
      input_tensor: The tensor to reduce.
      axis: The axes to reduce over: an integer, or a vector of them, negative ones counted from the end. By
        default all axes.
      keepdims: Whether a reduced axis stays, with size 1.
      name: A name for the operation.
      reduction_indices: The deprecated name of `axis`.
      keep_dims: The deprecated name of `keepdims`.

    Returns:
      A tensor of the type of `input_tensor`, without the reduced axes unless `keepdims` is set."""

reverse_v2 = _reverse_v2
def rint(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The nearest integer; halves go to the even one.

    Args:
      x: A tensor of type bfloat16, float16, float32 or float64.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`."""

def rsqrt(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The reciprocal of the square root, 1 / sqrt(x).

    Args:
      x: A tensor of type bfloat16, float16, float32, float64, complex64 or complex128.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`."""

def scatter_add(ref: _VariableLike | _Tensor, indices: _TensorLike, updates: _TensorLike, use_locking: _bool = False, name: _str | None = None) -> _Any:
    """Adds to rows of a variable.

    Where an index occurs more than once, its updates apply one after the other.

    Args:
      ref: The variable.
      indices: int32 or int64, of any shape: each number is a row.
      updates: Of the variable's type and of shape `indices.shape + ref.shape[1:]`, or a scalar.
      use_locking: Kept for TensorFlow's programs: no update is lost, whatever it says.
      name: A name for the operation.

    Returns:
      The variable, as what comes after the update sees it.

    Raises:
      InvalidArgumentError: When the step runs and an index is outside of the variable; nothing is changed."""

def scatter_div(ref: _VariableLike | _Tensor, indices: _TensorLike, updates: _TensorLike, use_locking: _bool = False, name: _str | None = None) -> _Any:
    """Divides rows of a variable.

    Where an index occurs more than once, its updates apply one after the other.

    Args:
      ref: The variable.
      indices: int32 or int64, of any shape: each number is a row.
      updates: Of the variable's type and of shape `indices.shape + ref.shape[1:]`, or a scalar.
      use_locking: Kept for TensorFlow's programs: no update is lost, whatever it says.
      name: A name for the operation.

    Returns:
      The variable, as what comes after the update sees it.

    Raises:
      InvalidArgumentError: When the step runs and an index is outside of the variable; nothing is changed."""

def scatter_max(ref: _VariableLike | _Tensor, indices: _TensorLike, updates: _TensorLike, use_locking: _bool = False, name: _str | None = None) -> _Any:
    """Raises rows of a variable to greater updates, element by element.

    Where an index occurs more than once, its updates apply one after the other.

    Args:
      ref: The variable.
      indices: int32 or int64, of any shape: each number is a row.
      updates: Of the variable's type and of shape `indices.shape + ref.shape[1:]`, or a scalar.
      use_locking: Kept for TensorFlow's programs: no update is lost, whatever it says.
      name: A name for the operation.

    Returns:
      The variable, as what comes after the update sees it.

    Raises:
      InvalidArgumentError: When the step runs and an index is outside of the variable; nothing is changed."""

def scatter_min(ref: _VariableLike | _Tensor, indices: _TensorLike, updates: _TensorLike, use_locking: _bool = False, name: _str | None = None) -> _Any:
    """Lowers rows of a variable to smaller updates, element by element.

    Where an index occurs more than once, its updates apply one after the other.

    Args:
      ref: The variable.
      indices: int32 or int64, of any shape: each number is a row.
      updates: Of the variable's type and of shape `indices.shape + ref.shape[1:]`, or a scalar.
      use_locking: Kept for TensorFlow's programs: no update is lost, whatever it says.
      name: A name for the operation.

    Returns:
      The variable, as what comes after the update sees it.

    Raises:
      InvalidArgumentError: When the step runs and an index is outside of the variable; nothing is changed."""

def scatter_mul(ref: _VariableLike | _Tensor, indices: _TensorLike, updates: _TensorLike, use_locking: _bool = False, name: _str | None = None) -> _Any:
    """Multiplies rows of a variable.

    Where an index occurs more than once, its updates apply one after the other.

    Args:
      ref: The variable.
      indices: int32 or int64, of any shape: each number is a row.
      updates: Of the variable's type and of shape `indices.shape + ref.shape[1:]`, or a scalar.
      use_locking: Kept for TensorFlow's programs: no update is lost, whatever it says.
      name: A name for the operation.

    Returns:
      The variable, as what comes after the update sees it.

    Raises:
      InvalidArgumentError: When the step runs and an index is outside of the variable; nothing is changed."""

def scatter_nd_add(ref: _VariableLike | _Tensor, indices: _TensorLike, updates: _TensorLike, use_locking: _bool = False, name: _str | None = None) -> _Any:
    """Adds to slices of a variable.

    Where an index occurs more than once, its updates apply one after the other.

    Args:
      ref: The variable.
      indices: int32 or int64, of shape [..., k]: each vector is an index into the first k axes.
      updates: Of the variable's type and of shape `indices.shape[:-1] + ref.shape[k:]`.
      use_locking: Kept for TensorFlow's programs: no update is lost, whatever it says.
      name: A name for the operation.

    Returns:
      The variable, as what comes after the update sees it.

    Raises:
      InvalidArgumentError: When the step runs and an index is outside of the variable; nothing is changed."""

def scatter_nd_sub(ref: _VariableLike | _Tensor, indices: _TensorLike, updates: _TensorLike, use_locking: _bool = False, name: _str | None = None) -> _Any:
    """Subtracts from slices of a variable.

    Where an index occurs more than once, its updates apply one after the other.

    Args:
      ref: The variable.
      indices: int32 or int64, of shape [..., k]: each vector is an index into the first k axes.
      updates: Of the variable's type and of shape `indices.shape[:-1] + ref.shape[k:]`.
      use_locking: Kept for TensorFlow's programs: no update is lost, whatever it says.
      name: A name for the operation.

    Returns:
      The variable, as what comes after the update sees it.

    Raises:
      InvalidArgumentError: When the step runs and an index is outside of the variable; nothing is changed."""

def scatter_nd_update(ref: _VariableLike | _Tensor, indices: _TensorLike, updates: _TensorLike, use_locking: _bool = True, name: _str | None = None) -> _Any:
    """Replaces slices of a variable.

    Where an index occurs more than once, its updates apply one after the other.

    Args:
      ref: The variable.
      indices: int32 or int64, of shape [..., k]: each vector is an index into the first k axes.
      updates: Of the variable's type and of shape `indices.shape[:-1] + ref.shape[k:]`.
      use_locking: Kept for TensorFlow's programs: no update is lost, whatever it says.
      name: A name for the operation.

    Returns:
      The variable, as what comes after the update sees it.

    Raises:
      InvalidArgumentError: When the step runs and an index is outside of the variable; nothing is changed."""

def scatter_sub(ref: _VariableLike | _Tensor, indices: _TensorLike, updates: _TensorLike, use_locking: _bool = False, name: _str | None = None) -> _Any:
    """Subtracts from rows of a variable.

    Where an index occurs more than once, its updates apply one after the other.

    Args:
      ref: The variable.
      indices: int32 or int64, of any shape: each number is a row.
      updates: Of the variable's type and of shape `indices.shape + ref.shape[1:]`, or a scalar.
      use_locking: Kept for TensorFlow's programs: no update is lost, whatever it says.
      name: A name for the operation.

    Returns:
      The variable, as what comes after the update sees it.

    Raises:
      InvalidArgumentError: When the step runs and an index is outside of the variable; nothing is changed."""

def scatter_update(ref: _VariableLike | _Tensor, indices: _TensorLike, updates: _TensorLike, use_locking: _bool = True, name: _str | None = None) -> _Any:
    """Replaces rows of a variable.

    Where an index occurs more than once, its updates apply one after the other.

    Args:
      ref: The variable.
      indices: int32 or int64, of any shape: each number is a row.
      updates: Of the variable's type and of shape `indices.shape + ref.shape[1:]`, or a scalar.
      use_locking: Kept for TensorFlow's programs: no update is lost, whatever it says.
      name: A name for the operation.

    Returns:
      The variable, as what comes after the update sees it.

    Raises:
      InvalidArgumentError: When the step runs and an index is outside of the variable; nothing is changed."""

def segment_max(data: _TensorLike, segment_ids: _TensorLike, name: _str | None = None) -> _Tensor:
    """The largest elements of the rows of each segment, 0 where there are none.

    Args:
      data: A tensor of numbers, of rank 1 or more.
      segment_ids: The segment of each row of `data`: a vector of int32 or int64, sorted, none negative.
      name: A name for the operation.

    Returns:
      A tensor of the type of `data`, with a row for each id up to the last one in place of its rows."""

def segment_mean(data: _TensorLike, segment_ids: _TensorLike, name: _str | None = None) -> _Tensor:
    """The mean of the rows of each segment, 0 where there are none.

    Args:
      data: A tensor of numbers, of rank 1 or more.
      segment_ids: The segment of each row of `data`: a vector of int32 or int64, sorted, none negative.
      name: A name for the operation.

    Returns:
      A tensor of the type of `data`, with a row for each id up to the last one in place of its rows."""

def segment_min(data: _TensorLike, segment_ids: _TensorLike, name: _str | None = None) -> _Tensor:
    """The smallest elements of the rows of each segment, 0 where there are none.

    Args:
      data: A tensor of numbers, of rank 1 or more.
      segment_ids: The segment of each row of `data`: a vector of int32 or int64, sorted, none negative.
      name: A name for the operation.

    Returns:
      A tensor of the type of `data`, with a row for each id up to the last one in place of its rows."""

def segment_prod(data: _TensorLike, segment_ids: _TensorLike, name: _str | None = None) -> _Tensor:
    """The product of the rows of each segment, 1 where there are none.

    Args:
      data: A tensor of numbers, of rank 1 or more.
      segment_ids: The segment of each row of `data`: a vector of int32 or int64, sorted, none negative.
      name: A name for the operation.

    Returns:
      A tensor of the type of `data`, with a row for each id up to the last one in place of its rows."""

def segment_sum(data: _TensorLike, segment_ids: _TensorLike, name: _str | None = None) -> _Tensor:
    """The sum of the rows of each segment, 0 where there are none.

    Args:
      data: A tensor of numbers, of rank 1 or more.
      segment_ids: The segment of each row of `data`: a vector of int32 or int64, sorted, none negative.
      name: A name for the operation.

    Returns:
      A tensor of the type of `data`, with a row for each id up to the last one in place of its rows."""

def sigmoid(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The logistic function, 1 / (1 + exp(-x)).

    Args:
      x: A tensor of type bfloat16, float16, float32, float64, complex64 or complex128.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`."""

def sign(x: _TensorOrRagged | _SparseTensor, name: _str | None = None) -> _Any:
    """-1, 0 or 1 as x is below, at or above 0; of a complex number, x / abs(x).

    Args:
      x: A tensor or SparseTensor of type bfloat16, float16, float32, float64, int8, int16, int32, int64, complex64 or complex128.
      name: A name for the operation.

    Returns:
      A tensor or SparseTensor of the shape and type of `x`."""

def sin(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The sine.

    Args:
      x: A tensor of type bfloat16, float16, float32, float64, complex64 or complex128.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`."""

def sinh(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The hyperbolic sine.

    Args:
      x: A tensor of type bfloat16, float16, float32, float64, complex64 or complex128.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`."""

def sqrt(x: _TensorOrRagged | _SparseTensor, name: _str | None = None) -> _Any:
    """The square root of each element.

    Args:
      x: A tensor or SparseTensor of type bfloat16, float16, float32, float64, complex64 or complex128.
      name: A name for the operation.

    Returns:
      A tensor or SparseTensor of the shape and type of `x`."""

def square(x: _TensorOrRagged | _SparseTensor, name: _str | None = None) -> _Any:
    """The square of each element, x * x.

    Args:
      x: A tensor or SparseTensor of type bfloat16, float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64, complex64 or complex128.
      name: A name for the operation.

    Returns:
      A tensor or SparseTensor of the shape and type of `x`."""

def squared_difference(x: _TensorOrRagged, y: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The squared difference (x - y) * (x - y).

    Args:
      x: A tensor of type bfloat16, float16, float32, float64, int32, int64, complex64 or complex128.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `x` and of the broadcast shape."""

string = _string
def subtract(x: _TensorOrRagged, y: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The difference x - y.

    Args:
      x: A tensor of type bfloat16, float16, float32, float64, uint8, int8, uint16, int16, int32, int64, complex64, complex128, uint32 or uint64.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `x` and of the broadcast shape."""

def tan(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The tangent.

    Args:
      x: A tensor of type bfloat16, float16, float32, float64, complex64 or complex128.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`."""

def tanh(x: _TensorOrRagged | _SparseTensor, name: _str | None = None) -> _Any:
    """The hyperbolic tangent.

    Args:
      x: A tensor or SparseTensor of type bfloat16, float16, float32, float64, complex64 or complex128.
      name: A name for the operation.

    Returns:
      A tensor or SparseTensor of the shape and type of `x`."""

tensor_scatter_nd_add = _tensor_scatter_nd_add
tensor_scatter_nd_sub = _tensor_scatter_nd_sub
tensor_scatter_nd_update = _tensor_scatter_nd_update
truncated_normal_initializer = _truncated_normal_initializer
def truncatediv(x: _TensorOrRagged, y: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The quotient x / y, of integers rounded toward zero.

    Args:
      x: A tensor of type bfloat16, float16, float32, float64, uint8, int8, uint16, int16, int32, uint32, uint64, int64, complex64 or complex128.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `x` and of the broadcast shape."""

def truncatemod(x: _TensorOrRagged, y: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The remainder of x / y rounded toward zero; it has the sign of x.

    Args:
      x: A tensor of type int32, int64, bfloat16, float16, float32 or float64.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `x` and of the broadcast shape."""

uniform_unit_scaling_initializer = _uniform_unit_scaling_initializer
def unsorted_segment_max(data: _TensorOrRagged, segment_ids: _TensorOrRagged, num_segments: _TensorLike, name: _str | None = None) -> _Tensor:
    """The largest elements of the rows of each segment, the lowest finite number where there are none.

    Args:
      data: A tensor of numbers.
      segment_ids: The segment of each row of `data`, integers of the shape of its first axes. Rows with a negative id are left out.
      num_segments: How many segments there are; every id must be less.
      name: A name for the operation.

    Returns:
      A tensor of the type of `data`, with an axis of size `num_segments` in place of those of `segment_ids`."""

def unsorted_segment_min(data: _TensorOrRagged, segment_ids: _TensorOrRagged, num_segments: _TensorLike, name: _str | None = None) -> _Tensor:
    """The smallest elements of the rows of each segment, the highest finite number where there are none.

    Args:
      data: A tensor of numbers.
      segment_ids: The segment of each row of `data`, integers of the shape of its first axes. Rows with a negative id are left out.
      num_segments: How many segments there are; every id must be less.
      name: A name for the operation.

    Returns:
      A tensor of the type of `data`, with an axis of size `num_segments` in place of those of `segment_ids`."""

def unsorted_segment_prod(data: _TensorOrRagged, segment_ids: _TensorOrRagged, num_segments: _TensorLike, name: _str | None = None) -> _Tensor:
    """The product of the rows of each segment, 1 where there are none.

    Args:
      data: A tensor of numbers.
      segment_ids: The segment of each row of `data`, integers of the shape of its first axes. Rows with a negative id are left out.
      num_segments: How many segments there are; every id must be less.
      name: A name for the operation.

    Returns:
      A tensor of the type of `data`, with an axis of size `num_segments` in place of those of `segment_ids`."""

def unsorted_segment_sum(data: _TensorOrRagged, segment_ids: _TensorOrRagged, num_segments: _TensorLike, name: _str | None = None) -> _Tensor:
    """The sum of the rows of each segment, 0 where there are none.

    Args:
      data: A tensor of numbers.
      segment_ids: The segment of each row of `data`, integers of the shape of its first axes. Rows with a negative id are left out.
      num_segments: How many segments there are; every id must be less.
      name: A name for the operation.

    Returns:
      A tensor of the type of `data`, with an axis of size `num_segments` in place of those of `segment_ids`."""

variance_scaling_initializer = _variance_scaling_initializer
zeros_initializer = _zeros_initializer
