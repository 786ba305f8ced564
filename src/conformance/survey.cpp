// Equality and errors of one trial on several instruction sets.
#include "conformance/survey.hpp"

namespace equinorm::conformance {
namespace {

FamilyErrors& family_of(Report& report, Family family) {
  for (FamilyErrors& errors : report.families) {
    if (errors.family == family) return errors;
  }
  report.families.push_back({family, {}});
  return report.families.back();
}

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

std::string name_of(const Report& report) {
  return name_of(report.subject) + "." + equinorm::name_of(report.isa);
}

void add_trial(Trial& trial, std::optional<int> threads, std::vector<Report>& reports) {
  Context context;
  for (Report& report : reports) {
    for (const std::string& difference : trial.compare(report.isa, threads, context)) {
      ++report.comparisons;
      if (difference.empty()) continue;
      if (report.differences++ == 0) report.first_difference = difference;
    }
    for (const Errors& errors : trial.measure(report.isa, context)) {
      const bool standard = trial.accuracy() == Accuracy::standard;
      merge(errors, standard ? report.worst : report.worst_exact);
      if (standard) merge(errors, family_of(report, trial.family()).worst);
    }
  }
}

}  // namespace equinorm::conformance
