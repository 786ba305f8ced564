#include "torch_operators.hpp"

#include <numeric>

#include "equinorm/torch/torch.hpp"

namespace equinorm::bench {
namespace {

constexpr double kEps = 1e-5;
constexpr double kMomentum = 0.1;
constexpr std::int64_t kGroups = 8;

using Outputs = std::vector<at::Tensor>;

bool is_channels_last(Op op) {
  return op == Op::batch_norm_2d_channels_last || op == Op::group_norm_channels_last ||
         op == Op::layer_norm_2d_channels_last;
}

bool has_images(Op op) {
  return is_channels_last(op) || op == Op::batch_norm_2d || op == Op::group_norm ||
         op == Op::layer_norm_2d;
}

/// Height and width of the images.
std::int64_t side_of(std::int64_t rows) {
  std::int64_t side = 32;
  while (rows % (side * side) != 0) side /= 2;
  return side;
}

std::int64_t samples_of(std::int64_t rows) {
  const std::int64_t side = side_of(rows);
  return rows / (side * side);
}

std::int64_t groups_of(const at::Tensor& x) { return std::gcd(kGroups, x.size(1)); }

template <bool kTraining>
Outputs our_batch_norm(const TorchInputs& in) {
  return {torch::batch_norm(in.x, in.running_mean, in.running_var, in.gamma, in.beta, kTraining,
                            kMomentum, kEps)};
}
template <bool kTraining>
Outputs peer_batch_norm(const TorchInputs& in) {
  return {at::batch_norm(in.x, in.gamma, in.beta, in.running_mean, in.running_var, kTraining,
                         kMomentum, kEps, /*cudnn_enabled=*/false)};
}
Outputs our_group_norm(const TorchInputs& in) {
  return {torch::group_norm(in.x, groups_of(in.x), in.gamma, in.beta, kEps)};
}
Outputs peer_group_norm(const TorchInputs& in) {
  return {at::group_norm(in.x, groups_of(in.x), in.gamma, in.beta, kEps)};
}
Outputs our_layer_norm_2d(const TorchInputs& in) {
  return {torch::layer_norm_2d(in.x, in.gamma, in.beta, kEps)};
}
Outputs peer_layer_norm_2d(const TorchInputs& in) {
  const at::Tensor rows = in.x.permute({0, 2, 3, 1});
  const at::Tensor y = at::layer_norm(rows, {in.x.size(1)}, in.gamma, in.beta, kEps);
  return {y.permute({0, 3, 1, 2})};
}
Outputs our_layer_norm(const TorchInputs& in) {
  return {torch::layer_norm(in.x, {in.x.size(-1)}, in.gamma, in.beta, kEps)};
}
Outputs peer_layer_norm(const TorchInputs& in) {
  return {at::layer_norm(in.x, {in.x.size(-1)}, in.gamma, in.beta, kEps)};
}
Outputs our_rms_norm(const TorchInputs& in) {
  return {torch::rms_norm(in.x, {in.x.size(-1)}, in.gamma, kEps)};
}
Outputs peer_rms_norm(const TorchInputs& in) {
  return {at::rms_norm(in.x, {in.x.size(-1)}, in.gamma, kEps)};
}
Outputs our_residual_norm(const TorchInputs& in) {
  const auto [y, h] =
      torch::residual_norm({.x = in.x, .residual = in.residual, .gamma = in.gamma, .beta = in.beta},
                           {.form = {.eps = kEps}});
  return {y, h};
}
Outputs peer_residual_norm(const TorchInputs& in) {
  const at::Tensor h = in.residual + in.x;
  return {at::layer_norm(h, {h.size(-1)}, in.gamma, in.beta, kEps), h};
}
Outputs our_modulated_norm(const TorchInputs& in) {
  return {torch::modulated_norm(in.x, in.beta, in.gamma, {.gain = Gain::none, .eps = kEps})};
}
Outputs peer_modulated_norm(const TorchInputs& in) {
  const at::Tensor xhat = at::layer_norm(in.x, {in.x.size(-1)}, {}, {}, kEps);
  return {xhat * (1 + in.gamma.unsqueeze(1)) + in.beta.unsqueeze(1)};
}
Outputs our_dynamic_tanh(const TorchInputs& in) {
  return {torch::dynamic_tanh(in.x, in.alpha, in.gamma, in.beta)};
}
Outputs peer_dynamic_tanh(const TorchInputs& in) {
  return {at::tanh(in.alpha * in.x) * in.gamma + in.beta};
}

}  // namespace

at::Tensor shaped(const Case& c, const at::Tensor& rows) {
  const std::int64_t side = side_of(c.rows);
  const std::int64_t samples = samples_of(c.rows);
  if (is_channels_last(c.op)) return rows.view({samples, side, side, c.cols}).permute({0, 3, 1, 2});
  if (has_images(c.op)) return rows.view({samples, c.cols, side, side});
  if (c.op == Op::modulated_layer_norm) return rows.view({samples, side * side, c.cols});
  return rows;
}

TorchInputs make_inputs(const Case& c, const at::Tensor& x, const at::Tensor& residual,
                        const at::Tensor& gamma, const at::Tensor& beta) {
  TorchInputs in;
  in.x = x;
  in.gamma = gamma;
  in.beta = beta;
  if (c.op == Op::residual_layer_norm) in.residual = residual;
  if (c.op == Op::rms_norm) in.beta.reset();
  if (c.op == Op::dynamic_tanh) in.alpha = at::full({1}, 0.5, x.options());
  if (c.op == Op::modulated_layer_norm) {
    in.gamma = gamma.expand({samples_of(c.rows), c.cols}).contiguous();
    in.beta = beta.expand({samples_of(c.rows), c.cols}).contiguous();
  }
  in.running_mean = at::zeros({c.cols}, x.options());
  in.running_var = at::ones({c.cols}, x.options());
  return in;
}

TorchPair torch_pair(Op op) {
  switch (op) {
    case Op::layer_norm:
      return {our_layer_norm, peer_layer_norm};
    case Op::rms_norm:
      return {our_rms_norm, peer_rms_norm};
    case Op::residual_layer_norm:
      return {our_residual_norm, peer_residual_norm};
    case Op::modulated_layer_norm:
      return {our_modulated_norm, peer_modulated_norm};
    case Op::dynamic_tanh:
      return {our_dynamic_tanh, peer_dynamic_tanh};
    case Op::batch_norm_eval:
      return {our_batch_norm<false>, peer_batch_norm<false>};
    case Op::batch_norm:
    case Op::batch_norm_2d:
    case Op::batch_norm_2d_channels_last:
      return {our_batch_norm<true>, peer_batch_norm<true>};
    case Op::group_norm:
    case Op::group_norm_channels_last:
      return {our_group_norm, peer_group_norm};
    case Op::layer_norm_2d:
    case Op::layer_norm_2d_channels_last:
      return {our_layer_norm_2d, peer_layer_norm_2d};
  }
  return {our_layer_norm, peer_layer_norm};
}

}  // namespace equinorm::bench
