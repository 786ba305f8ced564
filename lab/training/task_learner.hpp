// A learner whose loss is the cross-entropy of a task's targets: all that such models share. A
// model adds its outputs and its parameters.
#pragma once

#include <memory>

#include "lab/training/learner.hpp"
#include "lab/training/task.hpp"

namespace equinorm::lab {

class TaskLearner : public Learner {
 public:
  explicit TaskLearner(std::unique_ptr<Task> task, int batch)
      : task_(std::move(task)), batch_(batch) {}

  at::Tensor loss(int step, const ForwardContext& context) final;
  Evaluation evaluate() final;
  [[nodiscard]] double plateau() const final { return task_->plateau(); }
  /// The target is an accuracy, unless a learner says otherwise.
  [[nodiscard]] bool reached(const Evaluation& evaluation, double target) const override {
    return evaluation.accuracy >= target;
  }
  /// No layers of one kind: nothing reports by layer.
  [[nodiscard]] int layers() const override { return 0; }
  [[nodiscard]] std::int64_t tokens_per_step() const final { return batch_ * task_->tokens(); }
  at::Tensor probe_outputs() final;

 protected:
  /// Scores (targets, kinds).
  virtual at::Tensor outputs(const Batch& batch, const ForwardContext& context) = 0;

  [[nodiscard]] const Task& task() const { return *task_; }
  /// Values of all parameters.
  [[nodiscard]] double count_parameters() const;

 private:
  std::unique_ptr<Task> task_;
  std::int64_t batch_;
};

}  // namespace equinorm::lab
