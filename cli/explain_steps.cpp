#include "explain_steps.hpp"

#include <cstddef>
#include <cstdint>

#include "dtype_buffer.hpp"
#include "equinorm/layer_norm.hpp"
#include "equinorm/rms_norm.hpp"

namespace equinorm::cli {
namespace {

long double mean_of(const std::vector<double>& x) {
  long double sum = 0;
  for (const double value : x) sum += value;
  return x.empty() ? 0 : sum / static_cast<long double>(x.size());
}

double mean_square(const std::vector<double>& x, long double centre) {
  long double sum = 0;
  for (const double value : x) sum += (value - centre) * (value - centre);
  return x.empty() ? 0 : static_cast<double>(sum / static_cast<long double>(x.size()));
}

ConstVector optional_vector(DTypeBuffer& buffer) {
  return buffer.size() == 0 ? ConstVector{} : ConstVector(buffer.vector());
}

struct Operands {
  DTypeBuffer x, gain, bias, y, normalized;
};

Steps layer_norm_steps(Operands& data, const ExplainRequest& request, Context& context) {
  const DType compute = compute_type(request.dtype, request.dtype);
  DTypeBuffer mean(compute, 1), tail(compute, 1), rstd(compute, 1);
  std::uint8_t exact = 0;
  LayerNormForward args{
      .x = data.x.row(),
      .gamma = {},
      .beta = {},
      .eps = request.eps,
      .y = data.normalized.row(),
      .statistics = {mean.vector(), tail.vector(), rstd.vector(), &exact},
  };
  check(layer_norm_forward(args, context));
  args.gamma = optional_vector(data.gain);
  args.beta = optional_vector(data.bias);
  args.y = data.y.row();
  check(layer_norm_forward(args, context));
  const long double centre = mean_of(data.x.values());
  return {static_cast<double>(centre),
          mean_square(data.x.values(), centre),
          rstd.values()[0],
          data.normalized.values(),
          data.y.values(),
          exact != 0};
}

Steps rms_norm_steps(Operands& data, const ExplainRequest& request, Context& context) {
  DTypeBuffer rstd(compute_type(request.dtype, request.dtype), 1);
  std::uint8_t exact = 0;
  RmsNormForward args{
      .x = data.x.row(),
      .gamma = {},
      .eps = request.eps,
      .y = data.normalized.row(),
      .statistics = {rstd.vector(), &exact},
  };
  check(rms_norm_forward(args, context));
  args.gamma = optional_vector(data.gain);
  args.y = data.y.row();
  check(rms_norm_forward(args, context));
  return {0,
          mean_square(data.x.values(), 0),
          rstd.values()[0],
          data.normalized.values(),
          data.y.values(),
          exact != 0};
}

}  // namespace

Explanation explain_row(const ExplainRequest& request) {
  Operands data{{request.dtype, request.x},
                {request.dtype, request.gain},
                {request.dtype, request.bias},
                {request.dtype, request.x.size()},
                {request.dtype, request.x.size()}};
  Context context;
  Explanation result;
  result.x = data.x.values();
  result.rounded = result.x != request.x;
  result.layer_norm = layer_norm_steps(data, request, context);
  result.rms_norm = rms_norm_steps(data, request, context);
  result.pitfalls = find_pitfalls(result, request);
  return result;
}

}  // namespace equinorm::cli
