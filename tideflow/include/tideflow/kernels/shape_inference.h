// What shape functions are given: the shapes of a node's inputs as far as they are known, and its attributes.
#ifndef TIDEFLOW_KERNELS_SHAPE_INFERENCE_H_
#define TIDEFLOW_KERNELS_SHAPE_INFERENCE_H_

#include "tideflow/kernels/attributes.h"

namespace tensorflow {
namespace shape_inference {

class InferenceContext;

struct DimensionOrConstant;

// A size, -1 while it is unknown; the same handle is the same size.
class DimensionHandle {
 public:
  DimensionHandle() : value_(nullptr) {}
  bool SameHandle(DimensionHandle other) const { return value_ == other.value_; }
  bool IsSet() const { return value_ != nullptr; }

 private:
  friend class InferenceContext;
  friend struct DimensionOrConstant;
  explicit DimensionHandle(const int64* value) : value_(value) {}
  const int64* value_;
};

class ShapeHandle {
 public:
  ShapeHandle() : shape_(nullptr) {}
  bool SameHandle(ShapeHandle other) const { return shape_ == other.shape_; }
  bool IsSet() const { return shape_ != nullptr; }
  bool Handle() const { return IsSet(); }

 private:
  friend class InferenceContext;
  struct Shape {
    bool known;
    std::vector<DimensionHandle> dims;
  };
  explicit ShapeHandle(const Shape* shape) : shape_(shape) {}
  const Shape* shape_;
};

struct DimensionOrConstant {
  DimensionOrConstant(DimensionHandle handle) : dim(handle), value(-1) {}
  DimensionOrConstant(int64 number) : value(number) {}
  DimensionHandle dim;
  int64 value;
};

// Inputs or outputs by the name of their argument: first and one past the last.
typedef std::vector<std::pair<string, std::pair<int, int>>> ArgumentRanges;

class InferenceContext {
 public:
  static constexpr int64 kUnknownDim = -1;
  static constexpr int32 kUnknownRank = -1;

  InferenceContext() {}
  InferenceContext(const InferenceContext&) = delete;

  // ------------------------------------------------------------------------------------ inputs and outputs

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  ShapeHandle input(int64 i) const { return inputs_.at(static_cast<size_t>(i)); }
  Status input(StringPiece name, std::vector<ShapeHandle>* shapes) const {
    return Named(input_ranges_, inputs_, name, shapes);
  }
  ShapeHandle output(int64 i) const { return outputs_.at(static_cast<size_t>(i)); }
  Status output(StringPiece name, std::vector<ShapeHandle>* shapes) const {
    return Named(output_ranges_, outputs_, name, shapes);
  }
  void set_output(int i, ShapeHandle shape) { outputs_.at(static_cast<size_t>(i)) = shape; }
  Status set_output(StringPiece name, const std::vector<ShapeHandle>& shapes) {
    for (const auto& range : output_ranges_) {
      if (range.first != name.ToString()) continue;
      const int count = range.second.second - range.second.first;
      if (count != static_cast<int>(shapes.size()))
        return errors::InvalidArgument("Must have exactly ", count, " shapes.");
      for (int i = 0; i < count; ++i) set_output(range.second.first + i, shapes[static_cast<size_t>(i)]);
      return Status::OK();
    }
    return errors::InvalidArgument("Unknown output name: ", name);
  }
  // The value of an input where it follows from the graph alone, else null.
  const Tensor* input_tensor(int i) const {
    const Tensor& value = values_.at(static_cast<size_t>(i));
    return value.buffer() ? &value : nullptr;
  }
  // An input that is a shape, as far as its elements are known.
  const std::vector<ShapeHandle>& input_tensors_as_shapes() const { return as_shapes_; }
  template <typename T>
  Status GetAttr(StringPiece name, T* value) const { return attributes_.Get(name, value); }
  bool HasAttr(StringPiece name) const { return attributes_.Has(name); }

  // ----------------------------------------------------------------------------------------------- shapes

