// A linear layer with its parameters: y = x W^T + b, Glorot's initial weights or zeros, b = 0.
//
// Not for layers that pack several matrices into one: their fans are those of a single one.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/linear.h>

#include <array>
#include <cstdint>
#include <string>

#include "lab/models/parameters.hpp"

namespace equinorm::lab {

class Linear {
 public:
  enum class Start { xavier, zero };

  struct Shape {
    std::int64_t inputs = 0;
    std::int64_t outputs = 0;
  };

  /// id.name is the prefix of ".weight" and ".bias".
  Linear(const ParameterId& id, const Shape& shape, Start start, ParameterStore& parameters) {
    const ParameterId weight{id.name + ".weight", id.kind, id.layer};
    const std::array<std::int64_t, 2> sizes = {shape.outputs, shape.inputs};
    weight_ = start == Start::zero
                  ? parameters.constant(weight, sizes, 0)
                  : parameters.xavier(weight, sizes, static_cast<double>(shape.inputs),
                                      static_cast<double>(shape.outputs));
    bias_ = parameters.constant({id.name + ".bias", id.kind, id.layer}, {shape.outputs}, 0);
  }

  /// x (..., inputs) -> (..., outputs).
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) const {
    return at::linear(x, weight_, bias_);
  }

 private:
  at::Tensor weight_;
  at::Tensor bias_;
};

}  // namespace equinorm::lab
