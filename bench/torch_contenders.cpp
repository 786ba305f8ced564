#include "torch_contenders.hpp"

#include <malloc.h>

#include <memory>
#include <utility>

#include "torch_operators.hpp"

namespace equinorm::bench {
namespace {

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
  TorchInputs inputs;
  std::vector<at::Tensor> wanted;  ///< those that want gradients
  std::vector<at::Tensor> dy;      ///< for each output
  std::vector<at::Tensor> y;       ///< of the last call, or the graph that a backward pass reuses
  at::Tensor dx;
  TorchOperator op;

  std::vector<at::Tensor> forward() { return op(inputs); }
};

std::shared_ptr<TorchState> make_state(const Case& c, const Tensors& tensors, TorchOperator op) {
  auto state = std::make_shared<TorchState>();
  const auto tensor = [&](const Buffer& buffer, at::IntArrayRef sizes) {
    return at::from_blob(buffer.data(), sizes, at::TensorOptions().dtype(type_of(c.dtype)));
  };
  const auto rows = [&](const Buffer& buffer) {
    return shaped(c, tensor(buffer, {c.rows, c.cols}));
  };
  state->op = op;
  state->inputs = make_inputs(c, rows(tensors.x), rows(tensors.dy), tensor(tensors.gamma, {c.cols}),
                              tensor(tensors.beta, {c.cols}));
  if (c.direction != Direction::forward) {
    for (at::Tensor* input : state->inputs.differentiable()) {
      if (input->defined()) state->wanted.push_back(input->requires_grad_());
    }
    state->dy.assign(op(state->inputs).size(), rows(tensors.dy));
  }
  return state;
}

std::vector<std::byte> copy_of(const at::Tensor& result) {
  const at::Tensor tensor = result.contiguous();
  const auto* data = static_cast<const std::byte*>(tensor.const_data_ptr());
  return {data, data + tensor.nbytes()};
}

Contender contender(std::string name, const Case& c, const std::shared_ptr<TorchState>& state) {
  Contender made{std::move(name), "fresh", {}, {}};
  if (c.direction == Direction::forward) {
    made.call = [state] {
      const at::NoGradGuard no_grad;
      state->y.clear();  // so that the allocator can hand out the same memory again
      state->y = state->forward();
    };
    made.result = [state] { return copy_of(state->y[0]); };
    return made;
  }
  const bool both = c.direction == Direction::both;
  if (!both) state->y = state->forward();
  made.call = [state, both] {
    state->dx.reset();
    const auto y = both ? state->forward() : state->y;
    state->dx = ::torch::autograd::grad(y, state->wanted, state->dy, /*retain_graph=*/!both)[0];
  };
  made.result = [state] { return copy_of(state->dx); };
  return made;
}

}  // namespace

std::vector<Contender> torch_contenders(const Case& c, const Tensors& tensors) {
  keep_freed_memory();
  at::set_num_threads(c.threads);
  const TorchPair pair = torch_pair(c.op);
  return {contender("equinorm.torch", c, make_state(c, tensors, pair.ours)),
          contender("pytorch", c, make_state(c, tensors, pair.peer))};
}

}  // namespace equinorm::bench