  ShapeHandle MakeShape(const std::vector<DimensionHandle>& dims) { return Keep(true, dims); }
  ShapeHandle MakeShape(std::initializer_list<DimensionOrConstant> dims) {
    std::vector<DimensionHandle> all;
    for (const DimensionOrConstant& dim : dims) all.push_back(MakeDim(dim));
    return Keep(true, all);
  }
  ShapeHandle UnknownShape() { return Keep(false, {}); }
  ShapeHandle UnknownShapeOfRank(int64 rank) {
    std::vector<DimensionHandle> dims;
    for (int64 i = 0; i < rank; ++i) dims.push_back(UnknownDim());
    return Keep(true, dims);
  }
  ShapeHandle Scalar() { return Keep(true, {}); }
  ShapeHandle Vector(DimensionOrConstant dim) { return MakeShape({dim}); }
  ShapeHandle Matrix(DimensionOrConstant a, DimensionOrConstant b) { return MakeShape({a, b}); }

  int32 Rank(ShapeHandle s) const {
    return s.shape_->known ? static_cast<int32>(s.shape_->dims.size()) : kUnknownRank;
  }
  bool RankKnown(ShapeHandle s) const { return s.IsSet() && s.shape_->known; }
  DimensionHandle Dim(ShapeHandle s, int64 i) {
    if (!RankKnown(s)) return UnknownDim();
    return DimKnownRank(s, i);
  }
  DimensionHandle DimKnownRank(ShapeHandle s, int64 i) const {
    const int64 rank = Rank(s);
    CHECK(-rank <= i && i < rank) << "dimension " << i << " of " << DebugString(s);
    return s.shape_->dims[static_cast<size_t>(i < 0 ? i + rank : i)];
  }
  bool FullyDefined(ShapeHandle s) const {
    if (!RankKnown(s)) return false;
    for (DimensionHandle dim : s.shape_->dims)
      if (!ValueKnown(dim)) return false;
    return true;
  }
  DimensionHandle NumElements(ShapeHandle s) {
    if (!RankKnown(s)) return UnknownDim();
    int64 count = 1;
    bool known = true;
    for (DimensionHandle dim : s.shape_->dims) {
      if (Value(dim) == 0) return MakeDim(0);
      known = known && ValueKnown(dim);
      if (known) count *= Value(dim);
    }
    return known ? MakeDim(count) : UnknownDim();
  }
  string DebugString(ShapeHandle s) const {
    if (!RankKnown(s)) return "?";
    std::vector<string> texts;
    for (DimensionHandle dim : s.shape_->dims) texts.push_back(DebugString(dim));
    return "[" + str_util::Join(texts, ",") + "]";
  }
  string DebugString(DimensionHandle d) const { return ValueKnown(d) ? strings::StrCat(Value(d)) : "?"; }

