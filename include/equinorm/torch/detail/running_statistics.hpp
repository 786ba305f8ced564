// Running means and variances, which forward passes in training change in place.
//
// The one trap: whoever writes to them past LibTorch must tell autograd, or a backward pass that
// needs the old values would read the new ones without an error.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/variable.h>

#include <cstdint>

#include "equinorm/torch/detail/row_view.hpp"

namespace equinorm::torch::detail {

/// A tensor that the core reads and writes in place, by way of a copy where it is not contiguous.
class InPlace {
 public:
  explicit InPlace(const at::Tensor& tensor) : tensor_(tensor) {
    if (tensor.defined()) memory_ = plain(tensor).contiguous();
  }

  [[nodiscard]] Vector vector() const {
    return output_vector(memory_, memory_.defined() ? memory_.numel() : 0);
  }

  /// Call it after the core has written.
  void written() const {
    if (!tensor_.defined()) return;
    if (memory_.is_same(tensor_)) {
      if (!tensor_.is_inference()) ::torch::autograd::impl::bump_version(tensor_);
    } else {
      const at::NoGradGuard no_grad;
      tensor_.copy_(memory_);
    }
  }

 private:
  at::Tensor tensor_;
  at::Tensor memory_;
};

/// Both, or neither, where nothing is recorded.
struct RunningStatistics {
  at::Tensor mean;
  at::Tensor variance;
  double momentum = 0.1;

  [[nodiscard]] bool defined() const { return mean.defined(); }

  /// (1 - momentum) * old + momentum * new, the variance made that of a sample of `count`: divided
  /// by count - 1, or by 1 where there is but one. In double where that is what the new ones are.
  void update(const at::Tensor& new_mean, const at::Tensor& new_variance,
              std::int64_t count) const {
    const at::NoGradGuard no_grad;
    const auto n = static_cast<double>(count);
    blend(mean, new_mean);
    blend(variance, new_variance.mul(count > 1 ? n / (n - 1) : 1));
  }

 private:
  void blend(const at::Tensor& running, const at::Tensor& fresh) const {
    running.copy_(running.to(fresh.scalar_type()).mul(1 - momentum).add(fresh, momentum));
  }
};

}  // namespace equinorm::torch::detail
