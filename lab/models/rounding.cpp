// Rounding of f32 values, the dispatch fallback that applies it, and the counts.
#include "lab/models/rounding.hpp"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <bit>
#include <limits>
#include <tuple>

namespace equinorm::lab {
namespace {

thread_local Rounding* active_rounding = nullptr;

struct Format {
  std::int32_t dropped_bits;  // of f32's significand
  float largest;              // finite
  float smallest;             // normal
  float subnormal_sum;        // x + this - this is x to the spacing of the subnormals
};

constexpr Format kFormats[] = {
    {13, 65504.0F, 0x1p-14F, 0.5F},
    {16, 0x1.FEp127F, 0x1p-126F, 0},  // its subnormals are those of f32 with fewer bits
};

std::int32_t bits_of(float x) { return std::bit_cast<std::int32_t>(x); }
float from_bits(std::int32_t bits) { return std::bit_cast<float>(bits); }

// Without a branch, so that the compiler makes vector code of the loop that it stands in.
std::int32_t choose(bool first, std::int32_t a, std::int32_t b) {
  const std::int32_t mask = -static_cast<std::int32_t>(first);
  return (a & mask) | (b & ~mask);
}

bool is_result(const c10::Argument& result) {
  const c10::AliasInfo* alias = result.alias_info();
  return alias == nullptr || alias->isWrite();  // a view holds nothing new
}

bool holds_nothing_yet(const c10::OperatorHandle& operation) {
  return operation.operator_name().name.find("empty") != std::string::npos;
}

void round_results(const c10::OperatorHandle& operation, c10::DispatchKeySet keys,
                   torch::jit::Stack* stack) {
  {
    const FullPrecision inside;  // what an operation is made of is no result
    operation.redispatchBoxed(
        keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, kRoundingKey), stack);
  }
  if (active_rounding == nullptr || holds_nothing_yet(operation)) return;
  const auto& results = operation.schema().returns();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const c10::IValue& value = (*stack)[stack->size() - results.size() + i];
    if (value.isTensor() && is_result(results[i])) active_rounding->round(value.toTensor());
  }
}

TORCH_LIBRARY_IMPL(_, Fake, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&round_results>());
}

struct StoredFunction : torch::autograd::Function<StoredFunction> {
  static at::Tensor forward(torch::autograd::AutogradContext* /*context*/, const at::Tensor& x) {
    at::Tensor y = x.clone();  // an operation, so rounded where every one is
    if (active_rounding != nullptr && !active_rounding->every_operation()) {
      active_rounding->round(y);
    }
    return y;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    if (!gradients[0].defined()) return {at::Tensor()};
    return {forward(context, gradients[0])};
  }
};

}  // namespace

RoundingCounts& RoundingCounts::operator+=(const RoundingCounts& other) {
  elements += other.elements;
  overflows += other.overflows;
  underflows += other.underflows;
  silent_zeros += other.silent_zeros;
  nans += other.nans;
  return *this;
}

// On magnitudes as integers, which are ordered as the numbers are; NaN lies above infinity.
RoundingCounts round_to(NumberFormat name, float* data, std::int64_t size) {
  const Format format = kFormats[static_cast<int>(name)];
  const std::int32_t dropped = format.dropped_bits;
  const std::int32_t half = (1 << (dropped - 1)) - 1;
  const std::int32_t kept = ~((1 << dropped) - 1);
  const std::int32_t infinity = bits_of(std::numeric_limits<float>::infinity());
  const std::int32_t largest = bits_of(format.largest);
  const std::int32_t smallest = bits_of(format.smallest);
  const float sum = format.subnormal_sum;
  const std::int32_t below = sum > 0 ? smallest : 0;
  std::int32_t overflows = 0;
  std::int32_t underflows = 0;
  std::int32_t zeros = 0;
  std::int32_t nans = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int32_t bits = bits_of(data[i]);
    const std::int32_t x = bits & 0x7FFFFFFF;
    const std::int32_t nan = x > infinity;
    // Of a NaN the sum would leave the integers.
    const std::int32_t normal = (choose(nan != 0, 0, x) + half + ((x >> dropped) & 1)) & kept;
    const std::int32_t subnormal = bits_of((from_bits(x) + sum) - sum);
    std::int32_t y = choose(x < below, subnormal, normal);
    y = choose(y > largest, infinity, y);
    y = choose(nan != 0, x, y);
    overflows += static_cast<std::int32_t>(y == infinity) & static_cast<std::int32_t>(x < infinity);
    underflows += static_cast<std::int32_t>(y < smallest) & static_cast<std::int32_t>(y > 0);
    zeros += static_cast<std::int32_t>(y == 0) & static_cast<std::int32_t>(x != 0);
    nans += nan;
    data[i] = from_bits(y | (bits & std::numeric_limits<std::int32_t>::min()));
  }
  return {size, overflows, underflows, zeros, nans};
}