  Status WithRank(ShapeHandle s, int64 rank, ShapeHandle* out) {
    if (!RankKnown(s)) return Set(out, UnknownShapeOfRank(rank));
    if (Rank(s) == rank) return Set(out, s);
    return errors::InvalidArgument("Shape must be rank ", rank, " but is rank ", Rank(s));
  }
  Status WithRankAtLeast(ShapeHandle s, int64 rank, ShapeHandle* out) {
    if (!RankKnown(s) || Rank(s) >= rank) return Set(out, s);
    return errors::InvalidArgument("Shape must be at least rank ", rank, " but is rank ", Rank(s));
  }
  Status WithRankAtMost(ShapeHandle s, int64 rank, ShapeHandle* out) {
    if (!RankKnown(s) || Rank(s) <= rank) return Set(out, s);
    return errors::InvalidArgument("Shape must be at most rank ", rank, " but is rank ", Rank(s));
  }
  Status Merge(ShapeHandle a, ShapeHandle b, ShapeHandle* out) {
    if (a.SameHandle(b) || !RankKnown(b)) return Set(out, a);
    if (!RankKnown(a)) return Set(out, b);
    if (Rank(a) != Rank(b))
      return errors::InvalidArgument("Shapes must be equal rank, but are ", Rank(a), " and ", Rank(b));
    std::vector<DimensionHandle> dims(a.shape_->dims.size());
    for (size_t i = 0; i < dims.size(); ++i)
      if (!Merge(a.shape_->dims[i], b.shape_->dims[i], &dims[i]).ok())
        return errors::InvalidArgument("Dimension ", i, " in both shapes must be equal, but are ",
                                       DebugString(a.shape_->dims[i]), " and ", DebugString(b.shape_->dims[i]),
                                       ". Shapes are ", DebugString(a), " and ", DebugString(b), ".");
    return Set(out, MakeShape(dims));
  }
  Status MergePrefix(ShapeHandle s, ShapeHandle prefix, ShapeHandle* s_out, ShapeHandle* prefix_out) {
    *s_out = s, *prefix_out = prefix;
    if (!RankKnown(s) || !RankKnown(prefix)) return Status::OK();
    TF_RETURN_IF_ERROR(WithRankAtLeast(s, Rank(prefix), &s));
    ShapeHandle rest, merged;
    TF_RETURN_IF_ERROR(Subshape(s, 0, Rank(prefix), &merged));
    TF_RETURN_IF_ERROR(Merge(merged, prefix, &merged));
    TF_RETURN_IF_ERROR(Subshape(s, Rank(prefix), &rest));
    *prefix_out = merged;
    return Concatenate(merged, rest, s_out);
  }
  Status Subshape(ShapeHandle s, int64 start, ShapeHandle* out) {
    return Subshape(s, start, std::numeric_limits<int64>::max(), out);
  }
  Status Subshape(ShapeHandle s, int64 start, int64 end, ShapeHandle* out) {
    if (!RankKnown(s)) return Set(out, UnknownShape());
    const int64 rank = Rank(s);
    if (start > rank) start = rank;
    if (end > rank) end = rank;
    if (start < 0) start += rank;
    if (end < 0) end += rank;
    if (start < 0 || end < 0 || start > end)
      return errors::InvalidArgument("Subshape must have computed start <= end, but is ", start, " and ", end,
                                     " (computed from the shape with rank ", rank, ")");
    return Set(out, MakeShape(std::vector<DimensionHandle>(s.shape_->dims.begin() + start,
                                                           s.shape_->dims.begin() + end)));
  }
  Status Concatenate(ShapeHandle a, ShapeHandle b, ShapeHandle* out) {
    if (!RankKnown(a) || !RankKnown(b)) return Set(out, UnknownShape());
    std::vector<DimensionHandle> dims = a.shape_->dims;
    dims.insert(dims.end(), b.shape_->dims.begin(), b.shape_->dims.end());
    return Set(out, MakeShape(dims));
  }
  Status ReplaceDim(ShapeHandle s, int64 i, DimensionHandle dim, ShapeHandle* out) {
    if (!RankKnown(s)) return Set(out, UnknownShape());
    const int64 rank = Rank(s), at = i < 0 ? i + rank : i;
    if (at < 0 || at >= rank)
      return errors::InvalidArgument("Out of range dim_index ", i, " for shape with ", rank, " dimensions");
    std::vector<DimensionHandle> dims = s.shape_->dims;
    dims[static_cast<size_t>(at)] = dim;
    return Set(out, MakeShape(dims));
  }

  Status MakeShapeFromPartialTensorShape(const PartialTensorShape& partial, ShapeHandle* out) {
    if (partial.unknown_rank()) return Set(out, UnknownShape());
    std::vector<DimensionHandle> dims;
    for (int64 size : partial.dim_sizes()) dims.push_back(MakeDim(size));
    return Set(out, MakeShape(dims));
  }
  Status MakeShapeFromTensorShape(const TensorShape& shape, ShapeHandle* out) {
    return MakeShapeFromPartialTensorShape(PartialTensorShape(shape), out);
  }
  // The shape that is the value of input i; unknown as far as the value is.
  Status MakeShapeFromShapeTensor(int i, ShapeHandle* out) {
    ShapeHandle vector;
    TF_RETURN_IF_ERROR(WithRank(input(i), 1, &vector));
    if (const Tensor* value = input_tensor(i)) return MakeShapeFromTensor(value, vector, out);
    if (as_shapes_.at(static_cast<size_t>(i)).IsSet()) return Set(out, as_shapes_[static_cast<size_t>(i)]);
    const DimensionHandle rank = Dim(vector, 0);
    return Set(out, ValueKnown(rank) ? UnknownShapeOfRank(Value(rank)) : UnknownShape());
  }
  Status MakeShapeFromTensor(const Tensor* value, ShapeHandle, ShapeHandle* out) {
    if (!value) return Set(out, UnknownShape());
    std::vector<DimensionHandle> dims;
    for (int64 i = 0; i < value->NumElements(); ++i) {
      int64 size;
      TF_RETURN_IF_ERROR(Integer(*value, i, &size));
      if (size < -1) return errors::InvalidArgument("Invalid value in tensor used for shape: ", size);
      dims.push_back(MakeDim(size));
    }
    return Set(out, MakeShape(dims));
  }

