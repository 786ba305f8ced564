#include "lab/evidence/lab_folder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lab/data/files.hpp"
#include "lab/data/sha256.hpp"
#include "lab/error.hpp"
#include "lab/evidence/builtin.hpp"
#include "lab/evidence/json_declaration.hpp"
#include "lab/experiment/json_file.hpp"
#include "lab/nearest.hpp"

namespace equinorm::lab {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(const fs::path& directory, const std::string& extension) {
  std::vector<fs::path> files;
  std::error_code missing;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, missing)) {
    if (entry.path().extension() == extension) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

LabRequest read_request(const fs::path& path) {
  const Json json = read_json(path);
  const auto value = [&](const char* key) {
    return json.is_object() ? json.value(key, Json()) : Json();
  };
  const auto refuse = [&](const std::string& key, const std::string& rule) {
    throw InputError(path.string() + ": " + key + " = " + value(key.c_str()).dump() + ": " + rule);
  };
  LabRequest request;
  const Json tier = value("tier");
  request.tier = tier.is_string() ? tier.get<std::string>() : "";
  const auto& tiers = tier_names();
  if (std::find(tiers.begin(), tiers.end(), request.tier) == tiers.end()) {
    refuse("tier", one_of("must be one of", request.tier, tiers));
  }
  const Json seeds = value("seeds");
  if (!seeds.is_null()) {
    const bool fits = seeds.is_number_integer() && seeds >= 1 && seeds <= kMostSeeds;
    if (!fits)
      refuse("seeds", fmt::format("must be null or a whole number from 1 to {}", kMostSeeds));
    request.seeds = seeds.get<int>();
  }
  try {
    request.source_sha256 = value("source_sha256").get<decltype(request.source_sha256)>();
  } catch (const Json::exception&) {
    refuse("source_sha256", "must be an object of texts");
  }
  return request;
}

std::size_t builtin_place(const std::string& id) {
  const auto& files = embedded_experiments();
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].name == id + ".toml") return i;
  }
  return files.size();
}

}  // namespace

void store_experiment(const fs::path& out_dir, const StoredExperiment& experiment) {
  const fs::path folder = out_dir / "experiments";
  make_directories(folder);
  const std::string& id = experiment.declaration.id;
  write_atomically(folder / (id + ".toml"), experiment.declaration.source);
  const LabRequest& request = experiment.request;
  const Json json = {{"tier", request.tier},
                     {"seeds", request.seeds ? Json(*request.seeds) : Json(nullptr)},
                     {"source_sha256", request.source_sha256}};
  write_atomically(folder / (id + ".json"), json.dump(1) + "\n");
}

void store_environment(const fs::path& out_dir,
                       const std::map<std::string, std::string>& environment) {
  const fs::path folder = out_dir / "environments";
  make_directories(folder);
  const std::string text = Json(environment).dump(1) + "\n";
  write_atomically(folder / (sha256_hex(text).substr(0, 12) + ".json"), text);
}

std::vector<StoredExperiment> load_other_experiments(const fs::path& out_dir,
                                                     const std::set<std::string>& except) {
  const fs::path folder = out_dir / "experiments";
  std::vector<StoredExperiment> all;
  for (const fs::path& path : files_of(folder, ".json")) {
    if (except.count(path.stem().string()) > 0) continue;
    fs::path declaration = path;
    declaration.replace_extension(".toml");
    all.push_back(
        {parse_declaration(read_text_file(declaration), declaration.string()), read_request(path)});
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return builtin_place(a.declaration.id) < builtin_place(b.declaration.id);
  });
  return all;
}

std::vector<StoredExperiment> load_experiments(const fs::path& out_dir) {
  std::vector<StoredExperiment> all = load_other_experiments(out_dir, {});
  if (all.empty()) {
    throw InputError(out_dir.string() + ": is no folder that equinorm lab run has filled");
  }
  return all;
}

Environments load_environments(const fs::path& out_dir) {
  Environments environments;
  for (const fs::path& path : files_of(out_dir / "environments", ".json")) {
    try {
      const Json json = read_json(path);
      with_place(path.string(), [&] {
        environments.all.push_back(json.get<std::map<std::string, std::string>>());
      });
    } catch (const InputError& error) {
      environments.damaged.emplace_back(error.what());
    }
  }
  return environments;
}

Declaration find_declaration(const std::string& id_or_file) {
  const fs::path path = id_or_file;
  if (path.extension() == ".toml") return parse_declaration(read_text_file(path), id_or_file);
  if (path.extension() == ".json") {
    return parse_declaration(toml_of_json(read_text_file(path), id_or_file), id_or_file);
  }
  std::vector<std::string> ids = {"all"};
  for (const EmbeddedFile& file : embedded_experiments()) {
    const std::string id(file.name.substr(0, file.name.rfind('.')));
    if (id == id_or_file) return parse_declaration(std::string(file.text), std::string(file.name));
    ids.push_back(id);
  }
  throw InputError("experiment '" + id_or_file +
                   "': " + one_of("must be a .toml or .json file or one of", id_or_file, ids));
}

bool is_builtin(const std::string& id) { return builtin_place(id) < embedded_experiments().size(); }

void refuse_changed_builtin(const Declaration& declaration) {
  const std::size_t place = builtin_place(declaration.id);
  const auto& files = embedded_experiments();
  if (place == files.size() || files[place].text == declaration.source) return;
  throw InputError(declaration.file + ": id = '" + declaration.id +
                   "': an experiment that comes with the program has it; must be another");
}

std::vector<Declaration> builtin_declarations() {
  std::vector<Declaration> all;
  for (const EmbeddedFile& file : embedded_experiments()) {
    all.push_back(parse_declaration(std::string(file.text), std::string(file.name)));
  }
  return all;
}

}  // namespace equinorm::lab
