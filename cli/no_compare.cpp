// `equinorm compare` in a build without LibTorch: says so and how to get it.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdio>

#include "command.hpp"
#include "compare_names.hpp"

namespace equinorm::cli {

void add_compare(CLI::App& app, int& exit_code) {
  CLI::App* sub = app.add_subcommand("compare", "Train and compare norms (not in this build)");
  sub->footer("Example (in a build with LibTorch):\n  equinorm compare --norm layer,rms");
  sub->allow_extras();
  sub->callback([&exit_code] {
    fmt::print(stderr,
               "equinorm compare: this build is without LibTorch, which compare trains with.\n"
               "Run ./run.sh, which installs it and builds with it, or configure with "
               "-DEQUINORM_TORCH=ON.\n");
    exit_code = kUnavailable;
  });
}

std::string compare_option_of(const std::string& /*operator_name*/) { return ""; }

}  // namespace equinorm::cli
