// What modules with PyTorch's parameters and buffers share: how these are made, named and reset.
//
// What is not here: forward(), which each module has. The one trap: the order of registration is
// PyTorch's: optimizers know parameters by it.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/cloneable.h>
#include <torch/nn/init.h>

#include <cstdint>

namespace equinorm::torch::detail {

/// A module with a weight and a bias, or with neither.
template <class Derived>
class AffineModule : public ::torch::nn::Cloneable<Derived> {
 public:
  /// weight = 1, bias = 0.
  void reset_parameters() {
    if (weight.defined()) ::torch::nn::init::ones_(weight);
    if (bias.defined()) ::torch::nn::init::zeros_(bias);
  }

  at::Tensor weight;  ///< undefined without affine
  at::Tensor bias;    ///< undefined without affine

 protected:
  void make_affine(std::int64_t size, bool affine) {
    const auto make = [&](const char* name) {
      return this->register_parameter(name, affine ? ::torch::empty({size}) : at::Tensor(), affine);
    };
    weight = make("weight");
    bias = make("bias");
    reset_parameters();
  }
};

/// One with running statistics besides, or without.
template <class Derived, class Options>
class TrackingModule : public AffineModule<Derived> {
 public:
  explicit TrackingModule(std::int64_t num_features) : TrackingModule(Options(num_features)) {}
  explicit TrackingModule(const Options& options_) : options(options_) { reset(); }

  void reset() override {
    const bool tracks = options.track_running_stats();
    const std::int64_t size = options.num_features();
    const auto make = [&](const char* name, const at::Tensor& start) {
      return this->register_buffer(name, tracks ? start : at::Tensor());
    };
    running_mean = make("running_mean", ::torch::zeros({size}));
    running_var = make("running_var", ::torch::ones({size}));
    num_batches_tracked = make("num_batches_tracked", ::torch::zeros({}, at::kLong));
    this->make_affine(size, options.affine());
  }

  /// running_mean = 0, running_var = 1, num_batches_tracked = 0.
  void reset_running_stats() {
    if (!running_mean.defined()) return;
    running_mean.zero_();
    running_var.fill_(1);
    num_batches_tracked.zero_();
  }

  Options options;
  at::Tensor running_mean;         ///< undefined without track_running_stats, as the next two are
  at::Tensor running_var;          ///< with n - 1
  at::Tensor num_batches_tracked;  ///< batches of training so far (BatchNorm)
};

}  // namespace equinorm::torch::detail
