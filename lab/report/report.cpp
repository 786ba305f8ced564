#include "lab/report/report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <string>

#include "lab/data/files.hpp"
#include "lab/experiment/results_export.hpp"
#include "lab/report/csv.hpp"
#include "lab/report/figure.hpp"
#include "lab/report/page_data.hpp"
#include "lab/report/table.hpp"
#include "lab/report/template.hpp"
#include "lab/report/wording.hpp"

namespace equinorm::lab {
namespace {

using namespace report;
using kainjow::mustache::data;

data to_data(const TaskSummary& task, std::size_t index) {
  const std::string prefix = fmt::format("task-{}", index + 1);
  data result;
  result.set("id", prefix);
  result.set("title", label_of_task(task));
  data tables{data::type::list};
  tables.push_back(to_data(claim_table(task)));
  if (!task.differences.empty()) tables.push_back(to_data(difference_table(task)));
  tables.push_back(to_data(failure_table(task)));
  result.set("tables", tables);
  data figures{data::type::list};
  for (const auto& make : {learning_curves, rate_sensitivity, gradient_norms, gradient_depth,
                           activation_rms, time_split}) {
    figures.push_back(to_data(make(task, prefix)));
  }
  result.set("figures", figures);
  return result;
}

std::string progress_text(const Comparison& comparison) {
  std::string text =
      fmt::format("{} runs, {} seeds, {} learning rates.", comparison.runs.size(),
                  comparison.request.seeds.size(), comparison.request.learning_rates.size());
  const std::size_t missing = comparison.unfinished.size();
  if (missing > 0) {
    text += fmt::format(
        " {} more runs were planned and are not finished; this report is about the "
        "others.",
        missing);
  }
  return text;
}

// What the numerics panel shows, in a sentence.
std::string numerics_text(const Numerics& numerics) {
  double ours = 0, pytorch = 0;
  bool has_pytorch = false;
  for (const NumericsSweep& sweep : numerics.sweeps) {
    for (const NumericsSeries& series : sweep.series) {
      for (const NumericsPoint& point : series.points) {
        if (!std::isfinite(point.ulp)) continue;
        if (series.algorithm == "equinorm") ours = std::max(ours, point.ulp);
        if (series.algorithm == "pytorch") pytorch = std::max(pytorch, point.ulp);
        has_pytorch = has_pytorch || series.algorithm == "pytorch";
      }
    }
  }
  std::string text = fmt::format(
      "Equinorm\u2019s worst error here is {:.2g} ulp; its stated bound is "
      "{:g}.",
      ours, numerics.bound_ulp);
  if (has_pytorch) {
    text += fmt::format(" PyTorch\u2019s worst finite error is {} ulp.", number_text(pytorch, 2));
  }
  return text;
}

data page_data(const Comparison& comparison, const Summary& summary,
               const std::optional<Numerics>& numerics) {
  data page;
  page.set("answer", answer(summary));
  page.set("progress", progress_text(comparison));
  page.set("command", comparison.request.command);
  data tasks{data::type::list};
  for (std::size_t i = 0; i < summary.tasks.size(); ++i) {
    tasks.push_back(to_data(summary.tasks[i], i));
  }
  page.set("tasks", tasks);
  page.set("has_numerics", numerics.has_value());
  if (numerics) {
    page.set("numerics", to_data(numerics_panel(*numerics)));
    page.set("numerics_text", numerics_text(*numerics));
  }
  data records{data::type::list};
  records.push_back(to_data(settings_table(comparison, summary)));
  records.push_back(to_data(data_table(summary)));
  records.push_back(to_data(environment_table(comparison.request)));
  page.set("records", records);
  page.set("runs", to_data(run_table(comparison)));
  page.set("runs_csv", data_uri(export_csv(comparison)));
  return page;
}

}  // namespace

std::string render_report(const Comparison& comparison, const Summary& summary,
                          const std::optional<Numerics>& numerics) {
  return render_page(page_template(), page_data(comparison, summary, numerics));
}

void write_report(const Comparison& comparison, const Summary& summary) {
  const std::filesystem::path file = comparison.dir / "numerics.json";
  std::optional<Numerics> numerics;
  if (std::filesystem::exists(file)) numerics = load_numerics(file);
  write_atomically(comparison.dir / "report.html", render_report(comparison, summary, numerics));
}

}  // namespace equinorm::lab
