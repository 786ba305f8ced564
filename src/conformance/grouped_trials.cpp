// Trials of grouped_norm.
#include "conformance/grouped.hpp"
#include "conformance/trial.hpp"

namespace equinorm::conformance {
namespace {

class GroupedTrial : public Trial {
 public:
  GroupedTrial(const GroupedProblem& problem, int turn)
      : problem_(problem),
        turn_(turn),
        inputs_(make_inputs(problem)),
        expected_(expected(problem, inputs_)) {}

  [[nodiscard]] Family family() const override { return problem_.base.family; }
  [[nodiscard]] Accuracy accuracy() const override { return problem_.base.accuracy; }
  [[nodiscard]] std::string text() const override { return describe(problem_); }

  std::vector<std::string> compare(Isa isa, std::optional<int> threads, Context& context) override {
    std::vector<std::string> result;
    for (GroupedExecution execution : executions(isa)) {
      if (threads) execution.threads = *threads;
      result.push_back(conformance::compare(problem_, inputs_, expected_, execution, context));
    }
    return result;
  }

  std::vector<Errors> measure([[maybe_unused]] Isa isa,
                              [[maybe_unused]] Context& context) override {
#if EQUINORM_HAS_TRUTH
    if (!yardstick_) yardstick_.emplace(problem_, inputs_);
    GroupedExecution execution;
    execution.isa = isa;
    if (const auto outputs = run(problem_, inputs_, execution, context)) {
      return yardstick_->measure(*outputs);
    }
    // compare() reports it.
#endif
    return {};
  }

 private:
  [[nodiscard]] std::vector<GroupedExecution> executions(Isa isa) const {
    std::vector<GroupedExecution> result(4);
    constexpr int kThreads[] = {1, 2, 3, 7};
    for (int i = 0; i < 4; ++i) {
      result[i].isa = isa;
      result[i].threads = kThreads[i];
      result[i].order = order_of(5 * turn_ + 7 * i);
    }
    result[1].in_place = problem_.base.types.x == problem_.base.types.y;
    result[2].wanted = {turn_ % 2 == 0, turn_ % 3 != 0, true};
    result[3].wanted = {true, true, turn_ % 2 == 0};
    return result;
  }

  GroupedProblem problem_;
  int turn_;
  GroupedInputs inputs_;
  Outputs expected_;
#if EQUINORM_HAS_TRUTH
  std::optional<GroupedYardstick> yardstick_;
#endif
};

// All rows in one group, whose parameters are those of columns.
void reshape(GroupedProblem& p, const Amount& amount) {
  p.groups = 1;
  p.rows = amount.shape_rows();
  p.cols = p.size = amount.shape_cols();
  p.shared = true;
}

}  // namespace

std::vector<Subject> grouped_subjects() {
  return numbered_subjects("grouped_norm", [](const Subject& s, int turn, const Amount& amount,
                                              const std::function<void(Trial&)>& body) {
    GroupedProblem problem = grouped_problem(turn, s.direction, s.x, s.y);
    if (!amount.wants(problem.base.accuracy)) return;
    if (amount.has_shape()) reshape(problem, amount);
    GroupedTrial trial(problem, turn);
    body(trial);
  });
}

}  // namespace equinorm::conformance
