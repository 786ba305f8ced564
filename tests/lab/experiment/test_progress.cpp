#include <gtest/gtest.h>

#include "lab/experiment/progress.hpp"

namespace equinorm::lab {
namespace {

ActiveRun active(const std::string& task, int step, double seconds) {
  ActiveRun run;
  run.job.group = task;
  run.job.label = task + " layer-pre";
  run.job.steps = 100;
  run.step = step;
  run.loss = 0.5;
  run.seconds = seconds;
  return run;
}

TEST(Eta, is_unknown_before_anything_is_known) {
  EXPECT_FALSE(EtaModel().estimate({{"bible", 3}}, {active("bible", 2, 9)}, 2).has_value());
}

TEST(Eta, shares_the_remaining_work_between_the_jobs) {
  EtaModel eta;
  eta.add_finished("bible", 8);
  eta.add_finished("bible", 12);
  EXPECT_EQ(eta.estimate({{"bible", 4}}, {active("bible", 40, 4), active("bible", 80, 8)}, 2),
            (4 * 10 + 6 + 2) / 2.0);
}

TEST(Eta, is_not_below_what_the_longest_run_under_way_needs) {
  EtaModel eta;
  eta.add_finished("bible", 10);
  EXPECT_EQ(eta.estimate({}, {active("bible", 10, 1)}, 2), 9);
}

TEST(Eta, judges_by_the_steps_of_runs_under_way_before_any_has_ended) {
  EXPECT_EQ(EtaModel().estimate({{"bible", 1}}, {active("bible", 50, 5)}, 1), 10 + 5);
}

TEST(Eta, takes_the_mean_of_the_known_tasks_for_an_unknown_one) {
  EtaModel eta;
  eta.add_finished("bible", 10);
  EXPECT_EQ(eta.estimate({{"fashion-mnist", 2}}, {}, 1), 20);
}

TEST(RenderProgress, shows_counts_time_and_every_active_run) {
  Progress progress;
  progress.total = 4;
  progress.done = 1;
  progress.errors = 1;
  progress.active = {active("bible", 20, 1), active("fashion-mnist", 0, 0)};
  progress.eta_seconds = 83;
  EXPECT_EQ(render_progress(progress, 200),
            "[==========          ] 1/4 runs, 1 crashed | ETA 1:23 | bible layer-pre 20/100 loss "
            "0.500 | fashion-mnist layer-pre 0/100");
}

TEST(RenderProgress, is_cut_to_the_width) {
  Progress progress;
  progress.total = 4;
  EXPECT_EQ(render_progress(progress, 10).size(), 10u);
}

std::string shown(ProgressPrinter::Mode mode, double step_seconds, int times = 1) {
  std::FILE* file = std::tmpfile();
  ProgressPrinter printer(file, mode, 5);
  for (int time = 0; time < times; ++time) {
    Progress progress;
    progress.total = 10;
    for (int i = 0; i < 10; ++i) {
      progress.done = i;
      progress.seconds = i * step_seconds;
      printer.show(progress);
    }
    printer.finish();
  }
  std::rewind(file);
  std::string text;
  for (int c = 0; (c = std::fgetc(file)) != EOF;) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

TEST(ProgressPrinter, writes_a_plain_line_every_few_seconds_elsewhere_than_on_a_terminal) {
  const std::string text = shown(ProgressPrinter::Mode::plain, 1);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);  // at 0 and at 5 seconds
  EXPECT_EQ(text.find('\r'), std::string::npos);
}

TEST(ProgressPrinter, redraws_one_line_on_a_terminal_and_removes_it) {
  const std::string text = shown(ProgressPrinter::Mode::terminal, 1);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 0);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\r'), 11);
  EXPECT_EQ(text.substr(text.size() - 4), "\r\x1b[K");
}

TEST(ProgressPrinter, shows_other_work_after_the_first_from_its_start) {
  EXPECT_EQ(shown(ProgressPrinter::Mode::plain, 1, 2),
            shown(ProgressPrinter::Mode::plain, 1) + shown(ProgressPrinter::Mode::plain, 1));
}

TEST(ProgressPrinter, is_silent_when_quiet) {
  EXPECT_EQ(shown(ProgressPrinter::Mode::quiet, 1), "");
}

}  // namespace
}  // namespace equinorm::lab
