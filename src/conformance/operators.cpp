// The list of operators.
#include "conformance/operators.hpp"

#include <algorithm>
#include <utility>

#include "equinorm/row_forms.hpp"

namespace equinorm::conformance {
namespace {

constexpr CheckedOperator kOperators[] = {
    {"layer_norm", true, 160, [] { return kernel_subjects(Op::layer_norm); }},
    {"rms_norm", true, 160, [] { return kernel_subjects(Op::rms_norm); }},
    {"row_norm", false, 160, form_subjects},
    {"grouped_norm", false, 240, grouped_subjects},
    {"fused_norm", false, 900, fused_subjects},
    {"blended_norm", false, 400, blended_subjects},
    {"dynamic_tanh", false, 400, tanh_subjects},
};

bool is_among(const CheckedOperator& op, std::string_view name) {
  return name.empty() ? op.quick : name == "all" || name == op.name;
}

}  // namespace

std::span<const CheckedOperator> checked_operators() { return kOperators; }

std::vector<std::string> checked_names() {
  std::vector<std::string> names = {"all"};
  for (const CheckedOperator& op : kOperators) names.emplace_back(op.name);
  for (const NamedForm& form : kRowForms) names.emplace_back(form.name);
  return names;
}

std::vector<Subject> subjects_of(std::string_view name) {
  std::vector<Subject> result;
  for (const CheckedOperator& op : kOperators) {
    if (!is_among(op, name)) continue;
    for (Subject& subject : op.subjects()) result.push_back(std::move(subject));
  }
  if (!result.empty()) return result;
  for (Subject& subject : form_subjects()) {
    if (subject.op == name) result.push_back(std::move(subject));
  }
  return result;
}

double bytes_per_element_of(std::string_view name) {
  double most = kOperators[0].bytes_per_element;
  for (const CheckedOperator& op : kOperators) {
    if (is_among(op, name)) most = std::max(most, op.bytes_per_element);
  }
  return most;
}

std::string types_of(const Subject& subject) {
  std::string types = equinorm::name_of(subject.x);
  if (subject.x != subject.y) types += std::string("-") + equinorm::name_of(subject.y);
  return types;
}

std::string name_of(const Subject& subject) {
  return subject.op + "." + name_of(subject.direction) + "." + types_of(subject);
}

std::vector<Subject> numbered_subjects(const std::string& op, NumberedTrial trial) {
  std::vector<Subject> result;
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    for (const auto& [x, y] : kTypePairs) {
      Subject subject{op, direction, x, y, {}};
      subject.each = [trial, kind = subject](const Amount& amount,
                                             const std::function<void(Trial&)>& body) {
        const auto families = static_cast<int>(all_families().size());
        const int turns =
            amount.has_shape() ? families : families * (amount.scale == Scale::full ? 6 : 2);
        for (int turn = 0; turn < turns; ++turn) trial(kind, turn, amount, body);
      };
      result.push_back(std::move(subject));
    }
  }
  return result;
}

}  // namespace equinorm::conformance
