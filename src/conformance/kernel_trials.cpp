// Trials of the kernel list and of the named forms.
#include "conformance/matrix.hpp"
#include "conformance/trial.hpp"

namespace equinorm::conformance {
namespace {

class KernelTrial : public Trial {
 public:
  explicit KernelTrial(const Problem& problem)
      : problem_(problem), inputs_(make_inputs(problem)), expected_(expected(problem, inputs_)) {}

  [[nodiscard]] Family family() const override { return problem_.family; }
  [[nodiscard]] Accuracy accuracy() const override { return problem_.accuracy; }
  [[nodiscard]] std::string text() const override { return describe(problem_); }

  std::vector<std::string> compare(Isa isa, std::optional<int> threads, Context& context) override {
    std::vector<std::string> result;
    for (Execution execution : executions(problem_, isa)) {
      if (threads) execution.threads = *threads;
      result.push_back(conformance::compare(problem_, inputs_, expected_, execution, context));
    }
    return result;
  }

  std::vector<Errors> measure([[maybe_unused]] Isa isa,
                              [[maybe_unused]] Context& context) override {
#if EQUINORM_HAS_TRUTH
    if (!yardstick_) yardstick_.emplace(problem_, inputs_);
    Execution execution;
    execution.isa = isa;
    Call call(problem_, inputs_, execution);
    if (call.run(context).ok()) return yardstick_->measure(call.outputs());
      // compare() reports it.
#endif
    return {};
  }

 private:
  Problem problem_;
  Inputs inputs_;
  Outputs expected_;
#if EQUINORM_HAS_TRUTH
  std::optional<Yardstick> yardstick_;
#endif
};

// The survey's problems, or every family in the shape that was asked for.
std::vector<Problem> problems_of(const Kernel& kernel, const Amount& amount) {
  if (!amount.has_shape()) return bound_problems(kernel, amount.scale);
  std::vector<Problem> problems = family_problems(kernel, Scale::full);
  // One affine form for each family and accuracy keeps large shapes affordable.
  std::erase_if(problems, [](const Problem& p) { return p.seed % 8 > 1; });
  for (Problem& problem : problems) {
    problem.rows = amount.shape_rows();
    problem.cols = amount.shape_cols();
  }
  return problems;
}

Subject subject_of(const Kernel& kernel) {
  return {kernel.form != nullptr ? kernel.form->name : name_of(kernel.op), kernel.direction,
          kernel.x, kernel.y,
          [kernel](const Amount& amount, const std::function<void(Trial&)>& body) {
            for (const Problem& problem : problems_of(kernel, amount)) {
              if (!amount.wants(problem.accuracy)) continue;
              KernelTrial trial(problem);
              body(trial);
            }
          }};
}

}  // namespace

std::vector<Subject> kernel_subjects(Op op) {
  std::vector<Subject> result;
  for (const Kernel& kernel : all_kernels()) {
    if (kernel.op == op) result.push_back(subject_of(kernel));
  }
  return result;
}

std::vector<Subject> form_subjects() {
  std::vector<Subject> result;
  for (const Kernel& kernel : form_kernels()) result.push_back(subject_of(kernel));
  return result;
}

}  // namespace equinorm::conformance
