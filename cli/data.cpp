// `equinorm data`: which data sets there are, and preparing them ahead of time.
// The work is in lab/data; this is the command line and the tables.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command.hpp"
#include "lab/data/catalogue.hpp"
#include "lab/data/files.hpp"

namespace equinorm::cli {
namespace {

struct Options {
  std::string cache;
  bool json = false;
  std::vector<std::string> names;

  [[nodiscard]] std::filesystem::path cache_dir() const {
    return cache.empty() ? lab::default_cache_dir() : std::filesystem::path(cache);
  }
};

std::uint64_t total_bytes(const lab::PreparedData& data) {
  std::uint64_t bytes = 0;
  for (const lab::PreparedFile& file : data.files) bytes += file.bytes;
  return bytes;
}

nlohmann::ordered_json as_json(const lab::CatalogueEntry& entry, const lab::PreparedData& data,
                               const std::vector<std::string>& versions) {
  const bool prepared = !data.sha256.empty();
  nlohmann::ordered_json json;
  json["name"] = entry.name;
  json["title"] = entry.title;
  json["licence"] = entry.licence;
  json["packages"] = versions;
  json["prepared"] = prepared;
  json["damage"] = prepared || data.damage.empty() ? nlohmann::ordered_json(nullptr)
                                                   : nlohmann::ordered_json(data.damage);
  json["directory"] = data.directory.string();
  json["bytes"] = prepared ? nlohmann::ordered_json(total_bytes(data)) : nullptr;
  json["sha256"] = prepared ? nlohmann::ordered_json(data.sha256) : nullptr;
  return json;
}

// A version is "name number"; the name alone means that the package is not installed.
std::string package_line(const std::vector<std::string>& versions) {
  std::string line;
  for (const std::string& version : versions) {
    line += (line.empty() ? "" : ", ") + version;
    if (version.find(' ') == std::string::npos) line += " (not installed)";
  }
  return line;
}

void print_entry(const lab::CatalogueEntry& entry, const lab::PreparedData& data,
                 const std::vector<std::string>& versions) {
  fmt::print("{}\n  {}\n  packages  {}\n  licence   {}\n", entry.name, entry.title,
             package_line(versions), entry.licence);
  if (data.sha256.empty()) {
    fmt::print("  prepared  no{}\n", data.damage.empty() ? "" : ", damaged: " + data.damage);
    return;
  }
  fmt::print("  prepared  {:.1f} MB in {}\n  sha256    {}\n",
             static_cast<double>(total_bytes(data)) / 1e6, data.directory.string(), data.sha256);
}

void list_data(const Options& options) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const lab::CatalogueEntry& entry : lab::catalogue()) {
    const auto data = lab::find_prepared(entry.name, options.cache_dir());
    const auto versions = lab::installed_versions(entry.packages);
    if (options.json) {
      all.push_back(as_json(entry, data, versions));
    } else {
      print_entry(entry, data, versions);
    }
  }
  if (options.json) std::cout << all.dump(2) << '\n';
}

void prepare(const Options& options) {
  std::vector<std::string> names = options.names;
  if (names.empty()) {
    for (const lab::CatalogueEntry& entry : lab::catalogue()) names.push_back(entry.name);
  }
  for (const std::string& name : names) lab::catalogue_entry(name);  // all names before any work
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const std::string& name : names) {
    const lab::PreparedData data =
        lab::prepare_data(name, options.cache_dir(), {}, lab::Check::checksums);
    if (!data.damage.empty()) {
      fmt::print(stderr, "equinorm data: {}: {}; prepared anew\n", name, data.damage);
    }
    if (options.json) {
      all.push_back(as_json(lab::catalogue_entry(name), data, data.package_versions));
    } else {
      print_entry(lab::catalogue_entry(name), data, data.package_versions);
    }
  }
  if (options.json) std::cout << all.dump(2) << '\n';
}

void add_shared_options(CLI::App& command, Options& options) {
  command.add_option("--cache", options.cache,
                     "Cache directory (default: $XDG_CACHE_HOME/equinorm or ~/.cache/equinorm)");
  command.add_flag("--json", options.json, "One JSON document on standard output");
}

}  // namespace

void add_data(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* data = app.add_subcommand("data", "Show or prepare the data sets of the lab");
  data->require_subcommand(1);
  data->footer(
      "Example:\n"
      "  equinorm data prepare bible\n");

  CLI::App* list = data->add_subcommand("list", "What there is: size, checksum, packages, licence");
  add_shared_options(*list, *options);
  list->footer("Example:\n  equinorm data list --json");
  list->callback([options, &exit_code] {
    list_data(*options);
    exit_code = kDone;
  });

  CLI::App* make = data->add_subcommand("prepare", "Unpack data sets into the cache");
  add_shared_options(*make, *options);
  make->add_option("names", options->names, "Data sets (default: all)");
  make->footer("Example:\n  equinorm data prepare bible");
  make->callback([options, &exit_code] {
    prepare(*options);
    exit_code = kDone;
  });
}

}  // namespace equinorm::cli