  // ------------------------------------------------------------------------------------------------ sizes

  DimensionHandle MakeDim(DimensionOrConstant dim) {
    if (dim.dim.IsSet()) return dim.dim;
    kept_sizes_.emplace_back(new int64(dim.value < 0 ? kUnknownDim : dim.value));
    return DimensionHandle(kept_sizes_.back().get());
  }
  DimensionHandle UnknownDim() { return MakeDim(kUnknownDim); }
  int64 Value(DimensionOrConstant dim) const { return dim.dim.IsSet() ? *dim.dim.value_ : dim.value; }
  bool ValueKnown(DimensionOrConstant dim) const { return Value(dim) != kUnknownDim; }

  Status WithValue(DimensionHandle dim, int64 value, DimensionHandle* out) {
    if (!ValueKnown(dim)) return Set(out, MakeDim(value));
    if (Value(dim) == value) return Set(out, dim);
    return errors::InvalidArgument("Dimension must be ", value, " but is ", Value(dim));
  }
  Status Merge(DimensionHandle a, DimensionHandle b, DimensionHandle* out) {
    if (a.SameHandle(b) || !ValueKnown(b)) return Set(out, a);
    if (!ValueKnown(a)) return Set(out, b);
    if (Value(a) == Value(b)) return Set(out, a);
    return errors::InvalidArgument("Dimensions must be equal, but are ", Value(a), " and ", Value(b));
  }
  Status Add(DimensionHandle a, DimensionOrConstant b, DimensionHandle* out) {
    return Set(out, Known(a, b) ? MakeDim(Value(a) + Value(b)) : UnknownDim());
  }
  Status Subtract(DimensionHandle a, DimensionOrConstant b, DimensionHandle* out) {
    if (!Known(a, b)) return Set(out, UnknownDim());
    if (Value(a) < Value(b))
      return errors::InvalidArgument("Negative dimension size caused by subtracting ", Value(b), " from ", Value(a));
    return Set(out, MakeDim(Value(a) - Value(b)));
  }
  Status Multiply(DimensionHandle a, DimensionOrConstant b, DimensionHandle* out) {
    if (Value(a) == 0 || Value(b) == 0) return Set(out, MakeDim(0));
    return Set(out, Known(a, b) ? MakeDim(Value(a) * Value(b)) : UnknownDim());
  }
  Status Divide(DimensionHandle a, DimensionOrConstant b, bool evenly_divisible, DimensionHandle* out) {
    if (!Known(a, b)) return Set(out, UnknownDim());
    if (Value(b) <= 0) return errors::InvalidArgument("Divisor must be positive but is ", Value(b));
    if (evenly_divisible && Value(a) % Value(b) != 0)
      return errors::InvalidArgument("Dimension size must be evenly divisible by ", Value(b), " but is ", Value(a));
    return Set(out, MakeDim(Value(a) / Value(b)));
  }
  Status Min(DimensionHandle a, DimensionOrConstant b, DimensionHandle* out) {
    if (Value(a) == 0 || Value(b) == 0) return Set(out, MakeDim(0));
    return Set(out, Known(a, b) ? MakeDim(std::min(Value(a), Value(b))) : UnknownDim());
  }
  Status Max(DimensionHandle a, DimensionOrConstant b, DimensionHandle* out) {
    return Set(out, Known(a, b) ? MakeDim(std::max(Value(a), Value(b))) : UnknownDim());
  }
  Status MakeDimForScalarInput(int i, DimensionHandle* out) {
    ShapeHandle scalar;
    TF_RETURN_IF_ERROR(WithRank(input(i), 0, &scalar));
    const Tensor* value = input_tensor(i);
    if (!value) return Set(out, UnknownDim());
    int64 size;
    TF_RETURN_IF_ERROR(Integer(*value, 0, &size));
    if (size < 0) return errors::InvalidArgument("Dimension size, given by scalar input ", i, ", must be non-negative but is ", size);
    return Set(out, MakeDim(size));
  }
  Status GetScalarFromTensor(const Tensor* value, int64* number) { return Integer(*value, 0, number); }

