#include "lab/measurements/normals.hpp"

#include <ATen/ops/empty.h>

#include <cmath>

namespace equinorm::lab {

double draw_uniform(Random& random) {
  return (static_cast<double>(random.next() >> 11) + 0.5) * 0x1p-53;
}

double draw_normal(Random& random) {
  const double radius = std::sqrt(-2 * std::log(draw_uniform(random)));
  return radius * std::cos(6.283185307179586 * draw_uniform(random));
}

at::Tensor normal_tensor(Random& random, at::IntArrayRef shape, at::ScalarType dtype) {
  const at::Tensor values = at::empty(shape, at::kDouble);
  double* value = values.mutable_data_ptr<double>();
  for (std::int64_t i = 0; i < values.numel(); ++i) value[i] = draw_normal(random);
  return values.to(dtype);
}

}  // namespace equinorm::lab
