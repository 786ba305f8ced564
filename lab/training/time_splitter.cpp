// Time split by parts; see the header for how backward nodes find their part.
#include "lab/training/time_splitter.hpp"

#include <ATen/record_function.h>

#include <algorithm>

namespace equinorm::lab {
namespace {

// CPU graphs run on the thread that called backward(), so its splitter is found here.
thread_local TimeSplitter* current = nullptr;

struct NodeStart final : at::ObserverContext {
  std::chrono::steady_clock::time_point time = std::chrono::steady_clock::now();
};

std::unique_ptr<at::ObserverContext> node_begins(const at::RecordFunction& /*node*/) {
  return std::make_unique<NodeStart>();
}

void node_ends(const at::RecordFunction& node, at::ObserverContext* context) {
  if (current == nullptr || context == nullptr) return;
  const auto* start = static_cast<const NodeStart*>(context);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start->time;
  current->add_node(node.seqNr(), elapsed.count());
}

}  // namespace

void TimeSplitter::begin(Part /*part*/) {
  ranges_.begin();
  started_ = Clock::now();
}

void TimeSplitter::end(Part part) {
  const std::chrono::duration<double> elapsed = Clock::now() - started_;
  seconds_[static_cast<std::size_t>(part)] += elapsed.count();
  ranges_.end(part);
}

void TimeSplitter::start_backward() {
  current = this;
  callback_ = at::addThreadLocalCallback(at::RecordFunctionCallback(node_begins, node_ends)
                                             .scopes({at::RecordScope::BACKWARD_FUNCTION}));
  recording_ = true;
}

void TimeSplitter::stop_backward() {
  if (!recording_) return;
  at::removeCallback(callback_);
  current = nullptr;
  recording_ = false;
}

void TimeSplitter::add_node(std::int64_t sequence_number, double seconds) {
  const Part* part = ranges_.find(static_cast<std::uint64_t>(sequence_number));
  if (part != nullptr) seconds_[static_cast<std::size_t>(*part)] += seconds;
}

void TimeSplitter::finish_step(double seconds) {
  total_ += seconds;
  ranges_.clear();
}

TimeSplit TimeSplitter::split() const {
  TimeSplit split;
  split.norm = seconds_[static_cast<std::size_t>(Part::norm)] / total_;
  split.attention = seconds_[static_cast<std::size_t>(Part::attention)] / total_;
  split.ffn = seconds_[static_cast<std::size_t>(Part::ffn)] / total_;
  split.optimizer = optimizer_ / total_;
  split.other = std::max(0.0, 1 - split.norm - split.attention - split.ffn - split.optimizer);
  return split;
}

}  // namespace equinorm::lab