  // The request of Python: attributes, then each input, then how many outputs there are of each argument.
  void Read(internal::MessageReader* in) {
    attributes_.Read(in);
    for (int64 left = in->Number(); left > 0; --left) {
      const string name = in->Bytes();
      const int first = num_inputs();
      for (int64 more = in->Number(); more > 0; --more) ReadInput(in);
      input_ranges_.push_back({name, {first, num_inputs()}});
    }
    for (int64 left = in->Number(); left > 0; --left) {
      const string name = in->Bytes();
      const int first = num_outputs();
      outputs_.resize(outputs_.size() + static_cast<size_t>(in->Number()));
      output_ranges_.push_back({name, {first, num_outputs()}});
    }
  }

 private:
  void ReadInput(internal::MessageReader* in) {
    ShapeHandle shape, as_shape;
    MakeShapeFromPartialTensorShape(in->Shape(), &shape).IgnoreError();
    const int64 known = in->Number();  // 0: nothing, 1: the value, 2: a shape with sizes that are not known
    Tensor value;
    if (known == 1) value = in->Value();
    if (known == 2) MakeShapeFromPartialTensorShape(in->Shape(), &as_shape).IgnoreError();
    inputs_.push_back(shape);
    values_.push_back(value);
    as_shapes_.push_back(as_shape);
  }
  ShapeHandle Keep(bool known, const std::vector<DimensionHandle>& dims) {
    kept_shapes_.emplace_back(new ShapeHandle::Shape{known, dims});
    return ShapeHandle(kept_shapes_.back().get());
  }
  template <typename Handle>
  static Status Set(Handle* out, Handle value) {
    *out = value;
    return Status::OK();
  }
  bool Known(DimensionOrConstant a, DimensionOrConstant b) const { return ValueKnown(a) && ValueKnown(b); }
  static Status Integer(const Tensor& value, int64 i, int64* number) {
    if (value.dtype() == DT_INT32) *number = value.flat<int32>()(i);
    else if (value.dtype() == DT_INT64) *number = value.flat<int64>()(i);
    else return errors::InvalidArgument("Input tensor must be int32 or int64, but was ", DataTypeString(value.dtype()));
    return Status::OK();
  }
  static Status Named(const ArgumentRanges& ranges, const std::vector<ShapeHandle>& all, StringPiece name,
                      std::vector<ShapeHandle>* shapes) {
    for (const auto& range : ranges) {
      if (range.first != name.ToString()) continue;
      shapes->assign(all.begin() + range.second.first, all.begin() + range.second.second);
      return Status::OK();
    }
    return errors::InvalidArgument("Unknown argument name: ", name);
  }

