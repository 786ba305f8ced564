// The raw data of each set of the catalogue, read from its Debian packages and brought into the
// form that the cache keeps.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lab/data/catalogue.hpp"

namespace equinorm::lab {

/// Name and content of each file of a prepared set.
using SetFiles = std::vector<std::pair<std::string, std::string>>;

/// Throws InputError, naming the packages, where something is missing.
using SetReader = SetFiles (*)(const CatalogueEntry&, const DataSources&);

SetFiles read_fashion_mnist(const CatalogueEntry& entry, const DataSources& sources);
SetFiles read_bible(const CatalogueEntry& entry, const DataSources& sources);
SetFiles read_translation(const CatalogueEntry& entry, const DataSources& sources);
SetFiles read_packages(const CatalogueEntry& entry, const DataSources& sources);
SetFiles read_digits_file(const CatalogueEntry& entry, const DataSources& sources);

/// "a b c"
std::string spaced(const std::vector<std::string>& words);

}  // namespace equinorm::lab
