// The trainable tensors of a model, each with a name, a kind and a layer.
//
// The one trap: initial values depend on the seed and the name alone, not on the order of creation,
// so that models which differ in their norm start from the same weights everywhere else.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace equinorm::lab {

/// What a parameter is, for gradient norms by kind.
enum class ParameterKind {
  embedding,
  qkv,
  out,
  fc1,
  fc2,
  gamma,
  beta,
  final_norm,
  head,
  residual,  ///< omega of Admin, a of ReZero, a scale per head
};

struct Parameter {
  std::string name;
  ParameterKind kind;
  int layer;  ///< -1 outside the layers
  at::Tensor value;
};

/// Which parameter is being made: its name, kind and layer.
struct ParameterId {
  std::string name;
  ParameterKind kind;
  int layer = -1;
};

/// Mixes a seed with a purpose ("weights", "order", a parameter's name) into a seed of its own.
std::uint64_t derive_seed(std::uint64_t seed, std::string_view purpose);

enum class Draw { uniform, normal };

class ParameterStore {
 public:
  ParameterStore(std::uint64_t seed, at::ScalarType dtype) : seed_(seed), dtype_(dtype) {}

  /// Uniform in +-sqrt(6 / (fan_in + fan_out)), or normal with the same standard deviation,
  /// sqrt(2 / (fan_in + fan_out)) (Glorot and Bengio 2010).
  at::Tensor xavier(const ParameterId& id, at::IntArrayRef shape, double fan_in, double fan_out,
                    Draw draw = Draw::uniform);
  at::Tensor normal(const ParameterId& id, at::IntArrayRef shape, double deviation = 1);
  at::Tensor constant(const ParameterId& id, at::IntArrayRef shape, double value);

  [[nodiscard]] const std::vector<Parameter>& all() const { return parameters_; }
  [[nodiscard]] at::ScalarType dtype() const { return dtype_; }

 private:
  at::Tensor add(const ParameterId& id, const at::Tensor& value);

  std::uint64_t seed_;
  at::ScalarType dtype_;
  std::vector<Parameter> parameters_;
};

/// Multiplies initial values, or a slice of them, in place.
void scale_initial(const at::Tensor& value, double factor);

}  // namespace equinorm::lab
