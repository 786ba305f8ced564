#include "lab/experiment/results_export.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace equinorm::lab {
namespace {

using Json = nlohmann::json;

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json finite(const std::optional<double>& value) { return value ? finite(*value) : Json(nullptr); }

Json export_estimate(const Estimate& estimate) {
  return {{"n", estimate.n},
          {"mean", finite(estimate.mean)},
          {"sd", finite(estimate.sd)},
          {"half_width", finite(estimate.half_width)}};
}

Json export_failures(const FailureCounts& failures) {
  return {{"finished", failures.rate.n},       {"failed", failures.failed()},
          {"non_finite", failures.non_finite}, {"stall", failures.stall},
          {"blow_up", failures.blow_up},       {"crashed", failures.errors},
          {"rate_low", failures.rate.low},     {"rate_high", failures.rate.high}};
}

Json export_rate(const RateSummary& rate) {
  Json runs = Json::array();
  for (const Run* run : rate.runs) runs.push_back(run->id);
  return {{"learning_rate", rate.learning_rate},
          {"metric", export_estimate(rate.metric)},
          {"capped_loss", finite(rate.capped_loss)},
          {"failures", export_failures(rate.failures)},
          {"runs", runs}};
}

Json export_arm(const ArmSummary& arm) {
  Json json = {{"arm", arm.arm.name()},
               {"norm", arm.arm.norm},
               {"placement", arm.arm.placement},
               {"best_learning_rate", nullptr},
               {"metric", export_estimate(arm.metric)},
               {"sensitivity", finite(arm.sensitivity)},
               {"steps_to_target", finite(arm.steps_to_target)},
               {"reached_target", arm.reached_target},
               {"runs_at_best", arm.runs_at_best},
               {"ms_per_step", finite(arm.ms_per_step)},
               {"tokens_per_second", finite(arm.tokens_per_second)},
               {"time_split",
                {{"norm", arm.split.norm},
                 {"attention", arm.split.attention},
                 {"ffn", arm.split.ffn},
                 {"optimizer", arm.split.optimizer},
                 {"other", arm.split.other}}},
               {"max_grad_norm", finite(arm.max_grad_norm)},
               {"median_grad_norm", finite(arm.median_grad_norm)},
               {"failures", export_failures(arm.failures)},
               {"failures_all_rates", export_failures(arm.failures_all_rates)},
               {"rates", Json::array()}};
  if (arm.best) json["best_learning_rate"] = arm.rates[*arm.best].learning_rate;
  for (const RateSummary& rate : arm.rates) json["rates"].push_back(export_rate(rate));
  return json;
}

Json export_task(const TaskSummary& task) {
  Json json = {
      {"task", task.task},     {"metric", task.metric}, {"higher_is_better", task.higher_is_better},
      {"target", task.target}, {"arms", Json::array()}, {"differences", Json::array()}};
  for (const ArmSummary& arm : task.arms) json["arms"].push_back(export_arm(arm));
  for (const PairedDifference& pair : task.differences) {
    json["differences"].push_back({{"arm", pair.arm.name()},
                                   {"baseline", pair.baseline},
                                   {"difference", export_estimate(pair.difference)},
                                   {"found", pair.found()}});
  }
  return json;
}

std::string cell(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

template <class T>
std::string cell(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "";
}

std::string config_cells(const RunConfig& config) {
  return fmt::format("{},{},{},{},{},{}", config.task, config.norm, config.placement,
                     config.learning_rate, config.seed, config.steps);
}

std::string result_cells(const Run& run) {
  const RunResult& result = run.result;
  const RunTiming& timing = run.timing;
  const TimeSplit& split = timing.time_split;
  std::string text = std::to_string(result.steps_done);
  for (const std::string& value :
       {cell(result.initial_loss), cell(result.final_loss), cell(result.best_loss),
        cell(result.final_accuracy), cell(result.steps_to_target), cell(result.max_grad_norm),
        cell(result.median_grad_norm), cell(result.clipped_share), result.failure,
        cell(result.plateau), cell(timing.ms_per_step), cell(timing.tokens_per_second),
        cell(timing.seconds_to_target), cell(split.norm), cell(split.attention), cell(split.ffn),
        cell(split.optimizer), cell(split.other)}) {
    text += "," + value;
  }
  return text;
}

constexpr const char* kCsvHeader =
    "run,status,task,norm,placement,learning_rate,seed,steps,steps_done,initial_loss,final_loss,"
    "best_loss,final_accuracy,steps_to_target,max_grad_norm,median_grad_norm,clipped_share,failure,"
    "plateau,ms_per_step,tokens_per_second,seconds_to_target,norm_share,attention_share,ffn_share,"
    "optimizer_share,other_share\n";
constexpr int kResultCells = 19;

}  // namespace

Json export_summary(const Comparison& comparison, const Summary& summary) {
  Json json = {{"out", comparison.dir.string()},
               {"command", comparison.request.command},
               {"baseline", comparison.request.baseline},
               {"seeds", comparison.request.seeds},
               {"learning_rates", comparison.request.learning_rates},
               {"environment", comparison.request.environment},
               {"runs_finished", comparison.runs.size()},
               {"runs_unfinished", comparison.unfinished},
               {"tasks", Json::array()},
               {"crashed", Json::array()}};
  for (const TaskSummary& task : summary.tasks) json["tasks"].push_back(export_task(task));
  for (const RunError& error : comparison.errors) {
    Json crashed = {{"run", error.id}, {"exit_code", nullptr}, {"signal", nullptr}};
    if (error.exit_code) crashed["exit_code"] = *error.exit_code;
    if (error.signal) crashed["signal"] = *error.signal;
    crashed["stderr"] = error.stderr_tail;
    json["crashed"].push_back(crashed);
  }
  return json;
}

std::string export_csv(const Comparison& comparison) {
  std::string text = kCsvHeader;
  const std::string no_results(kResultCells, ',');
  for (const Run& run : comparison.runs) {
    text += run.id + ",finished," + config_cells(run.config) + "," + result_cells(run) + "\n";
  }
  for (const RunError& error : comparison.errors) {
    text += error.id + ",crashed," + config_cells(error.config) + no_results + "\n";
  }
  for (const std::string& id : comparison.unfinished) {
    text += id + ",unfinished," + std::string(5, ',') + no_results + "\n";
  }
  return text;
}

}  // namespace equinorm::lab