std::string name_of(const ModulePlace& place) {
  constexpr const char* kInLayer[] = {"norm", "attention", "ffn", "embedding", "head", "residual"};
  constexpr const char* kOutside[] = {"final_norm", "attention", "ffn",
                                      "embedding",  "head",      "loss"};
  const auto part = static_cast<std::size_t>(place.part);
  const std::string name = place.layer < 0
                               ? kOutside[part]
                               : "layers." + std::to_string(place.layer) + "." + kInLayer[part];
  return name + (place.backward ? ", backward" : ", forward");
}

Rounding* Rounding::active() noexcept { return active_rounding; }

Rounding::Scope::Scope(Rounding& rounding) {
  active_rounding = &rounding;
  if (rounding.every_operation()) operations_.emplace(kRoundingKey);
}

Rounding::Scope::~Scope() { active_rounding = nullptr; }

void Rounding::move_to(ModulePlace place) {
  if (step_ > 0) ranges_.end(place_);
  place_ = place;
  ranges_.begin();
}

void Rounding::enter_layer(int layer) { move_to({layer, Part::other}); }
void Rounding::enter(Part part) { move_to({place_.layer, part}); }
void Rounding::leave() { move_to({place_.layer, Part::other}); }

ModulePlace Rounding::place() const {
  const auto node = torch::autograd::get_current_node();
  if (node == nullptr) return place_;
  const ModulePlace* made = ranges_.find(node->sequence_nr());
  ModulePlace place = made == nullptr ? ModulePlace{} : *made;
  place.backward = true;
  return place;
}

void Rounding::round(const at::Tensor& x) {
  if (!x.defined() || x.scalar_type() != at::kFloat || x.numel() == 0) return;
  RoundingCounts counts;
  if (x.is_non_overlapping_and_dense()) {
    counts = round_to(format_, x.mutable_data_ptr<float>(), x.numel());
  } else {
    const FullPrecision plain;
    const at::Tensor dense = x.detach().contiguous();
    counts = round_to(format_, dense.mutable_data_ptr<float>(), dense.numel());
    x.detach().copy_(dense);
  }
  if (step_ > 0) note(place(), counts);
}

void Rounding::round_weight(const at::Tensor& weight) const {
  round_to(format_, weight.mutable_data_ptr<float>(), weight.numel());
}

void Rounding::note(const ModulePlace& place, const RoundingCounts& counts) {
  counts_[place] += counts;
  const auto first = [&](std::string& text, bool happened) {
    if (happened && text.empty()) text = name_of(place) + ", step " + std::to_string(step_);
  };
  first(first_not_finite_, counts.overflows > 0 || counts.nans > 0);
  first(first_silent_zero_, counts.silent_zeros > 0);
}

void Rounding::start_step(int step) {
  step_ = step;
  place_ = {};
  ranges_.clear();
  ranges_.begin();
}

void Rounding::pause() { step_ = 0; }

RoundingCounts Rounding::total() const {
  RoundingCounts total;
  for (const auto& [place, counts] : counts_) total += counts;
  return total;
}

at::Tensor stored(const at::Tensor& x) {
  return active_rounding == nullptr ? x : StoredFunction::apply(x);
}

}  // namespace equinorm::lab
