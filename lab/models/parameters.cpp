// Parameters with initial values from seeds of their own.
#include "lab/models/parameters.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

#include <cmath>

namespace equinorm::lab {
namespace {

at::Generator generator_for(std::uint64_t seed, const std::string& name) {
  return at::make_generator<at::CPUGeneratorImpl>(derive_seed(seed, name));
}

}  // namespace

std::uint64_t derive_seed(std::uint64_t seed, std::string_view purpose) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a of the purpose
  for (const char c : purpose) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::uint64_t z = hash + (seed + 1) * 0x9e3779b97f4a7c15;  // splitmix64 mixes in the seed
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

at::Tensor ParameterStore::xavier(const ParameterId& id, at::IntArrayRef shape, double fan_in,
                                  double fan_out, Draw draw) {
  if (draw == Draw::normal) return normal(id, shape, std::sqrt(2.0 / (fan_in + fan_out)));
  const double bound = std::sqrt(6.0 / (fan_in + fan_out));
  at::Tensor value = at::empty(shape, dtype_);
  return add(id, value.uniform_(-bound, bound, generator_for(seed_, id.name)));
}

at::Tensor ParameterStore::normal(const ParameterId& id, at::IntArrayRef shape, double deviation) {
  at::Tensor value = at::empty(shape, dtype_);
  return add(id, value.normal_(0, deviation, generator_for(seed_, id.name)));
}

at::Tensor ParameterStore::constant(const ParameterId& id, at::IntArrayRef shape, double value) {
  return add(id, at::full(shape, value, dtype_));
}

at::Tensor ParameterStore::add(const ParameterId& id, const at::Tensor& value) {
  value.set_requires_grad(true);
  parameters_.push_back({id.name, id.kind, id.layer, value});
  return value;
}

void scale_initial(const at::Tensor& value, double factor) {
  const at::NoGradGuard no_grad;
  if (factor != 1) value.detach().mul_(factor);
}

}  // namespace equinorm::lab
