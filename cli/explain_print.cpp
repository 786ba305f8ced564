#include "explain_print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>

namespace equinorm::cli {
namespace {

// Rows longer than this are shown by their ends.
constexpr std::size_t kShown = 12;
constexpr std::size_t kHead = 6;
constexpr std::size_t kTail = 3;

using Out = std::back_insert_iterator<std::string>;

std::string list(const std::vector<double>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values.size() > kShown && i == kHead) {
      text += ", ...";
      i = values.size() - kTail;
    }
    text += (i == 0 ? "" : ", ") + format_number(values[i]);
  }
  return text;
}

struct Column {
  std::string title;
  std::vector<double> values;
};

void print_table(Out out, const std::vector<Column>& columns, std::size_t size) {
  const auto print_row = [&](const auto& cell) {
    for (const Column& column : columns) fmt::format_to(out, "  {:>16}", cell(column));
    fmt::format_to(out, "\n");
  };
  print_row([](const Column& column) { return column.title; });
  for (std::size_t i = 0; i < size; ++i) {
    if (size > kShown && i == kHead) {
      print_row([](const Column&) { return std::string("..."); });
      i = size - kTail;
    }
    print_row([i](const Column& column) { return format_number(column.values[i]); });
  }
}

void print_range(Out out, const std::vector<double>& y) {
  if (y.size() <= kShown) return;
  const auto [low, high] = std::minmax_element(y.begin(), y.end());
  fmt::format_to(out, "  y lies between {} and {}\n", format_number(*low), format_number(*high));
}

bool has_affine(const ExplainRequest& request) {
  return !request.gain.empty() || !request.bias.empty();
}

void print_layer_norm(Out out, const Explanation& e, const ExplainRequest& request) {
  const Steps& steps = e.layer_norm;
  const std::size_t n = e.x.size();
  std::vector<double> centred;
  for (const double value : e.x) centred.push_back(value - steps.mean);
  fmt::format_to(out, "LayerNorm{}\n", steps.exact_path ? " (exact path)" : "");
  fmt::format_to(out, "  1. mean       sum(x) / {} = {}\n", n, format_number(steps.mean));
  fmt::format_to(out, "  2. variance   sum((x - mean)^2) / {} = {}   (biased: n, not n - 1)\n", n,
                 format_number(steps.variance));
  fmt::format_to(out, "  3. normalize  (x - mean) / sqrt(variance + eps) = (x - mean) * {}\n",
                 format_number(steps.rstd));
  if (has_affine(request)) {
    fmt::format_to(out, "     affine     y = normalized * gain + bias\n");
  }
  std::vector<Column> columns = {
      {"x", e.x}, {"x - mean", centred}, {"normalized", steps.normalized}};
  if (has_affine(request)) columns.push_back({"y", steps.y});
  print_table(out, columns, n);
  print_range(out, steps.y);
}

void print_rms_norm(Out out, const Explanation& e, const ExplainRequest& request) {
  const Steps& steps = e.rms_norm;
  const std::size_t n = e.x.size();
  fmt::format_to(out, "RMSNorm{}\n", steps.exact_path ? " (exact path)" : "");
  fmt::format_to(out, "  1. mean         not subtracted\n");
  fmt::format_to(out, "  2. mean square  sum(x^2) / {} = {}\n", n, format_number(steps.variance));
  fmt::format_to(out, "  3. normalize    x / sqrt(mean square + eps) = x * {}\n",
                 format_number(steps.rstd));
  if (!request.gain.empty()) fmt::format_to(out, "     affine       y = normalized * gain\n");
  std::vector<Column> columns = {{"x", e.x}, {"normalized", steps.normalized}};
  if (!request.gain.empty()) columns.push_back({"y", steps.y});
  print_table(out, columns, n);
  print_range(out, steps.y);
}

nlohmann::json array_of(const std::vector<double>& values) {
  nlohmann::json array = nlohmann::json::array();
  for (const double value : values) {
    // JSON has no NaN: nlohmann writes null.
    array.push_back(value + 0.0);
  }
  return array;
}

nlohmann::ordered_json steps_of(const Steps& steps, bool layer_norm) {
  nlohmann::ordered_json json;
  if (layer_norm) json["mean"] = steps.mean;
  json[layer_norm ? "variance" : "mean_square"] = steps.variance;
  json["rstd"] = steps.rstd;
  json["exact_path"] = steps.exact_path;
  json["normalized"] = array_of(steps.normalized);
  json["y"] = array_of(steps.y);
  return json;
}

}  // namespace

std::string format_number(double value) { return fmt::format("{:.9g}", value + 0.0); }

std::string to_text(const Explanation& e, const ExplainRequest& request) {
  std::string text;
  const Out out(text);
  fmt::format_to(out, "{} number{} as {}, eps = {}\n", e.x.size(), e.x.size() == 1 ? "" : "s",
                 name_of(request.dtype), format_number(request.eps));
  if (e.rounded) {
    fmt::format_to(out, "Rounded to {} before anything else.\n", name_of(request.dtype));
  }
  fmt::format_to(out, "\n");
  print_layer_norm(out, e, request);
  fmt::format_to(out, "\n");
  print_rms_norm(out, e, request);
  if (!e.pitfalls.empty()) fmt::format_to(out, "\nWhere answers go wrong\n");
  for (const Pitfall& pitfall : e.pitfalls) {
    fmt::format_to(out, "  - {}{}{}\n", pitfall.text, pitfall.values.empty() ? "" : ": ",
                   list(pitfall.values));
  }
  return text;
}

std::string to_json(const Explanation& e, const ExplainRequest& request) {
  nlohmann::ordered_json json;
  json["dtype"] = name_of(request.dtype);
  json["eps"] = request.eps;
  json["numerics_version"] = kNumericsVersion;
  json["x"] = array_of(e.x);
  json["gain"] = array_of(request.gain);
  json["bias"] = array_of(request.bias);
  json["layer_norm"] = steps_of(e.layer_norm, true);
  json["rms_norm"] = steps_of(e.rms_norm, false);
  json["where_answers_go_wrong"] = nlohmann::json::array();
  for (const Pitfall& pitfall : e.pitfalls) {
    json["where_answers_go_wrong"].push_back(
        {{"text", pitfall.text}, {"values", array_of(pitfall.values)}});
  }
  return json.dump(2) + "\n";
}

}  // namespace equinorm::cli