  internal::Attributes attributes_;
  std::vector<ShapeHandle> inputs_, outputs_, as_shapes_;
  std::vector<Tensor> values_;
  ArgumentRanges input_ranges_, output_ranges_;
  std::vector<std::unique_ptr<ShapeHandle::Shape>> kept_shapes_;
  std::vector<std::unique_ptr<int64>> kept_sizes_;
};

// --------------------------------------------------------------------------------- shape functions of many ops

inline Status UnchangedShape(InferenceContext* c) {
  c->set_output(0, c->input(0));
  return Status::OK();
}
inline Status UnchangedShapeWithRank(InferenceContext* c, int32 rank) {
  ShapeHandle shape;
  TF_RETURN_IF_ERROR(c->WithRank(c->input(0), rank, &shape));
  c->set_output(0, shape);
  return Status::OK();
}
inline Status UnchangedShapeWithRankAtLeast(InferenceContext* c, int32 rank) {
  ShapeHandle shape;
  TF_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), rank, &shape));
  c->set_output(0, shape);
  return Status::OK();
}
inline Status UnchangedShapeWithRankAtMost(InferenceContext* c, int32 rank) {
  ShapeHandle shape;
  TF_RETURN_IF_ERROR(c->WithRankAtMost(c->input(0), rank, &shape));
  c->set_output(0, shape);
  return Status::OK();
}
inline Status ScalarShape(InferenceContext* c) {
  c->set_output(0, c->Scalar());
  return Status::OK();
}
inline Status UnknownShape(InferenceContext* c) {
  for (int i = 0; i < c->num_outputs(); ++i) c->set_output(i, c->UnknownShape());
  return Status::OK();
}
inline Status NoOutputs(InferenceContext*) { return Status::OK(); }
inline Status MergeBothInputsShapeFn(InferenceContext* c) {
  ShapeHandle shape;
  TF_RETURN_IF_ERROR(c->Merge(c->input(0), c->input(1), &shape));
  c->set_output(0, shape);
  return Status::OK();
}
inline Status ExplicitShape(InferenceContext* c) {
  PartialTensorShape shape;
  TF_RETURN_IF_ERROR(c->GetAttr("shape", &shape));
  ShapeHandle handle;
  TF_RETURN_IF_ERROR(c->MakeShapeFromPartialTensorShape(shape, &handle));
  c->set_output(0, handle);
  return Status::OK();
}
inline Status MatMulShape(InferenceContext* c) {
  ShapeHandle a, b;
  TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &a));
  TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 2, &b));
  bool transpose_a, transpose_b;
  TF_RETURN_IF_ERROR(c->GetAttr("transpose_a", &transpose_a));
  TF_RETURN_IF_ERROR(c->GetAttr("transpose_b", &transpose_b));
  DimensionHandle inner;
  TF_RETURN_IF_ERROR(c->Merge(c->Dim(a, transpose_a ? 0 : 1), c->Dim(b, transpose_b ? 1 : 0), &inner));
  c->set_output(0, c->Matrix(c->Dim(a, transpose_a ? 1 : 0), c->Dim(b, transpose_b ? 0 : 1)));
  return Status::OK();
}
// The shape of x and y broadcast together: sizes are equal, or one of them is 1, counted from the last.
inline Status BroadcastBinaryOpShapeFn(InferenceContext* c) {
  const ShapeHandle x = c->input(0), y = c->input(1);
  if (!c->RankKnown(x) || !c->RankKnown(y)) {
    c->set_output(0, c->UnknownShape());
    return Status::OK();
  }
  const int rank = std::max(c->Rank(x), c->Rank(y));
  std::vector<DimensionHandle> dims;
  for (int i = -rank; i < 0; ++i) {
    const DimensionHandle one = c->MakeDim(1);
    const DimensionHandle a = i < -c->Rank(x) ? one : c->Dim(x, i), b = i < -c->Rank(y) ? one : c->Dim(y, i);
    DimensionHandle dim;
    if (c->Value(a) == 1) dim = b;
    else if (c->Value(b) == 1) dim = a;
    else if (c->ValueKnown(a) && c->ValueKnown(b)) TF_RETURN_IF_ERROR(c->Merge(a, b, &dim));
    else if (!c->ValueKnown(a) && !c->ValueKnown(b)) dim = a.SameHandle(b) ? a : c->UnknownDim();
    else dim = c->ValueKnown(a) ? a : b;  // the unknown one is 1 or the same
    dims.push_back(dim);
  }
  c->set_output(0, c->MakeShape(dims));
  return Status::OK();
}

}  // namespace shape_inference

typedef std::function<Status(shape_inference::InferenceContext*)> OpShapeInferenceFn;

}  // namespace tensorflow

#endif  // TIDEFLOW_KERNELS_SHAPE_INFERENCE_H_
