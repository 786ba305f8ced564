// From tensors (samples, channels, ...) to the core's images: contiguous, channels-last, or any
// strides with one step from position to position. Everything else is copied once.
//
// The one trap: a tensor (samples, channels) is an image of one position.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/util/MaybeOwned.h>

#include <cstdint>
#include <optional>

#include "equinorm/images.hpp"
#include "equinorm/torch/detail/row_view.hpp"

namespace equinorm::torch::detail {

inline std::optional<std::int64_t> position_stride(const at::Tensor& tensor) {
  return common_stride(tensor.sizes().slice(2), tensor.strides().slice(2), 1);
}

/// Product of the sizes behind samples and channels.
inline std::int64_t positions_of(const at::Tensor& tensor) {
  std::int64_t positions = 1;
  for (const std::int64_t size : tensor.sizes().slice(2)) positions *= size;
  return positions;
}

/// A tensor that is read.
class ImageView {
 public:
  explicit ImageView(const at::Tensor& tensor)
      : tensor_(c10::MaybeOwned<at::Tensor>::borrowed(tensor)), stride_(position_stride(tensor)) {
    if (stride_ && is_plain(tensor)) return;
    const at::Tensor values = plain(tensor);
    tensor_ = c10::MaybeOwned<at::Tensor>::owned(values.contiguous(values.suggest_memory_format()));
    stride_ = position_stride(*tensor_);
  }

  [[nodiscard]] ConstImages images() const {
    return {tensor_->const_data_ptr(), *dtype_of(tensor_->scalar_type()),
            tensor_->size(0),          tensor_->size(1),
            positions_of(*tensor_),    tensor_->stride(0),
            tensor_->stride(1),        *stride_};
  }

 private:
  c10::MaybeOwned<at::Tensor> tensor_;
  std::optional<std::int64_t> stride_;
};

/// New memory in x's layout, as far as its positions are in order there.
inline at::Tensor image_like(const at::Tensor& x) {
  at::Tensor y = at::empty_like(x, at::MemoryFormat::Preserve);
  if (position_stride(y)) return y;
  return at::empty(x.sizes(), x.options(), x.suggest_memory_format());
}

/// An output that image_like made; an undefined tensor is one that is not wanted.
inline Images output_images(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  return {tensor.mutable_data_ptr(),
          *dtype_of(tensor.scalar_type()),
          tensor.size(0),
          tensor.size(1),
          positions_of(tensor),
          tensor.stride(0),
          tensor.stride(1),
          *position_stride(tensor)};
}

/// A parameter of its own size, as the core sees it.
inline ParameterView parameter_view(const at::Tensor& tensor) {
  return {tensor, tensor.defined() ? tensor.numel() : 0};
}

inline Vector output_vector(const at::Tensor& tensor) {
  return output_vector(tensor, tensor.defined() ? tensor.numel() : 0);
}

}  // namespace equinorm::torch::detail
