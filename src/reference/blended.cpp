// alpha norm(x) + (1 - alpha) x: section 12 of docs/numerics.md.
//
// The one trap: the gradients of gamma and beta are weighed by alpha after their sums, in f64.
#include <cmath>

#include "column_sums.hpp"
#include "equinorm/reference.hpp"
#include "numbers.hpp"
#include "rows.hpp"

namespace equinorm::reference {
namespace {

double alpha_of(const ConstVector& alpha) { return load(alpha.data, alpha.dtype, 0); }

// alpha * gain in C.
template <class C>
std::vector<C> weighed_gain(const BlendedNormBackward& args) {
  std::vector<C> gain(static_cast<std::size_t>(args.x.cols), C{1});
  if (args.gamma.data != nullptr) {
    const Parameters parameters{args.form, grouped(args.gamma), {}, {}, {}};
    gain = gain_of(parameters, 0, gain);
  }
  for (C& v : gain) v = static_cast<C>(alpha_of(args.alpha)) * v;
  return gain;
}

template <class C>
void backward_rows(const BlendedNormBackward& args, Accuracy accuracy) {
  const std::int64_t cols = args.x.cols;
  const double alpha = alpha_of(args.alpha);
  std::vector<C> gain = weighed_gain<C>(args);
  std::vector<double> of_xhat(gain.size()), of_dy(gain.size());
  ColumnSums<C> of_x(args.x.rows, cols);
  BackwardCall call;
  call.parameters = {args.form,
                     {gain.data(), compute_type(args.x.dtype, args.dy.dtype), cols, 0},
                     {},
                     accuracy,
                     {}};
  call.parameters.form.gain = Gain::vector;
  call.dy = grouped(args.dy);
  call.x = grouped(args.x);
  call.dgamma = {of_xhat.data(), DType::f64, cols, 0};
  call.dbeta = {of_dy.data(), DType::f64, cols, 0};
  call.finish = [&](std::int64_t r, const std::vector<double>& dx, bool exact) {
    const std::vector<double> dy = load_row<double>(call.dy, r);
    of_x.add_products(dy, load_row<double>(call.x, r));
    if (args.dx.data == nullptr) return;
    const auto finish = [&]<class S>(S) {
      std::vector<S> d(dx.begin(), dx.end());
      const S rest = 1 - static_cast<S>(alpha);
      for (std::size_t i = 0; i < d.size(); ++i) {
        d[i] = std::fma(rest, static_cast<S>(dy[i]), d[i]);
      }
      store_row(grouped(args.dx), r, d);
    };
    exact ? finish(double{}) : finish(C{});
  };
  backward(call);
  const std::vector<double> x_sums = of_x.result();
  const std::vector<double> beta = load_vector<double>(grouped(args.beta), 0, cols);
  std::vector<double> gamma = load_vector<double>(grouped(args.gamma), 0, cols);
  double dalpha = 0;
  for (std::size_t i = 0; i < gain.size(); ++i) {
    double g = gamma.empty() ? 1 : gamma[i];
    if (args.form.gain == Gain::one_plus && !gamma.empty()) g = 1 + g;
    const double b = beta.empty() ? 0 : beta[i];
    dalpha = dalpha + ((g * of_xhat[i] + b * of_dy[i]) - x_sums[i]);
  }
  for (double& v : of_xhat) v = v * alpha;
  for (double& v : of_dy) v = v * alpha;
  store_vector(grouped(args.dalpha), 0, {dalpha});
  store_vector(grouped(args.dgamma), 0, of_xhat);
  store_vector(grouped(args.dbeta), 0, of_dy);
}

}  // namespace

void blended_norm_forward(const BlendedNormForward& args, Accuracy accuracy) {
  ForwardCall call;
  call.parameters = {args.form, grouped(args.gamma), grouped(args.beta), accuracy, {}};
  call.x = grouped(args.x);
  call.y = grouped(args.y);
  call.alpha = alpha_of(args.alpha);
  forward(call);
}

void blended_norm_backward(const BlendedNormBackward& args, Accuracy accuracy) {
  with_compute_type(compute_type(args.x.dtype, args.dy.dtype),
                    [&]<class C>(C) { backward_rows<C>(args, accuracy); });
}

}  // namespace equinorm::reference
