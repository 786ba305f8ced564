// What all operators ask of their arguments, and the messages for those who break it.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "equinorm/status.hpp"
#include "equinorm/torch/detail/row_view.hpp"

namespace equinorm::torch::detail {

inline void check_tensor(const char* op, const char* name, const at::Tensor& tensor) {
  TORCH_CHECK(dtype_of(tensor.scalar_type()), "equinorm::torch::", op, ": ", name,
              ".dtype = ", tensor.scalar_type(), ": must be Double, Float, Half or BFloat16");
  TORCH_CHECK(tensor.layout() == at::kStrided, "equinorm::torch::", op, ": ", name,
              ".layout = ", tensor.layout(), ": must be Strided");
}

/// A parameter, if given: its shape, which `source` explains, its type and its device.
inline void check_parameter(const char* op, const char* name, const at::Tensor& parameter,
                            const at::Tensor& x, at::IntArrayRef shape,
                            const char* source = "normalized_shape") {
  if (!parameter.defined()) return;
  check_tensor(op, name, parameter);
  TORCH_CHECK(parameter.sizes() == shape, "equinorm::torch::", op, ": ", name,
              ".shape = ", parameter.sizes(), ": must equal ", source, " = ", shape);
  TORCH_CHECK(parameter.scalar_type() != at::kDouble || x.scalar_type() == at::kDouble,
              "equinorm::torch::", op, ": ", name, ".dtype = Double: needs x.dtype = Double, not ",
              x.scalar_type());
  TORCH_CHECK(parameter.device() == x.device(), "equinorm::torch::", op, ": ", name,
              ".device = ", parameter.device(), ": must equal x.device = ", x.device());
}

inline void check_eps(const char* op, double eps) {
  TORCH_CHECK(std::isfinite(eps) && eps >= 0, "equinorm::torch::", op, ": eps = ", eps,
              ": must be finite and at least 0");
}

/// Checks x alone: `axes` at least, explained by `layout`.
inline void check_x(const char* op, const at::Tensor& x, std::int64_t axes, const char* layout) {
  TORCH_CHECK(x.defined(), "equinorm::torch::", op, ": x is undefined: must be a tensor");
  check_tensor(op, "x", x);
  TORCH_CHECK(x.dim() >= axes, "equinorm::torch::", op, ": x.shape = ", x.sizes(), ": must be ",
              layout);
}

/// Checks x, normalized_shape and eps, and returns the rows that they describe.
inline RowShape check_input(const char* op, const at::Tensor& x, at::IntArrayRef normalized_shape,
                            double eps) {
  check_x(op, x, 0, "");
  const auto norm_dims = static_cast<std::int64_t>(normalized_shape.size());
  TORCH_CHECK(norm_dims >= 1, "equinorm::torch::", op,
              ": normalized_shape = []: must have at least one dimension");
  TORCH_CHECK(x.dim() >= norm_dims && x.sizes().slice(x.dim() - norm_dims).equals(normalized_shape),
              "equinorm::torch::", op, ": normalized_shape = ", normalized_shape,
              ": must equal the last sizes of x, whose shape is ", x.sizes());
  check_eps(op, eps);
  return row_shape(x.sizes(), norm_dims);
}

inline void check_status(const char* op, const Status& status) {
  TORCH_CHECK(status.ok(), "equinorm::torch::", op, ": ", describe(status));
}

}  // namespace equinorm::torch::detail
