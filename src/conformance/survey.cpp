// Equality and errors of one problem on several instruction sets.
#include "conformance/survey.hpp"

namespace equinorm::conformance {
namespace {

void compare_all(const Problem& problem, const Inputs& inputs, const Outputs& expected_outputs,
                 const std::vector<int>& threads, Context& context, Report& report) {
  for (Execution execution : executions(problem, report.isa)) {
    if (!threads.empty()) execution.threads = threads[report.comparisons % threads.size()];
    const std::string text = compare(problem, inputs, expected_outputs, execution, context);
    ++report.comparisons;
    if (text.empty()) continue;
    if (report.differences++ == 0) report.first_difference = text;
  }
}

[[maybe_unused]] FamilyErrors& family_of(Report& report, Family family) {
  for (FamilyErrors& errors : report.families) {
    if (errors.family == family) return errors;
  }
  report.families.push_back({family, {}});
  return report.families.back();
}

#if EQUINORM_HAS_TRUTH
void measure(const Problem& problem, const Inputs& inputs, const Yardstick& yardstick,
             Context& context, Report& report) {
  Execution execution;
  execution.isa = report.isa;
  Call call(problem, inputs, execution);
  if (!call.run(context).ok()) return;  // compare_all has reported it
  for (const Errors& errors : yardstick.measure(call.outputs())) {
    const bool standard = problem.accuracy == Accuracy::standard;
    merge(errors, standard ? report.worst : report.worst_exact);
    if (standard) merge(errors, family_of(report, problem.family).worst);
  }
}
#endif

}  // namespace

bool Report::passed() const {
  if (differences > 0) return false;
  for (const auto* errors : {&worst, &worst_exact}) {
    for (const Errors& e : *errors) {
      if (!(e.share <= 1)) return false;
    }
  }
  return true;
}

void add_problem(const Problem& problem, const std::vector<int>& threads, bool with_errors,
                 std::vector<Report>& reports) {
  Context context;
  const Inputs inputs = make_inputs(problem);
  const Outputs expected_outputs = expected(problem, inputs);
  for (Report& report : reports) {
    compare_all(problem, inputs, expected_outputs, threads, context, report);
  }
#if EQUINORM_HAS_TRUTH
  if (!with_errors) return;
  const Yardstick yardstick(problem, inputs);
  for (Report& report : reports) measure(problem, inputs, yardstick, context, report);
#else
  (void)with_errors;
#endif
}

}  // namespace equinorm::conformance
