#include "core_contenders.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "equinorm/layer_norm.hpp"
#include "equinorm/rms_norm.hpp"

namespace equinorm::bench {
namespace {

constexpr double kEps = 1e-5;

/// Everything that the calls of one contender write.
struct CoreState {
  Context context;
  Buffer y, dx, dgamma, dbeta;
  Buffer mean, mean_tail, rstd, exact;
  LayerNormForward layer_norm;
  LayerNormBackward layer_norm_back;
  RmsNormForward rms_norm;
  RmsNormBackward rms_norm_back;
};

std::vector<std::byte> copy_of(const Buffer& buffer) {
  return {buffer.data(), buffer.data() + buffer.bytes()};
}

std::unique_ptr<CoreState> make_state(const Case& c, const Tensors& tensors) {
  auto state = std::make_unique<CoreState>();
  CoreState& s = *state;
  check(s.context.set_threads(c.threads));
  const DType compute = compute_type(c.dtype, c.dtype);
  s.y = Buffer(tensors.x.bytes());
  s.dx = Buffer(tensors.x.bytes());
  s.dgamma = Buffer(tensors.gamma.bytes());
  s.dbeta = Buffer(tensors.beta.bytes());
  const auto rows = static_cast<std::size_t>(c.rows);
  for (Buffer* vector : {&s.mean, &s.mean_tail, &s.rstd}) {
    *vector = Buffer(rows * size_of(compute));
  }
  s.exact = Buffer(rows);

  const auto rows_of = [&](const Buffer& b) {
    return Rows{b.data(), c.dtype, c.rows, c.cols, c.cols};
  };
  const auto vector_of = [&](const Buffer& b) { return Vector{b.data(), c.dtype, c.cols}; };
  const auto per_row = [&](const Buffer& b) { return Vector{b.data(), compute, c.rows}; };
  auto* exact = reinterpret_cast<std::uint8_t*>(s.exact.data());
  const LayerNormStatistics norm{per_row(s.mean), per_row(s.mean_tail), per_row(s.rstd), exact};
  const RmsNormStatistics rms{per_row(s.rstd), exact};
  const auto x = rows_of(tensors.x);
  const auto dy = rows_of(tensors.dy);
  const auto gamma = vector_of(tensors.gamma);
  const auto beta = vector_of(tensors.beta);
  // As in a framework, statistics are saved only where a backward pass follows.
  const bool saves = c.direction != Direction::forward;
  s.layer_norm = {.x = x,
                  .gamma = gamma,
                  .beta = beta,
                  .eps = kEps,
                  .y = rows_of(s.y),
                  .statistics = saves ? norm : LayerNormStatistics{}};
  s.layer_norm_back = {.dy = dy,
                       .x = x,
                       .gamma = gamma,
                       .eps = kEps,
                       .statistics = norm,
                       .dx = rows_of(s.dx),
                       .dgamma = vector_of(s.dgamma),
                       .dbeta = vector_of(s.dbeta)};
  s.rms_norm = {.x = x,
                .gamma = gamma,
                .add_one = false,
                .eps = kEps,
                .y = rows_of(s.y),
                .statistics = saves ? rms : RmsNormStatistics{}};
  s.rms_norm_back = {.dy = dy,
                     .x = x,
                     .gamma = gamma,
                     .add_one = false,
                     .eps = kEps,
                     .statistics = rms,
                     .dx = rows_of(s.dx),
                     .dgamma = vector_of(s.dgamma)};
  return state;
}

void forward(Op op, CoreState& s) {
  check(op == Op::layer_norm ? layer_norm_forward(s.layer_norm, s.context)
                             : rms_norm_forward(s.rms_norm, s.context));
}

void backward(Op op, CoreState& s) {
  check(op == Op::layer_norm ? layer_norm_backward(s.layer_norm_back, s.context)
                             : rms_norm_backward(s.rms_norm_back, s.context));
}

void copy_in_parallel(const Buffer& from, const Buffer& to, int threads) {
  const auto bytes = static_cast<std::int64_t>(from.bytes());
  const std::int64_t part = ((bytes + threads - 1) / threads + 63) / 64 * 64;
#pragma omp parallel for num_threads(threads) schedule(static, 1) if (threads > 1)
  for (int t = 0; t < threads; ++t) {
    const std::int64_t begin = std::min(bytes, t * part);
    const std::int64_t end = std::min(bytes, begin + part);
    std::memcpy(to.data() + begin, from.data() + begin, static_cast<std::size_t>(end - begin));
  }
}

}  // namespace

Contender core_contender(const Case& c, const Tensors& tensors) {
  const std::shared_ptr<CoreState> state = make_state(c, tensors);
  forward(c.op, *state);  // fills the statistics that a backward pass alone reads
  Contender contender{"equinorm", "reused", {}, {}};
  contender.call = [op = c.op, direction = c.direction, state] {
    if (direction != Direction::backward) forward(op, *state);
    if (direction != Direction::forward) backward(op, *state);
  };
  contender.result = [direction = c.direction, state] {
    return copy_of(direction == Direction::forward ? state->y : state->dx);
  };
  return contender;
}

Contender copy_contender(const Case& c) {
  const auto bytes = static_cast<std::size_t>(bytes_moved(c) / 2);
  const auto from = std::make_shared<Buffer>(bytes);
  const auto to = std::make_shared<Buffer>(bytes);
  for (std::size_t i = 0; i < bytes; ++i) from->data()[i] = static_cast<std::byte>(i * 7 + i / 251);
  std::memset(to->data(), 0, bytes);  // touch every page
  Contender contender{"copy", "reused", {}, {}};
  contender.call = [from, to, threads = c.threads] { copy_in_parallel(*from, *to, threads); };
  contender.result = [from, to] {
    // The bytes of the source where the copy is right.
    auto got = copy_of(*to);
    for (std::size_t i = 0; i < got.size(); ++i) got[i] ^= from->data()[i];
    return got;
  };
  return contender;
}

}  // namespace equinorm::bench
