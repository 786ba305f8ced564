// The mean square of what sublayers read, over whole passes.
#pragma once

#include "lab/models/forward_context.hpp"

namespace equinorm::lab {

class InputMomentProbe final : public ForwardObserver {
 public:
  void saw_input(int /*layer*/, const at::Tensor& x) override {
    squares_ += x.detach().to(at::kDouble).square().sum().item<double>();
    count_ += static_cast<double>(x.numel());
  }

  [[nodiscard]] double mean_square() const { return squares_ / count_; }

 private:
  double squares_ = 0;
  double count_ = 0;
};

}  // namespace equinorm::lab
