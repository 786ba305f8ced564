// Where the time of a training step goes: norm, attention, feed-forward, optimizer, other.
//
// Forward: clock readings around each part. Backward: autograd numbers its nodes as forward makes
// them, so each node that runs belongs to the part during which its number was given out; PyTorch's
// RecordFunction tells when a node starts and ends. That costs two callbacks per node, which is why
// only some steps are sampled; nothing is registered outside them.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

#include "lab/models/forward_context.hpp"
#include "lab/train.hpp"

namespace equinorm::lab {

class TimeSplitter final : public ForwardObserver {
 public:
  TimeSplitter() = default;
  ~TimeSplitter() override { stop_backward(); }
  TimeSplitter(const TimeSplitter&) = delete;
  TimeSplitter& operator=(const TimeSplitter&) = delete;

  void begin(Part part) override;
  void end(Part part) override;

  /// Brackets backward() on this thread.
  void start_backward();
  void stop_backward();

  void add_optimizer(double seconds) { optimizer_ += seconds; }
  /// The whole step, so that what no part took is "other".
  void finish_step(double seconds);

  [[nodiscard]] bool empty() const { return total_ == 0; }
  [[nodiscard]] TimeSplit split() const;

  /// Called by the backward callbacks.
  void add_node(std::int64_t sequence_number, double seconds);

 private:
  using Clock = std::chrono::steady_clock;
  struct Range {
    std::uint64_t first;
    std::uint64_t last;
    Part part;
  };

  std::array<double, 4> seconds_{};  // by Part
  double optimizer_ = 0;
  double total_ = 0;
  Clock::time_point started_;
  std::uint64_t first_number_ = 0;
  std::vector<Range> ranges_;  // of the step at hand, rising
  std::uint64_t callback_ = 0;
  bool recording_ = false;
};

}  // namespace equinorm::lab
