// Reads a JSON document of samples and prints the lab's statistics of them, so that a test can
// compare them with another library's.
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "lab/experiment/statistics.hpp"

int main() {
  using namespace equinorm::lab;
  const nlohmann::json in = nlohmann::json::parse(std::cin);
  const auto a = in.at("a").get<std::vector<double>>();
  const auto b = in.at("b").get<std::vector<double>>();
  const Estimate mean = estimate_mean(a);
  const Estimate paired = estimate_paired_difference(a, b);
  const Proportion rate = estimate_proportion(in.at("hits").get<int>(), in.at("n").get<int>());
  const Bounds bootstrap = bootstrap_mean(a, 1);
  const nlohmann::json out = {{"mean", mean.mean},
                              {"half_width", mean.half_width},
                              {"paired_mean", paired.mean},
                              {"paired_half_width", paired.half_width},
                              {"wilson", {rate.low, rate.high}},
                              {"bootstrap", {bootstrap.low, bootstrap.high}},
                              {"median", median(a)},
                              {"quartile", quantile(a, 0.25)}};
  std::cout << out.dump() << "\n";
  return 0;
}
