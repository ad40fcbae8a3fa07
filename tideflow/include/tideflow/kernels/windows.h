// Windows over images: paddings, formats, sizes of outputs.
#ifndef TIDEFLOW_KERNELS_WINDOWS_H_
#define TIDEFLOW_KERNELS_WINDOWS_H_

#include "tideflow/kernels/op_kernel.h"

namespace tensorflow {

enum Padding { VALID = 1, SAME = 2, EXPLICIT = 3 };

inline string GetPaddingAttrString() { return "padding: {'SAME', 'VALID'}"; }
inline string GetPaddingAttrStringWithExplicit() { return "padding: {'SAME', 'VALID', 'EXPLICIT'}"; }
inline Status GetPaddingFromString(StringPiece text, Padding* padding) {
  if (text == "SAME") *padding = SAME;
  else if (text == "VALID") *padding = VALID;
  else if (text == "EXPLICIT") *padding = EXPLICIT;
  else return errors::NotFound(text, " is not an allowed padding type");
  return Status::OK();
}

namespace internal {
template <>
struct AttributeAs<Padding> {
  static const char* Kind() { return "string"; }
  static Status Take(const Attribute& from, size_t i, const string&, Padding* to) {
    return GetPaddingFromString(from.strings[i], to);
  }
};
}  // namespace internal

// The order of the dimensions of images: batch, channels and the spatial ones.
enum TensorFormat { FORMAT_NHWC = 0, FORMAT_NCHW = 1 };

inline string GetConvnetDataFormatAttrString() { return "data_format: { 'NHWC', 'NCHW' } = 'NHWC' "; }
inline string GetConvnet3dDataFormatAttrString() { return "data_format: { 'NDHWC', 'NCDHW' } = 'NDHWC' "; }
inline string ToString(TensorFormat format) { return format == FORMAT_NHWC ? "NHWC" : "NCHW"; }
inline bool FormatFromString(const string& text, TensorFormat* format) {
  const bool last = text == "NHWC" || text == "NDHWC";
  *format = last ? FORMAT_NHWC : FORMAT_NCHW;
  return last || text == "NCHW" || text == "NCDHW";
}
inline int GetTensorBatchDimIndex(int, TensorFormat) { return 0; }
inline int GetTensorFeatureDimIndex(int dims, TensorFormat format) { return format == FORMAT_NHWC ? dims - 1 : 1; }
inline int GetTensorSpatialDimIndex(int, TensorFormat format, int spatial) {
  return spatial + (format == FORMAT_NHWC ? 1 : 2);
}
// Where a dimension is: 'N', 'C', or a spatial one: 'D' (of five dimensions), 'H', 'W', or '0', '1', '2'.
template <int spatial_dims = 2>
int GetTensorDimIndex(TensorFormat format, char dimension) {
  const int dims = spatial_dims + 2;
  switch (dimension) {
    case 'N': return 0;
    case 'C': return GetTensorFeatureDimIndex(dims, format);
    case 'W': return GetTensorSpatialDimIndex(dims, format, spatial_dims - 1);
    case 'H': return GetTensorSpatialDimIndex(dims, format, spatial_dims - 2);
    case 'D': return GetTensorSpatialDimIndex(dims, format, spatial_dims - 3);
    default:
      CHECK('0' <= dimension && dimension - '0' < spatial_dims) << "there is no dimension " << dimension;
      return GetTensorSpatialDimIndex(dims, format, dimension - '0');
  }
}
template <typename T>
T GetTensorDim(gtl::ArraySlice<T> attribute, TensorFormat format, char dimension) {
  return attribute[static_cast<size_t>(attribute.size() == 5 ? GetTensorDimIndex<3>(format, dimension)
                                                             : GetTensorDimIndex<2>(format, dimension))];
}
template <typename T>
T GetTensorDim(const std::vector<T>& attribute, TensorFormat format, char dimension) {
  return GetTensorDim(gtl::ArraySlice<T>(attribute), format, dimension);
}
inline int64 GetTensorDim(const TensorShape& shape, TensorFormat format, char dimension) {
  const auto sizes = shape.dim_sizes();
  return GetTensorDim(gtl::ArraySlice<int64>(sizes), format, dimension);
}
inline int64 GetTensorDim(const Tensor& tensor, TensorFormat format, char dimension) {
  return GetTensorDim(tensor.shape(), format, dimension);
}
inline TensorShape ShapeFromFormat(TensorFormat format, int64 n, int64 h, int64 w, int64 c) {
  return format == FORMAT_NHWC ? TensorShape({n, h, w, c}) : TensorShape({n, c, h, w});
}

// The output size of a window along an axis, and the padding before and after.
inline Status GetWindowedOutputSizeVerboseV2(int64 input, int64 filter, int64 dilation, int64 stride, Padding padding,
                                             int64* output, int64* before, int64* after) {
  if (stride <= 0) return errors::InvalidArgument("Stride must be > 0, but got ", stride);
  if (dilation < 1) return errors::InvalidArgument("Dilation rate must be >= 1, but got ", dilation);
  const int64 window = (filter - 1) * dilation + 1;
  if (padding == EXPLICIT) {
    *output = (input + *before + *after - window + stride) / stride;
  } else if (padding == VALID) {
    *output = (input - window + stride) / stride;
    *before = *after = 0;
  } else {
    *output = (input + stride - 1) / stride;
    const int64 padded = std::max<int64>(0, (*output - 1) * stride + window - input);
    *before = padded / 2;
    *after = padded - *before;
  }
  if (*output < 0)
    return errors::InvalidArgument("Computed output size would be negative: ", *output, " [input_size: ", input,
                                   ", effective_filter_size: ", window, ", stride: ", stride, "]");
  return Status::OK();
}
inline Status GetWindowedOutputSizeVerbose(int64 input, int64 filter, int64 stride, Padding padding, int64* output,
                                           int64* before, int64* after) {
  return GetWindowedOutputSizeVerboseV2(input, filter, 1, stride, padding, output, before, after);
}
inline Status GetWindowedOutputSizeV2(int64 input, int64 filter, int64 dilation, int64 stride, Padding padding,
                                      int64* output, int64* before) {
  if (padding == EXPLICIT) return errors::Internal("GetWindowedOutputSize does not handle EXPLICIT padding");
  int64 after;
  return GetWindowedOutputSizeVerboseV2(input, filter, dilation, stride, padding, output, before, &after);
}
inline Status GetWindowedOutputSize(int64 input, int64 filter, int64 stride, Padding padding, int64* output,
                                    int64* before) {
  return GetWindowedOutputSizeV2(input, filter, 1, stride, padding, output, before);
}
namespace shape_inference {
inline Status GetWindowedOutputSizeFromDims(InferenceContext* c, DimensionHandle input, DimensionOrConstant filter,
                                            int64 stride, Padding padding, DimensionHandle* output) {
  if (stride <= 0) return errors::InvalidArgument("Stride must be > 0, but got ", stride);
  if (padding == EXPLICIT) return errors::Internal("GetWindowedOutputSizeFromDims does not handle EXPLICIT padding");
  if (padding == VALID) {
    TF_RETURN_IF_ERROR(c->Subtract(input, filter, output));
    TF_RETURN_IF_ERROR(c->Add(*output, stride, output));
  } else {
    TF_RETURN_IF_ERROR(c->Add(input, stride - 1, output));
  }
  return c->Divide(*output, stride, false, output);
}
}  // namespace shape_inference
using shape_inference::GetWindowedOutputSizeFromDims;

// Kernels of one and of two inputs of the same type.
template <typename T>
class UnaryOp : public OpKernel {
 public:
  explicit UnaryOp(OpKernelConstruction* context) : OpKernel(context) {
    const DataType dtype = DataTypeToEnum<T>::v();
    OP_REQUIRES_OK(context, context->MatchSignature({dtype}, {dtype}));
  }
};
template <typename T>
class BinaryOp : public OpKernel {
 public:
  explicit BinaryOp(OpKernelConstruction* context) : OpKernel(context) {
    const DataType dtype = DataTypeToEnum<T>::v();
    OP_REQUIRES_OK(context, context->MatchSignature({dtype, dtype}, {dtype}));
  }
};

}  // namespace tensorflow

#endif  // TIDEFLOW_KERNELS_WINDOWS_H_
