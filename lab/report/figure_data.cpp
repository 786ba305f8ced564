#include "lab/report/figure_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "lab/evidence/finding.hpp"
#include "lab/evidence/metric_text.hpp"
#include "lab/report/over_seeds.hpp"

namespace equinorm::lab::report {
namespace {

/// Whether a value has a position of its own on an axis.
bool is_position(const Json& value, bool log) {
  return value.is_number() && (!log || value.get<double>() > 0);
}

void note_value(const std::string& field, const Cell& cell, std::vector<Json>& values) {
  const auto found = cell.point.find(field);
  if (found == cell.point.end()) return;
  if (std::find(values.begin(), values.end(), found->second) == values.end()) {
    values.push_back(found->second);
  }
}

Spot spot_of(double x, const Finding& finding) {
  return {x, finding.mean, finding.low, finding.high, finding.n};
}

std::string capital(std::string text) {
  text[0] = static_cast<char>(std::toupper(text[0]));
  return text;
}

/// Without the settings in which no run gave the metric.
Cells that_have(const Cells& cells, const std::string& metric) {
  Cells having;
  for (const Cell* cell : cells) {
    if (!metric_by_seed(*cell, metric).empty()) having.push_back(cell);
  }
  return having;
}

/// Values of a position by seed; a seed has several where settings are averaged over.
using SeedValues = std::map<std::uint64_t, std::vector<double>>;

/// A number per seed: what intervals and ranges are over.
BySeed means_of(const SeedValues& values) {
  BySeed means;
  for (const auto& [seed, of_seed] : values) means[seed] = mean_of(of_seed);
  return means;
}

std::vector<Spot> over_rates(const Cells& cells, const std::string& metric) {
  std::map<double, SeedValues> values;
  for (const Cell* cell : cells) {
    for (const RateCell& rate : cell->rates) {
      for (const auto& [seed, value] : metric_at(rate, metric)) {
        values[rate.learning_rate][seed].push_back(value);
      }
    }
  }
  std::vector<Spot> spots;
  for (const auto& [x, by_seed] : values) {
    const Estimate estimate = estimate_of(means_of(by_seed));
    spots.push_back({x, estimate.mean, estimate.low(), estimate.high(), estimate.n});
  }
  return spots;
}

}  // namespace

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

FigureData::FigureData(const ExperimentResults& results, const FigureSpec& spec, std::string id)
    : results_(results), spec_(spec), id_(std::move(id)) {
  for (const Cell& cell : results.cells) {
    if (!agrees(cell)) continue;
    if (std::find(arms_.begin(), arms_.end(), cell.arm) == arms_.end()) arms_.push_back(cell.arm);
    note_value(spec.panels, cell, panels_);
    note_value(spec.x, cell, x_values_);
  }
  if (panels_.empty()) panels_.emplace_back();
  in_order_ = !std::all_of(x_values_.begin(), x_values_.end(),
                           [&](const Json& value) { return is_position(value, spec.log_x); });
  if (in_order_) spec_.log_x = false;
}

double FigureData::position_of(const Json& value) const {
  if (!in_order_) return value.get<double>();
  const auto found = std::find(x_values_.begin(), x_values_.end(), value);
  return 1 + static_cast<double>(found - x_values_.begin());
}

bool FigureData::agrees(const Cell& cell) const {
  return std::all_of(spec_.at.begin(), spec_.at.end(), [&](const auto& wanted) {
    return cell.point.at(wanted.first) == wanted.second;
  });
}

std::string FigureData::title_of(const Json& panel) const {
  if (!panel.is_null()) return title_of_metric(spec_.panels) + " " + text_of(panel);
  return capital(title_of_metric(spec_.y));
}

std::vector<const Cell*> FigureData::cells(const std::string& arm, const Json& panel) const {
  std::vector<const Cell*> cells;
  for (const Cell& cell : results_.cells) {
    const bool here = panel.is_null() || cell.point.at(spec_.panels) == panel;
    if (cell.arm == arm && here && agrees(cell)) cells.push_back(&cell);
  }
  return cells;
}

std::vector<Spot> FigureData::curve(const std::vector<const Cell*>& cells) const {
  std::map<double, SeedValues> values;
  for (const Cell* cell : cells) {
    if (!cell->best) continue;
    for (const auto& [seed, record] : cell->at_best()->records) {
      const auto found = record->series.find(spec_.y);
      if (found == record->series.end()) continue;
      for (const auto& [x, y] : found->second) {
        if (std::isfinite(y) && !(spec_.log_x && x <= 0)) values[x][seed].push_back(y);
      }
    }
  }
  std::vector<Spot> spots;
  for (const auto& [x, by_seed] : values) {
    std::vector<double> ys;
    for (const auto& [seed, y] : means_of(by_seed)) ys.push_back(y);
    const auto [low, high] = std::minmax_element(ys.begin(), ys.end());
    spots.push_back({x, mean_of(ys), *low, *high, static_cast<int>(ys.size())});
  }
  return spots;
}

std::vector<Spot> FigureData::spots(const std::string& arm, const Json& panel) const {
  const std::vector<const Cell*> chosen = cells(arm, panel);
  if (spec_.x.empty()) return curve(chosen);
  if (spec_.x == "learning_rate") return over_rates(chosen, spec_.y);
  std::map<double, Cells> at;
  for (const Cell* cell : chosen) at[position_of(cell->point.at(spec_.x))].push_back(cell);
  std::vector<Spot> spots;
  for (const auto& [x, there] : at) {
    spots.push_back(spot_of(x, finding_of(that_have(there, spec_.y), spec_.y)));
  }
  return spots;
}

Spot FigureData::whole(const std::string& arm, const Json& panel, const std::string& metric) const {
  return spot_of(0, finding_of(that_have(cells(arm, panel), metric), metric));
}

std::vector<Tick> FigureData::x_ticks() const {
  std::vector<Tick> ticks;
  const bool numbers = x_values_.size() > 1 && !in_order_;
  if (x_values_.empty() || numbers) return ticks;
  for (const Json& value : x_values_) {
    ticks.push_back({position_of(value), text_of(value), ""});
  }
  return ticks;
}

Figure FigureData::empty_figure(const std::string& over) const {
  Figure figure;
  figure.id = id_;
  figure.title = spec_.title;
  figure.csv_name = id_ + ".csv";
  figure.caption = capital(title_of_metric(spec_.y));
  const std::string at = describe_point(spec_.at);
  if (!at.empty()) figure.caption += " at " + at;
  figure.caption += "; " + over;
  return figure;
}

SpotTable::SpotTable(const FigureData& data)
    : csv_({data.spec().panels.empty() ? "panel" : data.spec().panels, "arm", "y",
            data.spec().x.empty() ? "x" : data.spec().x, "mean", "low", "high", "n"}) {}

void SpotTable::add(const Json& panel, const std::string& arm, const std::string& y,
                    const std::vector<Spot>& spots) {
  for (const Spot& spot : spots) {
    if (spot.n == 0) continue;
    csv_.add({panel.is_null() ? "" : text_of(panel), arm, y, csv_number(spot.x),
              csv_number(spot.mean), csv_number(spot.low), csv_number(spot.high),
              std::to_string(spot.n)});
    least_ = least_ == 0 ? spot.n : std::min(least_, spot.n);
    most_ = std::max(most_, spot.n);
  }
}

std::string SpotTable::seeds() const {
  return least_ == most_ ? fmt::format("n = {}", most_)
                         : fmt::format("n = {} to {}", least_, most_);
}

}  // namespace equinorm::lab::report
