// From TOML to a Declaration. Which fields and values a run accepts is checked where runs are
// planned (plan.cpp).
#include "lab/evidence/declaration.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "lab/error.hpp"
#include "lab/evidence/place_in.hpp"
#include "lab/evidence/toml_table.hpp"

namespace equinorm::lab {
namespace {

constexpr int kSmokeSeeds = 3;  // the fewest that a rule judges

// Those that a declaration may have; the tier "smoke" follows from them.
constexpr std::array kDeclaredTiers = {"quick", "standard", "full"};

bool has_only(const std::string& text, const std::string& allowed) {
  return text.find_first_not_of(allowed) == std::string::npos;
}

std::string read_id(TomlTable& root) {
  const std::string id = root.text("id");
  static const std::string letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  if (!has_only(id, letters)) root.fail("id", "may hold letters, digits, - and _ only");
  return id;
}

std::vector<Axis> read_axes(TomlTable& table) {
  std::vector<Axis> axes;
  for (auto& [field, values] : table.lists("axes")) axes.push_back({field, std::move(values)});
  return axes;
}

std::vector<double> read_rates(TomlTable& table) {
  std::vector<double> rates = table.numbers("learning_rates");
  std::set<double> seen;
  for (const double rate : rates) {
    if (rate <= 0 || rate > 10) table.fail("learning_rates", "must be above 0 and at most 10");
    if (!seen.insert(rate).second) table.fail("learning_rates", "must not name a rate twice");
  }
  return rates;
}

void note_lines(const std::string& prefix, const TomlTable& table, Declaration& declaration) {
  for (const std::string& key : table.keys()) {
    declaration.lines[prefix + key] = table.line_of(key);
  }
}

void read_arms(TomlTable& root, Declaration& declaration) {
  for (TomlTable& table : root.tables("arm")) {
    ArmSpec arm;
    arm.name = table.text("name");
    arm.fields = table.own_values({"name"});
    for (const ArmSpec& other : declaration.arms) {
      if (other.name == arm.name) table.fail("name", "is the name of another arm");
    }
    note_lines("arm." + arm.name + ".", table, declaration);
    declaration.arms.push_back(arm);
  }
  if (declaration.arms.empty()) root.fail("arm", "is missing: there must be an [[arm]]");
}

bool has_arm(const Declaration& declaration, const std::string& name) {
  return std::any_of(declaration.arms.begin(), declaration.arms.end(),
                     [&](const ArmSpec& arm) { return arm.name == name; });
}

std::string arm_names(const Declaration& declaration) {
  std::string names;
  for (const ArmSpec& arm : declaration.arms) names += (names.empty() ? "" : ", ") + arm.name;
  return names;
}

Tier read_tier(TomlTable& table, const Declaration& declaration) {
  Tier tier;
  tier.base = table.values("base");
  tier.axes = read_axes(table);
  tier.arms = table.texts("arms");
  tier.learning_rates = read_rates(table);
  tier.seeds = table.integer("seeds", 1, kMostSeeds);
  tier.rerun_stalls = table.flag_or("rerun_stalls", true);
  for (const std::string& arm : tier.arms) {
    if (!has_arm(declaration, arm)) table.fail("arms", "must be of " + arm_names(declaration));
  }
  for (const Axis& axis : tier.axes) {
    const bool known = std::any_of(declaration.axes.begin(), declaration.axes.end(),
                                   [&](const Axis& other) { return other.field == axis.field; });
    if (!known) table.fail("axes", "may only replace axes that [axes] has");
  }
  table.refuse_unknown();
  return tier;
}

void read_tiers(TomlTable& root, Declaration& declaration) {
  auto tiers = root.table("tier");
  for (const std::string name : kDeclaredTiers)
    declaration.tiers[name].rerun_stalls = name != "quick";
  if (!tiers) return;
  for (const std::string name : kDeclaredTiers) {
    if (auto table = tiers->table(name)) {
      declaration.tiers[name] = read_tier(*table, declaration);
      if (!table->has("rerun_stalls")) declaration.tiers[name].rerun_stalls = name != "quick";
      if (auto base = table->table("base")) {
        note_lines("tier." + name + ".base.", *base, declaration);
      }
      if (auto axes = table->table("axes")) {
        note_lines("tier." + name + ".axes.", *axes, declaration);
      }
    }
  }
  if (tiers->has("smoke")) tiers->fail("smoke", "follows from quick and cannot be declared");
  tiers->refuse_unknown();
}

/// Every arm, at the first rate and the first value of each axis of the quick tier.
Tier smoke_tier(const Declaration& declaration) {
  Tier tier = declaration.tiers.at("quick");
  tier.axes = axes_of(declaration, tier);
  for (Axis& axis : tier.axes) axis.values.resize(1);
  tier.arms.clear();
  if (tier.learning_rates.empty()) tier.learning_rates = declaration.learning_rates;
  if (!tier.learning_rates.empty()) tier.learning_rates = {tier.learning_rates.front()};
  tier.seeds = kSmokeSeeds;
  tier.rerun_stalls = false;
  tier.shortened = true;
  return tier;
}

void note_metric(const TomlTable& table, const char* prefix, const char* key,
                 const std::string& name, Declaration& declaration,
                 MetricKind kind = MetricKind::number) {
  // One that is not written stands elsewhere.
  if (!table.has(key)) return;
  declaration.named_metrics.push_back({table.line_of(key), std::string(prefix) + key, name, kind});
}

/// A point of the experiment: axes and values that it has in some tier.
Point read_point(TomlTable& table, const Declaration& declaration, const char* key = "at") {
  Point point;
  const Json values = table.values(key);
  for (const auto& [field, value] : values.items()) {
    const std::string rule = wrong_setting(declaration, field, value);
    if (!rule.empty()) table.fail(key, rule);
    point[field] = value;
  }
  return point;
}

Condition read_condition(TomlTable& table, Declaration& declaration) {
  Condition condition;
  condition.arm = table.text("arm");
  if (!has_arm(declaration, condition.arm)) {
    table.fail("arm", "must be one of " + arm_names(declaration));
  }
  condition.metric = table.text("metric");
  note_metric(table, "verdict.require.", "metric", condition.metric, declaration);
  condition.at = read_point(table, declaration);
  const auto above = table.number("above");
  const auto below = table.number("below");
  const auto equals = table.number("equals");
  const auto near = table.number("near");
  const auto within = table.number("within");
  condition.low = table.number("at_least");
  condition.high = table.number("at_most");
  condition.strict = above || below;
  if (condition.strict && (condition.low || condition.high)) {
    table.fail_here("takes above and below, or at_least and at_most");
  }
  if (condition.strict) {
    condition.low = above;
    condition.high = below;
  }
  if (equals) condition.low = condition.high = equals;
  if (near.has_value() != within.has_value()) table.fail_here("near needs within, and so back");
  if (near) {
    condition.low = *near - *within;
    condition.high = *near + *within;
  }
  if (!condition.low && !condition.high) {
    table.fail_here("needs above, below, at_least, at_most, equals, or near and within");
  }
  table.refuse_unknown();
  return condition;
}

std::vector<std::string> read_pair(TomlTable& table, const Declaration& declaration,
                                   const char* key) {
  std::vector<std::string> arms = table.texts(key);
  if (arms.size() != 2 || !has_arm(declaration, arms[0]) || !has_arm(declaration, arms[1])) {
    table.fail(key, "must be two arms of " + arm_names(declaration));
  }
  if (arms[0] == arms[1]) table.fail(key, "must be two different arms");
  return arms;
}

void read_comparison(TomlTable& table, Declaration& declaration, VerdictRule& rule) {
  rule.compare = read_pair(table, declaration, "compare");
  rule.metric = table.text_or("metric", declaration.metric);
  note_metric(table, "verdict.", "metric", rule.metric, declaration);
  rule.at = read_point(table, declaration);
  rule.minus_at = read_point(table, declaration, "minus_at");
  if (!rule.minus_at.empty() && rule.minus_at == rule.at) {
    table.fail("minus_at", "must be another point than at");
  }
  if (table.has("minus_compare")) {
    rule.minus_compare = read_pair(table, declaration, "minus_compare");
    if (rule.minus_compare == rule.compare) {
      table.fail("minus_compare", "must be another pair than compare");
    }
  }
  rule.relative = table.flag_or("relative", false);
  const auto within = table.number("within");
  if (within) {
    if (*within <= 0) table.fail("within", "must be above 0");
    for (const char* other : {"direction", "at_least"}) {
      if (table.has(other)) table.fail(other, "excludes within: a rule has one of the two");
    }
    rule.kind = RuleKind::within;
    rule.within = *within;
    return;
  }
  if (!table.has("direction")) table.fail("direction", "is missing: lower or higher, or within");
  rule.lower = table.choice("direction", {"lower", "higher"}) == "lower";
  rule.at_least = table.number("at_least");
  if (rule.at_least && *rule.at_least <= 0) {
    table.fail("at_least", "must be above 0: the direction says which way");
  }
}

VerdictRule read_rule(TomlTable& table, Declaration& declaration) {
  VerdictRule rule;
  rule.claim = table.text("claim");
  rule.says = table.text("says");
  std::vector<TomlTable> conditions = table.tables("require");
  if (conditions.empty()) {
    read_comparison(table, declaration, rule);
  } else {
    if (table.has("compare")) table.fail("compare", "stands in the way of require");
    rule.kind = table.flag_or("exact", false) ? RuleKind::exact : RuleKind::value;
    for (TomlTable& condition : conditions) {
      rule.require.push_back(read_condition(condition, declaration));
    }
  }
  table.refuse_unknown();
  return rule;
}

FigureKind read_kind(TomlTable& table) {
  const std::string name = table.choice("kind", {"lines", "heat_map", "bars"});
  return name == "bars"       ? FigureKind::bars
         : name == "heat_map" ? FigureKind::heat_map
                              : FigureKind::lines;
}

/// What the numbers of a figure are.
MetricKind kind_of_y(const FigureSpec& figure) {
  if (figure.kind == FigureKind::bars) return MetricKind::number;
  return figure.x.empty()     ? MetricKind::series
         : figure.x == "step" ? MetricKind::sampled
                              : MetricKind::number;
}

void check_figure(const TomlTable& table, const FigureSpec& figure,
                  const Declaration& declaration) {
  const auto is_axis = [&](const std::string& field) {
    return std::any_of(declaration.axes.begin(), declaration.axes.end(),
                       [&](const Axis& axis) { return axis.field == field; });
  };
  const bool bars = figure.kind == FigureKind::bars;
  const bool steps = figure.kind == FigureKind::heat_map && figure.x == "step";
  if (bars && !figure.x.empty()) table.fail("x", "has no place in bars: they stand for arms");
  if (!bars && !figure.parts.empty()) table.fail("parts", "is for kind = 'bars'");
  if (!figure.rug.empty() && (figure.kind != FigureKind::lines || !figure.x.empty())) {
    table.fail("rug", "is for lines of a series");
  }
  if (!figure.x.empty() && figure.x != "learning_rate" && !steps && !is_axis(figure.x)) {
    table.fail("x", "must be an axis or learning_rate, step in a heat_map, or absent for a series");
  }
  if (!figure.panels.empty() && !is_axis(figure.panels)) table.fail("panels", "must be an axis");
}

FigureSpec read_figure(TomlTable& table, Declaration& declaration) {
  FigureSpec figure;
  figure.kind = read_kind(table);
  figure.title = table.text("title");
  figure.x = table.text_or("x", "");
  figure.y = table.text_or("y", declaration.metric);
  note_metric(table, "figure.", "y", figure.y, declaration, kind_of_y(figure));
  figure.parts = table.texts("parts");
  for (const std::string& part : figure.parts) {
    note_metric(table, "figure.", "parts", part, declaration);
  }
  figure.rug = table.text_or("rug", "");
  note_metric(table, "figure.", "rug", figure.rug, declaration, MetricKind::series);
  figure.panels = table.text_or("panels", "");
  figure.at = read_point(table, declaration);
  figure.x_label = table.text_or("x_label", figure.x);
  figure.y_label = table.text_or("y_label", figure.y);
  figure.log_x = table.flag_or("log_x", figure.x == "learning_rate");
  figure.log_y = table.flag_or("log_y", false);
  check_figure(table, figure, declaration);
  table.refuse_unknown();
  return figure;
}

void note_table_lines(const TomlTable& table, TableSpec& spec) {
  for (const std::string& key : table.keys()) spec.lines[key] = table.line_of(key);
}

/// What it may name is that of another experiment: check_tables().
TableSpec read_table(TomlTable& table, bool has_runs) {
  TableSpec spec;
  spec.title = table.text("title");
  spec.claim = table.text_or("claim", "");
  spec.from = table.text_or("from", "");
  if (spec.from.empty() && !has_runs) {
    table.fail("from", "is missing: without [[arm]] tables show the runs of other experiments");
  }
  spec.arms = table.texts("arms");
  spec.columns = table.texts("columns");
  if (spec.columns.empty()) table.fail("columns", "is missing: the metrics that are shown");
  const Json at = table.values("at");
  for (const auto& [field, value] : at.items()) spec.at[field] = value;
  note_table_lines(table, spec);
  table.refuse_unknown();
  return spec;
}

/// A value of `field` outside of the axes would never be used: later ones win.
void refuse_overridden(const Declaration& declaration, const std::string& field,
                       const std::string& winner, const std::string& tier) {
  const auto refuse = [&](const std::string& table, const Json& fields) {
    if (!fields.contains(field)) return;
    const auto line = declaration.lines.find(table + "." + field);
    const int number = line == declaration.lines.end() ? 1 : line->second;
    throw InputError(place_in(declaration.file, number) + ": " + table + "." + field + " = " +
                     fields[field].dump() + ": has no effect beside " + winner);
  };
  if (tier.empty()) refuse("base", declaration.base);
  for (const ArmSpec& arm : declaration.arms) refuse("arm." + arm.name, arm.fields);
  for (const auto& [name, spec] : declaration.tiers) {
    if (tier.empty() || tier == name) refuse("tier." + name + ".base", spec.base);
  }
}

void refuse_overridden(const Declaration& declaration) {
  for (const Axis& axis : declaration.axes) {
    refuse_overridden(declaration, axis.field, "the axis " + axis.field, "");
  }
  const bool is_axis = std::any_of(declaration.axes.begin(), declaration.axes.end(),
                                   [](const Axis& axis) { return axis.field == "learning_rate"; });
  const auto refuse_rate = [&](const std::vector<double>& rates, const std::string& tier) {
    if (rates.empty()) return;
    if (is_axis) {
      throw InputError(place_in(declaration.file, declaration.lines.at("axes.learning_rate")) +
                       ": axes.learning_rate: has no effect beside learning_rates");
    }
    refuse_overridden(declaration, "learning_rate", "learning_rates", tier);
  };
  refuse_rate(declaration.learning_rates, "");
  for (const auto& [name, tier] : declaration.tiers) refuse_rate(tier.learning_rates, name);
}

/// What is run, judged and drawn.
void read_runs(TomlTable& root, Declaration& declaration) {
  declaration.base = root.values("base");
  if (auto base = root.table("base")) note_lines("base.", *base, declaration);
  declaration.axes = read_axes(root);
  if (auto axes = root.table("axes")) note_lines("axes.", *axes, declaration);
  read_arms(root, declaration);
  declaration.learning_rates = read_rates(root);
  declaration.seeds = root.integer("seeds", 1, kMostSeeds).value_or(3);
  declaration.first_seed = root.integer("first_seed", 0, kMostSeeds).value_or(0);
  declaration.metric = root.text("metric");
  note_metric(root, "", "metric", declaration.metric, declaration);
  declaration.best_rate_by = root.text_or("best_rate_by", declaration.metric);
  note_metric(root, "", "best_rate_by", declaration.best_rate_by, declaration);
  declaration.higher_is_better = root.choice("better", {"lower", "higher"}) == "higher";
  declaration.columns = root.texts("columns");
  for (const std::string& column : declaration.columns) {
    note_metric(root, "", "columns", column, declaration);
  }
  read_tiers(root, declaration);
  for (TomlTable& table : root.tables("verdict")) {
    declaration.rules.push_back(read_rule(table, declaration));
  }
  for (TomlTable& table : root.tables("figure")) {
    declaration.figures.push_back(read_figure(table, declaration));
  }
}

}  // namespace

const std::vector<std::string>& tier_names() {
  static const std::vector<std::string> names = {"smoke", "quick", "standard", "full"};
  return names;
}

std::vector<std::string> shown_metrics(const Declaration& declaration) {
  std::vector<std::string> metrics = {declaration.metric};
  metrics.insert(metrics.end(), declaration.columns.begin(), declaration.columns.end());
  return metrics;
}

std::vector<Axis> axes_of(const Declaration& declaration, const Tier& tier) {
  std::vector<Axis> axes = declaration.axes;
  for (Axis& axis : axes) {
    for (const Axis& other : tier.axes) {
      if (other.field == axis.field) axis = other;
    }
  }
  return axes;
}

std::string describe_point(const Point& point) {
  std::string text;
  for (const auto& [field, value] : point) {
    text += (text.empty() ? "" : ", ") + field + " = " +
            (value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

std::string wrong_setting(const Declaration& declaration, const std::string& field,
                          const Json& value) {
  bool field_known = false;
  bool value_known = false;
  const auto look_in = [&](const std::vector<Axis>& axes) {
    for (const Axis& axis : axes) {
      if (axis.field != field) continue;
      field_known = true;
      value_known = value_known ||
                    std::find(axis.values.begin(), axis.values.end(), value) != axis.values.end();
    }
  };
  look_in(declaration.axes);
  for (const auto& [name, tier] : declaration.tiers) look_in(tier.axes);
  if (!field_known) return field + " is no axis";
  return value_known ? "" : field + " = " + value.dump() + " is no value of that axis";
}

Declaration parse_declaration(const std::string& text, const std::string& file) {
  const toml::table parsed = parse_toml(text, file);
  TomlTable root(parsed, file, "");
  Declaration declaration;
  declaration.file = file;
  declaration.source = text;
  declaration.id = read_id(root);
  declaration.title = root.text("title");
  declaration.question = root.text("question");
  declaration.expected = root.text_or("expected", "");
  const bool has_runs = root.has("arm") || !root.has("table");
  if (has_runs) read_runs(root, declaration);
  for (const std::string& name : tier_names()) declaration.tiers[name];
  for (TomlTable& table : root.tables("table")) {
    declaration.tables.push_back(read_table(table, has_runs));
  }
  root.refuse_unknown();
  refuse_overridden(declaration);
  declaration.tiers["smoke"] = smoke_tier(declaration);
  return declaration;
}

}  // namespace equinorm::lab
