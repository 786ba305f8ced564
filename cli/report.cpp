// `equinorm report`: writes report.html of a comparison anew from its directory. Trains nothing.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "command.hpp"
#include "lab/experiment/run_store.hpp"
#include "lab/experiment/summary.hpp"
#include "lab/report/report.hpp"

namespace equinorm::cli {

void add_report(CLI::App& app, int&) {
  const auto directory = std::make_shared<std::string>();
  CLI::App* sub = app.add_subcommand("report", "Write the report of a comparison anew");
  sub->add_option("directory", *directory, "What compare wrote with --out")->required();
  sub->footer("Example:\n  equinorm report out/compare");
  sub->callback([directory] {
    const lab::Comparison comparison = lab::load_comparison(*directory);
    lab::write_report(comparison, lab::summarize(comparison));
    std::cout << (std::filesystem::path(*directory) / "report.html").string() << "\n";
  });
}

}  // namespace equinorm::cli
