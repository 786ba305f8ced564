// `equinorm lab` in a build without LibTorch: says so and how to get it.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdio>

#include "command.hpp"

namespace equinorm::cli {

void add_lab(CLI::App& app, int& exit_code) {
  CLI::App* sub = app.add_subcommand("lab", "Experiments that answer claims (not in this build)");
  sub->footer("Example (in a build with LibTorch):\n  equinorm lab list");
  sub->allow_extras();
  sub->callback([&exit_code] {
    fmt::print(stderr,
               "equinorm lab: this build is without LibTorch, which the experiments run on.\n"
               "Run ./run.sh, which installs it and builds with it, or configure with "
               "-DEQUINORM_TORCH=ON.\n");
    exit_code = kUnavailable;
  });
}

}  // namespace equinorm::cli
