// An experiment as its author declares it in a TOML file: what is run, how it is judged, what the
// literature expects. Written before the runs; nothing here looks at a result. docs/lab.md
// describes the file.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace equinorm::lab {

using Json = nlohmann::json;

/// The most that a declaration or a command may ask for.
constexpr int kMostSeeds = 1000;

/// Values of some fields: {"depth": 6, "warmup": 0}.
using Point = std::map<std::string, Json>;

/// One of the things that are compared: fields that differ from the base.
struct ArmSpec {
  std::string name;
  Json fields;
};

/// A field that takes several values; axes are crossed.
struct Axis {
  std::string field;
  std::vector<Json> values;
};

/// What a metric of one arm must be.
struct Condition {
  std::string arm;
  std::string metric;
  Point at;
  std::optional<double> low;   ///< inclusive, unless `strict`
  std::optional<double> high;  ///< likewise
  bool strict = false;         ///< > and < in place of >= and <=
};

enum class RuleKind {
  difference,  ///< compare = [a, b]: a is lower or higher than b, over seeds
  within,      ///< compare = [a, b]: a and b differ by less than a size, over seeds
  exact,       ///< require = [...]: every single run meets every condition
  value,       ///< require = [...]: the interval of the mean over seeds meets every condition
};

/// How a claim is judged. docs/lab.md says what each outcome means.
struct VerdictRule {
  std::string claim;
  std::string says;  ///< what is tested, in a few words
  RuleKind kind = RuleKind::difference;
  std::string metric;
  std::vector<std::string> compare;  ///< two arms
  Point at;                          ///< other axes are averaged over, seed by seed
  /// Not empty: what counts is by how much the difference is larger than at this point.
  Point minus_at;
  /// Not empty: what counts is by how much the difference is larger than that of these two arms.
  std::vector<std::string> minus_compare;
  bool lower = true;               ///< direction claimed for the first arm
  std::optional<double> at_least;  ///< size claimed
  double within = 0;
  bool relative = false;  ///< sizes are shares of the second arm's value
  std::vector<Condition> require;
};

enum class FigureKind {
  lines,     ///< y over x, a line per arm
  heat_map,  ///< y as colours over x, a row per arm; with x = "step" a row per layer
  bars,      ///< y, a bar per arm
};

/// A figure; a panel per value of an axis.
struct FigureSpec {
  FigureKind kind = FigureKind::lines;
  std::string title;
  /// An axis, "learning_rate", "step" (of a heat map), or "" for a series of the runs or for bars.
  std::string x;
  std::string y;                   ///< a metric, or the name of a series
  std::vector<std::string> parts;  ///< metrics that a bar is made of
  std::string rug;                 ///< a series whose x are marked below the lines
  std::string panels;              ///< an axis, or "" for one panel
  Point at;
  std::string x_label;
  std::string y_label;
  bool log_x = false;
  bool log_y = false;
};

/// A table: a row per arm, a column per metric.
struct TableSpec {
  std::string title;
  std::string claim;              ///< that it stands beside, or ""
  std::string from;               ///< id of the experiment whose runs it shows, "": its own
  std::vector<std::string> arms;  ///< empty: all
  std::vector<std::string> columns;
  Point at;                          ///< other axes are averaged over, seed by seed
  std::map<std::string, int> lines;  ///< of its keys
};

/// How much is spent: what differs from the declaration as a whole.
struct Tier {
  Json base = Json::object();
  std::vector<Axis> axes;         ///< replace those of the same field
  std::vector<std::string> arms;  ///< empty: all
  std::vector<double> learning_rates;
  std::optional<int> seeds;
  bool rerun_stalls = true;
  bool shortened = false;  ///< trainings are cut down to a few steps, which nothing follows from
};

enum class MetricKind {
  number,
  series,
  sampled,  ///< a series for each of several steps
};

/// A metric or series that some part of a declaration names, and where.
struct NamedMetric {
  int line = 0;
  std::string key;  ///< "metric", "verdict.metric", "columns", "figure.y"
  std::string name;
  MetricKind kind = MetricKind::number;
};

struct Declaration {
  std::string file;  ///< as the user would name it
  std::string source;
  std::string id;
  std::string title;
  std::string question;
  std::string expected;
  Json base = Json::object();  ///< "measurement" makes it one; otherwise fields of a RunConfig
  std::vector<ArmSpec> arms;
  std::vector<Axis> axes;
  std::vector<double> learning_rates;
  int seeds = 3;
  int first_seed = 0;  ///< seeds before it were seen when the rules were written
  std::string metric;
  std::string best_rate_by;          ///< the metric by which the best rate is chosen
  bool higher_is_better = false;     ///< of that metric
  std::vector<std::string> columns;  ///< further metrics of the table
  std::map<std::string, Tier> tiers;
  std::vector<VerdictRule> rules;
  std::vector<FigureSpec> figures;
  std::vector<TableSpec> tables;
  std::vector<NamedMetric> named_metrics;
  std::map<std::string, int> lines;  ///< of fields: "base.depth", "arm.pre.depth", "axes.depth"
};

/// "smoke", "quick", "standard", "full", in this order.
[[nodiscard]] const std::vector<std::string>& tier_names();

/// What tables show of an experiment: its metric and the columns.
[[nodiscard]] std::vector<std::string> shown_metrics(const Declaration& declaration);

/// The axes of a tier, those that it replaces included.
[[nodiscard]] std::vector<Axis> axes_of(const Declaration& declaration, const Tier& tier);

/// "depth = 6, warmup = 0"; empty for no field.
[[nodiscard]] std::string describe_point(const Point& point);

/// What is wrong with a setting of an experiment: no axis, or no value of it in any tier; "" if
/// nothing.
[[nodiscard]] std::string wrong_setting(const Declaration& declaration, const std::string& field,
                                        const Json& value);

/// Reads a declaration; without [[arm]] it has no runs, only tables of other experiments. Throws
/// InputError "file:line: key = value: rule".
[[nodiscard]] Declaration parse_declaration(const std::string& text, const std::string& file);

}  // namespace equinorm::lab
