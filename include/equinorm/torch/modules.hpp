// LayerNorm and RMSNorm as LibTorch modules, drop-in for torch::nn::LayerNorm: same options, same
// parameter names, so state saved by one loads into the other.
//
// What is not here: any behaviour of its own; forward() calls functional.hpp.
#pragma once

#include <torch/arg.h>
#include <torch/nn/cloneable.h>
#include <torch/nn/init.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <optional>
#include <ostream>
#include <utility>
#include <vector>

#include "equinorm/torch/functional.hpp"

namespace equinorm::torch {

/// Options of LayerNorm, named as PyTorch names them.
struct LayerNormOptions {
  /* implicit */ LayerNormOptions(std::vector<std::int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}
  /// Sizes of the last axes, over which the mean and the variance are taken.
  TORCH_ARG(std::vector<std::int64_t>, normalized_shape);
  /// Added to the variance; finite and at least 0.
  TORCH_ARG(double, eps) = 1e-5;
  /// Whether the module has a weight (and a bias).
  TORCH_ARG(bool, elementwise_affine) = true;
  /// Whether it has a bias; counts only with elementwise_affine.
  TORCH_ARG(bool, bias) = true;
};

/// Options of RMSNorm, named as PyTorch names them, and add_one.
struct RMSNormOptions {
  /* implicit */ RMSNormOptions(std::vector<std::int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}
  /// Sizes of the last axes, over which the mean square is taken.
  TORCH_ARG(std::vector<std::int64_t>, normalized_shape);
  /// Added to the mean square; without it finfo_eps of the input's type.
  TORCH_ARG(std::optional<double>, eps) = std::nullopt;
  /// Whether the module has a weight.
  TORCH_ARG(bool, elementwise_affine) = true;
  /// Whether the gain is 1 + weight (weight then starts at 0) instead of weight.
  TORCH_ARG(bool, add_one) = false;
};

/// LayerNorm with learned weight and bias; see layer_norm for formula, types, errors and bound.
class LayerNormImpl : public ::torch::nn::Cloneable<LayerNormImpl> {
 public:
  explicit LayerNormImpl(std::vector<std::int64_t> normalized_shape)
      : LayerNormImpl(LayerNormOptions(std::move(normalized_shape))) {}
  explicit LayerNormImpl(LayerNormOptions options_) : options(std::move(options_)) { reset(); }

  void reset() override {
    const bool affine = options.elementwise_affine();
    const at::IntArrayRef shape = options.normalized_shape();
    weight = register_parameter("weight", affine ? ::torch::empty(shape) : at::Tensor(), affine);
    const bool with_bias = affine && options.bias();
    bias = register_parameter("bias", with_bias ? ::torch::empty(shape) : at::Tensor(), with_bias);
    reset_parameters();
  }

  /// weight = 1, bias = 0.
  void reset_parameters() {
    if (weight.defined()) ::torch::nn::init::ones_(weight);
    if (bias.defined()) ::torch::nn::init::zeros_(bias);
  }

  void pretty_print(std::ostream& stream) const override {
    stream << std::boolalpha << "equinorm::torch::LayerNorm("
           << at::IntArrayRef(options.normalized_shape()) << ", eps=" << options.eps()
           << ", elementwise_affine=" << options.elementwise_affine() << ", bias=" << options.bias()
           << ")";
  }

  at::Tensor forward(const at::Tensor& x) {
    return layer_norm(x, options.normalized_shape(), weight, bias, options.eps());
  }

  LayerNormOptions options;
  at::Tensor weight;  ///< undefined without elementwise_affine
  at::Tensor bias;    ///< undefined without elementwise_affine or bias
};

/// RMSNorm with a learned weight; see rms_norm for formula, types, errors and bound.
class RMSNormImpl : public ::torch::nn::Cloneable<RMSNormImpl> {
 public:
  explicit RMSNormImpl(std::vector<std::int64_t> normalized_shape)
      : RMSNormImpl(RMSNormOptions(std::move(normalized_shape))) {}
  explicit RMSNormImpl(RMSNormOptions options_) : options(std::move(options_)) {
    TORCH_CHECK(!options.add_one() || options.elementwise_affine(),
                "equinorm::torch::RMSNorm: add_one = true: needs elementwise_affine = true");
    reset();
  }

  void reset() override {
    const bool affine = options.elementwise_affine();
    const at::IntArrayRef shape = options.normalized_shape();
    weight = register_parameter("weight", affine ? ::torch::empty(shape) : at::Tensor(), affine);
    reset_parameters();
  }

  /// A gain of 1: weight = 1, or 0 with add_one.
  void reset_parameters() {
    if (weight.defined()) ::torch::nn::init::constant_(weight, options.add_one() ? 0 : 1);
  }

  void pretty_print(std::ostream& stream) const override {
    stream << std::boolalpha << "equinorm::torch::RMSNorm("
           << at::IntArrayRef(options.normalized_shape()) << ", eps=";
    if (options.eps()) {
      stream << *options.eps();
    } else {
      stream << "None";
    }
    stream << ", elementwise_affine=" << options.elementwise_affine();
    if (options.add_one()) stream << ", add_one=true";
    stream << ")";
  }

  at::Tensor forward(const at::Tensor& x) {
    return rms_norm(x, options.normalized_shape(), weight, options.eps(), options.add_one());
  }

  RMSNormOptions options;
  at::Tensor weight;  ///< undefined without elementwise_affine
};

/// Holder of a LayerNormImpl, as torch::nn::LayerNorm is of its own.
class LayerNorm : public ::torch::nn::ModuleHolder<LayerNormImpl> {
 public:
  using ::torch::nn::ModuleHolder<LayerNormImpl>::ModuleHolder;
  using Impl [[maybe_unused]] = LayerNormImpl;
};

/// Holder of an RMSNormImpl.
class RMSNorm : public ::torch::nn::ModuleHolder<RMSNormImpl> {
 public:
  using ::torch::nn::ModuleHolder<RMSNormImpl>::ModuleHolder;
  using Impl [[maybe_unused]] = RMSNormImpl;
};

}  // namespace equinorm::torch
