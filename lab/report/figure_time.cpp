// The figure of where the time of a step goes.
#include <fmt/format.h>

#include "lab/report/bar_plot.hpp"
#include "lab/report/csv.hpp"
#include "lab/report/figure.hpp"
#include "lab/report/wording.hpp"

namespace equinorm::lab::report {

Figure time_split(const TaskSummary& task, const std::string& prefix) {
  Figure figure{.id = prefix + "-time",
                .title = "Time of a step",
                .caption =
                    "Median milliseconds per training step of one thread, split by the mean "
                    "shares of its runs. Several runs share the machine.",
                .legend = {},
                .scale = {},
                .panels = {},
                .csv_name = prefix + "-time.csv",
                .csv = {}};
  BarPlot plot;
  plot.id = figure.id + "-bars";
  plot.title = "Milliseconds per step, and the norm\u2019s share";
  plot.x_label = "ms";
  for (const char* name : {"norm", "attention", "feed-forward", "optimizer", "other"}) {
    plot.parts.push_back(part_of_index(plot.parts.size(), name));
  }
  Csv csv({"task", "arm", "ms_per_step", "tokens_per_second", "norm", "attention", "ffn",
           "optimizer", "other"});
  for (const ArmSummary& arm : task.arms) {
    const TimeSplit& split = arm.split;
    const double ms = arm.ms_per_step;
    plot.bars.push_back(
        {short_label_of(arm.arm),
         {ms * split.norm, ms * split.attention, ms * split.ffn, ms * split.optimizer,
          ms * split.other},
         fmt::format("{} ms, norm {:.0f} %", number_text(ms, 3), 100 * split.norm)});
    csv.add({task.task, arm.arm.name(), csv_number(ms), csv_number(arm.tokens_per_second),
             csv_number(split.norm), csv_number(split.attention), csv_number(split.ffn),
             csv_number(split.optimizer), csv_number(split.other)});
    plot.description += fmt::format("{}{}: {} ms, {:.0f} percent of it in the norm",
                                    plot.description.empty() ? "" : "; ", label_of(arm.arm),
                                    number_text(ms, 3), 100 * split.norm);
  }
  for (const BarPart& part : plot.parts) figure.legend.push_back({swatch(part), part.name});
  figure.panels.push_back(render(plot));
  figure.csv = csv.text();
  return figure;
}

}  // namespace equinorm::lab::report
