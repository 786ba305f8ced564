// From at::Tensor to the core's views: element types, rows, parameter vectors.
//
// Leading axes collapse to rows without a copy where one stride reaches them all, as in x[:, 1:] or
// the q, k and v parts of a packed projection; everything else is copied once.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>
#include <c10/util/MaybeOwned.h>

#include <cstdint>
#include <optional>

#include "equinorm/types.hpp"

namespace equinorm::torch::detail {

inline std::optional<DType> dtype_of(at::ScalarType type) {
  switch (type) {
    case at::kDouble:
      return DType::f64;
    case at::kFloat:
      return DType::f32;
    case at::kHalf:
      return DType::f16;
    case at::kBFloat16:
      return DType::bf16;
    default:
      return std::nullopt;
  }
}

/// Rows and columns of a tensor whose last `norm_dims` axes are normalized.
struct RowShape {
  std::int64_t norm_dims = 0;
  std::int64_t rows = 1;
  std::int64_t cols = 1;
};

inline RowShape row_shape(at::IntArrayRef sizes, std::int64_t norm_dims) {
  RowShape shape{norm_dims};
  const auto split = static_cast<std::int64_t>(sizes.size()) - norm_dims;
  for (std::int64_t i = 0; i < split; ++i) shape.rows *= sizes[i];
  for (std::int64_t i = split; i < static_cast<std::int64_t>(sizes.size()); ++i) {
    shape.cols *= sizes[i];
  }
  return shape;
}

/// The one stride that reaches all elements of these axes in order, or nothing; `alone` where there
/// is a single element, whose stride does not count.
inline std::optional<std::int64_t> common_stride(at::IntArrayRef sizes, at::IntArrayRef strides,
                                                 std::int64_t alone) {
  std::optional<std::int64_t> stride;
  std::int64_t next = 0;
  for (auto i = static_cast<std::int64_t>(sizes.size()) - 1; i >= 0; --i) {
    if (sizes[i] == 1) continue;
    if (stride && strides[i] != next) return std::nullopt;
    if (!stride) stride = strides[i];
    next = strides[i] * sizes[i];
  }
  return stride ? stride : alone;
}

/// The stride from row to row, or nothing where no single stride reaches all rows or a row is not
/// contiguous.
inline std::optional<std::int64_t> row_stride(at::IntArrayRef sizes, at::IntArrayRef strides,
                                              std::int64_t norm_dims) {
  const auto dims = static_cast<std::int64_t>(sizes.size());
  std::int64_t expected = 1;
  for (std::int64_t i = dims - 1; i >= dims - norm_dims; --i) {
    if (sizes[i] == 1) continue;
    if (strides[i] != expected) return std::nullopt;
    expected *= sizes[i];
  }
  const std::int64_t rows = dims - norm_dims;
  return common_stride(sizes.slice(0, rows), strides.slice(0, rows), expected);
}

/// Whether memory holds the tensor's values: PyTorch keeps some negations and zeros as a flag.
inline bool is_plain(const at::Tensor& tensor) {
  return !tensor.is_neg() && !tensor._is_zerotensor();
}

/// The values in memory.
inline at::Tensor plain(const at::Tensor& tensor) {
  return tensor._is_zerotensor() ? tensor.clone() : tensor.resolve_neg();
}

/// A tensor seen as rows; holds a contiguous copy where the original cannot be seen so.
class RowView {
 public:
  RowView(const at::Tensor& tensor, const RowShape& shape)
      : tensor_(c10::MaybeOwned<at::Tensor>::borrowed(tensor)), shape_(shape) {
    if (tensor.is_contiguous() && is_plain(tensor)) {
      stride_ = shape.cols;
      return;
    }
    const auto stride = row_stride(tensor.sizes(), tensor.strides(), shape.norm_dims);
    if (stride && is_plain(tensor)) {
      stride_ = *stride;
      return;
    }
    tensor_ = c10::MaybeOwned<at::Tensor>::owned(plain(tensor).contiguous());
    stride_ = shape.cols;
  }

  [[nodiscard]] ConstRows rows() const {
    return {tensor_->const_data_ptr(), *dtype_of(tensor_->scalar_type()), shape_.rows, shape_.cols,
            stride_};
  }

 private:
  c10::MaybeOwned<at::Tensor> tensor_;
  RowShape shape_;
  std::int64_t stride_ = 0;
};

/// A parameter as the core's vector; holds a contiguous copy where needed. Undefined: not given.
class ParameterView {
 public:
  ParameterView(const at::Tensor& tensor, std::int64_t cols) : cols_(cols) {
    if (!tensor.defined()) return;
    tensor_ = tensor.is_neg()
                  ? c10::MaybeOwned<at::Tensor>::owned(tensor.resolve_neg().contiguous())
                  : tensor.expect_contiguous();
  }

  [[nodiscard]] ConstVector vector() const {
    if (!tensor_->defined()) return {};
    return {tensor_->const_data_ptr(), *dtype_of(tensor_->scalar_type()), cols_};
  }

 private:
  c10::MaybeOwned<at::Tensor> tensor_ = c10::MaybeOwned<at::Tensor>::owned(at::Tensor());
  std::int64_t cols_;
};

/// Rows of a contiguous output; an undefined tensor is an output that is not wanted.
inline Rows output_rows(const at::Tensor& tensor, const RowShape& shape) {
  if (!tensor.defined()) return {};
  return {tensor.mutable_data_ptr(), *dtype_of(tensor.scalar_type()), shape.rows, shape.cols,
          shape.cols};
}

inline Vector output_vector(const at::Tensor& tensor, std::int64_t cols) {
  if (!tensor.defined()) return {};
  return {tensor.mutable_data_ptr(), *dtype_of(tensor.scalar_type()), cols};
}

}  // namespace equinorm::torch::detail
