#include "torch_contenders.hpp"

#include <malloc.h>
#include <torch/torch.h>

#include <memory>
#include <utility>

#include "equinorm/torch/functional.hpp"

namespace equinorm::bench {
namespace {

constexpr double kEps = 1e-5;

at::ScalarType type_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return at::kDouble;
    case DType::f32:
      return at::kFloat;
    case DType::f16:
      return at::kHalf;
    case DType::bf16:
      return at::kBFloat16;
  }
  return at::kFloat;
}

// By default glibc returns the block at the top of the heap to the system whenever it is freed, so
// the contender whose output happens to lie there pays page faults in every call and the other does
// not. 32 MiB is the largest threshold that glibc takes; larger outputs cost everybody their pages.
void keep_freed_memory() {
  constexpr int kLargest = 32 << 20;
  mallopt(M_MMAP_THRESHOLD, kLargest);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

struct TorchState {
  at::Tensor x, dy, gamma, beta;
  std::vector<at::Tensor> inputs;  ///< those that want gradients
  at::Tensor y;                    ///< of the last call, or the graph that a backward pass reuses
  at::Tensor dx;
  std::function<at::Tensor()> norm;
};

std::shared_ptr<TorchState> make_state(const Case& c, const Tensors& tensors) {
  auto state = std::make_shared<TorchState>();
  const auto tensor = [&](const Buffer& buffer, at::IntArrayRef sizes) {
    return at::from_blob(buffer.data(), sizes, at::TensorOptions().dtype(type_of(c.dtype)));
  };
  state->x = tensor(tensors.x, {c.rows, c.cols});
  state->dy = tensor(tensors.dy, {c.rows, c.cols});
  state->gamma = tensor(tensors.gamma, {c.cols});
  state->beta = tensor(tensors.beta, {c.cols});
  if (c.direction != Direction::forward) {
    state->inputs = {state->x, state->gamma};
    if (c.op == Op::layer_norm) state->inputs.push_back(state->beta);
    for (auto& input : state->inputs) input.requires_grad_();
  }
  return state;
}

std::vector<std::byte> copy_of(const at::Tensor& tensor) {
  const auto* data = static_cast<const std::byte*>(tensor.const_data_ptr());
  return {data, data + tensor.nbytes()};
}

Contender contender(std::string name, const Case& c, const std::shared_ptr<TorchState>& state) {
  Contender made{std::move(name), "fresh", {}, {}};
  if (c.direction == Direction::forward) {
    made.call = [state] {
      const at::NoGradGuard no_grad;
      state->y.reset();  // so that the allocator can hand out the same memory again
      state->y = state->norm();
    };
    made.result = [state] { return copy_of(state->y); };
    return made;
  }
  const bool both = c.direction == Direction::both;
  if (!both) state->y = state->norm();
  made.call = [state, both] {
    state->dx.reset();
    const auto y = both ? state->norm() : state->y;
    state->dx = ::torch::autograd::grad({y}, state->inputs, {state->dy},
                                        /*retain_graph=*/!both)[0];
  };
  made.result = [state] { return copy_of(state->dx); };
  return made;
}

}  // namespace

std::vector<Contender> torch_contenders(const Case& c, const Tensors& tensors) {
  keep_freed_memory();
  at::set_num_threads(c.threads);
  const auto ours = make_state(c, tensors);
  const auto theirs = make_state(c, tensors);
  // The closures are owned by the states, so they must not own them in turn.
  TorchState& o = *ours;
  TorchState& t = *theirs;
  const std::int64_t cols = c.cols;
  if (c.op == Op::layer_norm) {
    o.norm = [&o, cols] { return torch::layer_norm(o.x, {cols}, o.gamma, o.beta, kEps); };
    t.norm = [&t, cols] { return at::layer_norm(t.x, {cols}, t.gamma, t.beta, kEps); };
  } else {
    o.norm = [&o, cols] { return torch::rms_norm(o.x, {cols}, o.gamma, kEps); };
    t.norm = [&t, cols] { return at::rms_norm(t.x, {cols}, t.gamma, kEps); };
  }
  return {contender("equinorm.torch", c, ours), contender("pytorch", c, theirs)};
}

}  // namespace equinorm::bench
