// The data sets that come from Debian packages: what they are, whether they are there, and the
// cache in which their processed form is kept.
//
// The one trap: a missing set is an error that names the package; nothing is ever replaced by
// something else in silence.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace equinorm::lab {

struct CatalogueEntry {
  std::string name;
  std::string title;
  std::vector<std::string> packages;  ///< Debian packages it is made from
  std::string licence;
};

/// "fashion-mnist", "bible", "translation", "packages", "digits".
const std::vector<CatalogueEntry>& catalogue();

/// Throws UsageError, listing the names, for an unknown one.
const CatalogueEntry& catalogue_entry(const std::string& name);

/// Where the raw data comes from; tests point it elsewhere.
struct DataSources {
  std::filesystem::path fashion_mnist = "/usr/share/datasets/fashion-mnist";
  std::string mod2imp = "mod2imp";
  std::string apt_cache = "apt-cache";
  std::filesystem::path digits =
      "/usr/lib/python3/dist-packages/sklearn/datasets/data/digits.csv.gz";
};

struct PreparedFile {
  std::string name;
  std::uint64_t bytes = 0;
  std::string sha256;
};

/// The processed form of a set in the cache.
struct PreparedData {
  std::filesystem::path directory;
  std::string sha256;  ///< of the set: of the one file, or of the list of the files' sums
  std::vector<std::string> package_versions;  ///< "sword-text-web 426.0-1"
  std::vector<PreparedFile> files;
  std::string damage;  ///< why the cached form is not, or was not, usable; empty: nothing wrong
};

/// How closely a cached form is looked at: the sizes of its files, or what is in them too.
enum class Check { sizes, checksums };

/// "name version" of each installed package; "name" alone where dpkg knows nothing of it.
std::vector<std::string> installed_versions(const std::vector<std::string>& packages);

/// What the cache holds for `name`; an empty sha256 where it holds nothing usable.
PreparedData find_prepared(const std::string& name, const std::filesystem::path& cache_dir,
                           Check check = Check::sizes);

/// Makes the cached form unless it is there, undamaged as far as `check` looks, and made from the
/// same package versions. Throws InputError where the packages are missing or the cache can't be
/// written.
PreparedData prepare_data(const std::string& name, const std::filesystem::path& cache_dir,
                          const DataSources& sources = {}, Check check = Check::sizes);

}  // namespace equinorm::lab
