// `equinorm info`: what to put into a bug report. Reads; changes nothing.
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "build_info.hpp"
#include "command.hpp"
#include "conformance/matrix.hpp"
#include "environment.hpp"
#include "equinorm/context.hpp"
#include "equinorm/types.hpp"

namespace equinorm::cli {
namespace {

using Json = nlohmann::ordered_json;

// The first "key : value" of /proc/cpuinfo with this key, or "".
std::string cpuinfo(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t colon = line.find(':');
    if (line.rfind(key, 0) == 0 && colon != std::string::npos && colon + 2 <= line.size()) {
      return line.substr(colon + 2);
    }
  }
  return "";
}

Json machine() {
  utsname system{};
  uname(&system);
  const std::string model = cpuinfo("model name");
  return {
      {"cpu", model.empty() ? "unknown" : model},
      {"architecture", system.machine},
      {"cores", sysconf(_SC_NPROCESSORS_ONLN)},
      {"memory_mib", sysconf(_SC_PHYS_PAGES) / 1024 * (sysconf(_SC_PAGESIZE) / 1024)},
      {"system", fmt::format("{} {}", system.sysname, system.release)},
  };
}

bool is_isa(const std::string& text) {
  constexpr Isa kAll[] = {Isa::portable, Isa::neon, Isa::avx2, Isa::avx3};
  return std::any_of(std::begin(kAll), std::end(kAll),
                     [&](Isa isa) { return text == name_of(isa); });
}

bool is_thread_count(const std::string& text) {
  int threads = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), threads);
  return error == std::errc{} && end == text.data() + text.size() &&
         Context().set_threads(threads).ok();
}

// The library passes over a value that it does not understand; here it can be seen.
Json variable(const char* name, bool (*is_understood)(const std::string&)) {
  const char* value = std::getenv(name);
  if (value == nullptr) return nullptr;
  return is_understood(value) ? std::string(value)
                              : std::string(value) + " (not understood, ignored)";
}

Json variables() {
  return {
      {"EQUINORM_MAX_ISA", variable("EQUINORM_MAX_ISA", is_isa)},
      {"EQUINORM_NUM_THREADS", variable("EQUINORM_NUM_THREADS", is_thread_count)},
      {"OMP_NUM_THREADS", variable("OMP_NUM_THREADS", [](const std::string&) { return true; })}};
}

Json collect() {
  const BuildInfo build = build_info();
  const Context context;
  Json isas = Json::array();
  for (const Isa isa : available_isas()) isas.push_back(name_of(isa));
  const auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  return {
      {"version", build.version},
      {"numerics_version", kNumericsVersion},
      {"machine", machine()},
      {"isa", {{"available", isas}, {"chosen", name_of(context.isa())}}},
      {"kernels", conformance::all_kernels().size() * available_isas().size()},
      {"threads", context.threads()},
      {"environment", variables()},
      {"build",
       {{"compiler", build.compiler},
        {"type", build.build_type},
        {"sanitizers", or_null(build.sanitizers)},
        {"openmp", build.openmp},
        {"torch", or_null(build.torch)}}},
  };
}

std::string text_of(const Json& value) {
  if (value.is_null()) return "none";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const Json& item : value) text += (text.empty() ? "" : ", ") + text_of(item);
  return text;
}

void flatten(const Json& json, const std::string& prefix,
             const std::function<void(const std::string&, const std::string&)>& visit) {
  for (const auto& [key, value] : json.items()) {
    if (value.is_object()) {
      flatten(value, prefix + key + ".", visit);
    } else {
      visit(prefix + key, text_of(value));
    }
  }
}

std::string to_text(const Json& json) {
  std::string text;
  flatten(json, "", [&text](const std::string& key, const std::string& value) {
    text += fmt::format("{:<36}{}\n", key, value);
  });
  return text;
}

}  // namespace

std::map<std::string, std::string> environment() {
  std::map<std::string, std::string> pairs;
  flatten(collect(), "",
          [&pairs](const std::string& key, const std::string& value) { pairs[key] = value; });
  return pairs;
}

void add_info(CLI::App& app, int&) {
  const auto json = std::make_shared<bool>(false);
  CLI::App* sub = app.add_subcommand("info", "Machine, instruction sets, threads and build");
  sub->add_flag("--json", *json, "Print one JSON document");
  sub->footer("Example:\n  equinorm info --json > info.json");
  sub->callback([json] {
    const Json info = collect();
    std::cout << (*json ? info.dump(2) + "\n" : to_text(info));
  });
}

}  // namespace equinorm::cli
