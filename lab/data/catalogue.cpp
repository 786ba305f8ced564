// Preparing data sets. Each set is a directory of the cache: its files, then manifest.json, which
// is written last and makes the set valid.
#include "lab/data/catalogue.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "lab/data/bible.hpp"
#include "lab/data/files.hpp"
#include "lab/data/set_readers.hpp"
#include "lab/data/sha256.hpp"
#include "lab/error.hpp"
#include "lab/nearest.hpp"

namespace equinorm::lab {
namespace {

// Raise it when the processing below changes its output.
constexpr int kProcessingVersion = 1;

// Each set with the function that reads it.
struct Set {
  CatalogueEntry entry;
  SetReader read;
};

const std::vector<Set>& sets() {
  static const std::vector<Set> all = {
      {{"fashion-mnist",
        "Fashion-MNIST, 70,000 labelled images of 28 x 28 pixels",
        {"dataset-fashion-mnist"},
        "MIT"},
       read_fashion_mnist},
      {{"bible", kBibleTitle, {"sword-text-web", "libsword-utils"}, "public domain"}, read_bible},
      {{"translation",
        "Bible verses in English and Spanish, without the Psalms, notes and titles",
        {"sword-text-web", "sword-text-sparv", "libsword-utils"},
        "public domain"},
       read_translation},
      {{"packages",
        "Descriptions of Debian packages in ten sections, from apt's lists",
        {"apt"},
        "each package's own"},
       read_packages},
      {{"digits", "1,797 handwritten digits of 8 x 8 pixels", {"python3-sklearn"}, "BSD"},
       read_digits_file}};
  return all;
}

std::string checksum_of(const std::vector<PreparedFile>& files) {
  if (files.size() == 1) return files[0].sha256;
  std::string list;
  for (const PreparedFile& file : files) list += file.sha256 + "  " + file.name + "\n";
  return sha256_hex(list);
}

std::filesystem::path directory_of(const std::string& name,
                                   const std::filesystem::path& cache_dir) {
  return (cache_dir.empty() ? default_cache_dir() : cache_dir) / "data" / name;
}

void write_manifest(const PreparedData& data, const CatalogueEntry& entry) {
  nlohmann::ordered_json manifest;
  manifest["name"] = entry.name;
  manifest["title"] = entry.title;
  manifest["licence"] = entry.licence;
  manifest["processing"] = kProcessingVersion;
  manifest["packages"] = data.package_versions;
  manifest["sha256"] = data.sha256;
  for (const PreparedFile& file : data.files) {
    manifest["files"].push_back(
        {{"name", file.name}, {"bytes", file.bytes}, {"sha256", file.sha256}});
  }
  write_atomically(data.directory / "manifest.json", manifest.dump(2) + "\n");
}

/// What is wrong with the files of the cached form, or an empty text.
std::string find_damage(const PreparedData& data, Check check) {
  for (const PreparedFile& file : data.files) {
    const auto path = data.directory / file.name;
    std::error_code error;
    const auto bytes = std::filesystem::file_size(path, error);
    if (error) return file.name + " cannot be read: " + error.message();
    if (bytes != file.bytes) {
      return file.name + " has " + std::to_string(bytes) + " bytes instead of " +
             std::to_string(file.bytes);
    }
    if (check == Check::checksums && sha256_hex(read_text_file(path)) != file.sha256) {
      return file.name + " has another checksum than when it was prepared";
    }
  }
  return "";
}

}  // namespace

const std::vector<CatalogueEntry>& catalogue() {
  static const std::vector<CatalogueEntry> entries = [] {
    std::vector<CatalogueEntry> all;
    for (const Set& set : sets()) all.push_back(set.entry);
    return all;
  }();
  return entries;
}

const CatalogueEntry& catalogue_entry(const std::string& name) {
  for (const CatalogueEntry& entry : catalogue()) {
    if (entry.name == name) return entry;
  }
  std::vector<std::string> names;
  for (const CatalogueEntry& entry : catalogue()) names.push_back(entry.name);
  throw UsageError("unknown data set '" + name + "': " + one_of("must be one of", name, names));
}

std::vector<std::string> installed_versions(const std::vector<std::string>& packages) {
  std::vector<std::string> versions;
  for (const std::string& package : packages) {
    int exit_code = 0;
    const std::string version =
        output_of({"dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", package}, exit_code);
    constexpr std::string_view kInstalled = "installed ";
    const bool known = exit_code == 0 && version.starts_with(kInstalled);
    versions.push_back(known ? package + " " + version.substr(kInstalled.size()) : package);
  }
  return versions;
}

PreparedData find_prepared(const std::string& name, const std::filesystem::path& cache_dir,
                           Check check) {
  PreparedData data;
  data.directory = directory_of(catalogue_entry(name).name, cache_dir);
  std::error_code error;
  const auto path = data.directory / "manifest.json";
  if (!std::filesystem::exists(path, error)) return data;
  const auto manifest = nlohmann::json::parse(read_text_file(path), nullptr, false);
  try {
    if (manifest.at("processing") != kProcessingVersion) return data;
    data.package_versions = manifest.at("packages").get<std::vector<std::string>>();
    for (const auto& file : manifest.at("files")) {
      data.files.push_back({file.at("name"), file.at("bytes"), file.at("sha256")});
    }
    data.damage = find_damage(data, check);
    if (checksum_of(data.files) != manifest.at("sha256")) data.damage = "manifest.json is damaged";
    if (data.damage.empty()) data.sha256 = manifest.at("sha256");
  } catch (const nlohmann::json::exception&) {
    data.files.clear();
    data.damage = "manifest.json is damaged";
  }
  return data;
}

PreparedData prepare_data(const std::string& name, const std::filesystem::path& cache_dir,
                          const DataSources& sources, Check check) {
  const CatalogueEntry& entry = catalogue_entry(name);
  PreparedData data = find_prepared(name, cache_dir, check);
  const std::vector<std::string> versions = installed_versions(entry.packages);
  const bool removed = versions == entry.packages;  // the cached form stays usable
  if (!data.sha256.empty() && (removed || versions == data.package_versions)) return data;

  const auto set = std::find_if(sets().begin(), sets().end(),
                                [&](const Set& other) { return other.entry.name == name; });
  const SetFiles files = set->read(entry, sources);
  make_directories(data.directory);
  remove_leftovers(data.directory);
  data.package_versions = versions;
  data.files.clear();
  for (const auto& [file_name, content] : files) {
    write_atomically(data.directory / file_name, content);
    data.files.push_back({file_name, content.size(), sha256_hex(content)});
  }
  data.sha256 = checksum_of(data.files);
  write_manifest(data, entry);
  return data;
}

}  // namespace equinorm::lab
