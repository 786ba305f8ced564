// The gradient of the gain in 16 bits: a sum over all rows, which must not be taken in 16 bits and
// must not depend on the number of threads.
//
// The one trap: the error is that of the whole backward pass on the rows as 16 bits hold them, with
// the spacing of the format at the largest exact gradient as its unit.
#include <ATen/Parallel.h>
#include <ATen/ops/layer_norm.h>

#include <cmath>

#include "equinorm/torch/functional.hpp"
#include "lab/measurements/measurements.hpp"
#include "lab/measurements/normals.hpp"
#include "lab/models/parameters.hpp"

namespace equinorm::lab {
namespace {

constexpr std::int64_t kWidth = 256;
constexpr double kEps = 1e-5;

struct Setting {
  bool ours = true;
  at::ScalarType dtype = at::kBFloat16;
  int digits = 8;  ///< binary
  std::int64_t rows = 0;
};

at::Tensor gain_gradient(bool ours, const at::Tensor& rows, const at::Tensor& dy) {
  const at::Tensor x = rows.detach();
  at::Tensor gamma = at::ones({kWidth}, x.options());
  gamma.requires_grad_(true);
  const at::Tensor beta = at::zeros({kWidth}, x.options());
  const at::Tensor y = ours ? equinorm::torch::layer_norm(x, {kWidth}, gamma, beta, kEps)
                            : at::layer_norm(x, {kWidth}, gamma, beta, kEps);
  y.backward(dy);
  return gamma.grad().to(at::kDouble);
}

MeasurementResult measure(const Setting& setting, std::uint64_t seed) {
  Random random(derive_seed(seed, "rows"));
  const at::Tensor x = normal_tensor(random, {setting.rows, kWidth}, at::kDouble).to(setting.dtype);
  // Of one sign, so that the sums grow with the rows as they do under a common error.
  const at::Tensor dy =
      (normal_tensor(random, {setting.rows, kWidth}, at::kDouble).abs() * x.to(at::kDouble).sign())
          .to(setting.dtype);
  const at::Tensor exact = gain_gradient(false, x.to(at::kDouble), dy.to(at::kDouble));
  const at::Tensor one_thread = gain_gradient(setting.ours, x, dy);
  at::set_num_threads(2);
  const at::Tensor two_threads = gain_gradient(setting.ours, x, dy);
  at::set_num_threads(1);

  int exponent = 0;
  std::frexp(exact.abs().max().item<double>(), &exponent);
  const double spacing = std::ldexp(1.0, exponent - setting.digits);
  MeasurementResult result;
  result.metrics["error_in_spacings"] = (one_thread - exact).abs().max().item<double>() / spacing;
  result.metrics["changed_by_threads"] =
      one_thread.ne(two_threads).to(at::kDouble).mean().item<double>();
  return result;
}

}  // namespace

Measure prepare_gain_gradient(Parameters& parameters) {
  Setting setting;
  setting.ours = parameters.choice("code", "equinorm", {"pytorch", "equinorm"}) == "equinorm";
  if (parameters.choice("dtype", "bf16", {"bf16", "f16"}) == "f16") {
    setting.dtype = at::kHalf;
    setting.digits = 11;
  }
  setting.rows = parameters.integer("rows", 1024, 1, 1 << 20);
  return [setting](std::uint64_t seed) { return measure(setting, seed); };
}

}  // namespace equinorm::lab
