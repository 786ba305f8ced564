#include "lab/data/set_readers.hpp"

#include <string_view>
#include <system_error>

#include "lab/data/bible.hpp"
#include "lab/data/digits.hpp"
#include "lab/data/files.hpp"
#include "lab/data/idx.hpp"
#include "lab/data/packages.hpp"
#include "lab/data/parallel_text.hpp"
#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

[[noreturn]] void throw_missing(const CatalogueEntry& entry, const std::string& what) {
  throw InputError("data set '" + entry.name + "' is not installed (" + what +
                   "); install it with: apt-get install " + spaced(entry.packages));
}

// What mod2imp prints; an empty text where the module is missing.
std::string export_module(const CatalogueEntry& entry, const DataSources& sources,
                          const char* module) {
  int exit_code = 0;
  std::string exported = output_of({sources.mod2imp, module}, exit_code);
  if (exit_code == 127) throw_missing(entry, "no program " + sources.mod2imp);
  if (exit_code != 0 || exported.find("$$$") == std::string::npos) {
    throw_missing(entry, std::string("no SWORD module ") + module);
  }
  return exported;
}

}  // namespace

std::string spaced(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

SetFiles read_fashion_mnist(const CatalogueEntry& entry, const DataSources& sources) {
  std::error_code error;
  if (!std::filesystem::is_directory(sources.fashion_mnist, error)) {
    throw_missing(entry, "no directory " + sources.fashion_mnist.string());
  }
  SetFiles files;
  for (const std::string& name : idx_file_names()) {
    auto path = sources.fashion_mnist / (name + ".gz");
    if (!std::filesystem::exists(path, error)) path = sources.fashion_mnist / name;
    if (!std::filesystem::exists(path, error)) throw_missing(entry, "no " + path.string());
    const std::vector<unsigned char> content = read_maybe_gzip(path);
    files.emplace_back(name, std::string(content.begin(), content.end()));
  }
  return files;
}

SetFiles read_bible(const CatalogueEntry& entry, const DataSources& sources) {
  const std::string text = strip_bible(export_module(entry, sources, kBibleModule));
  if (text.empty()) throw_missing(entry, std::string("no SWORD module ") + kBibleModule);
  return {{"text.txt", text}};
}

SetFiles read_translation(const CatalogueEntry& entry, const DataSources& sources) {
  const std::string pairs = pair_verses(export_module(entry, sources, kBibleModule),
                                        export_module(entry, sources, kSpanishModule));
  const auto lines = read_parallel_lines(pairs, "the export of mod2imp");
  const LearnedPieces pieces = learn_pieces(lines, kMerges);
  return {{"pairs.tsv", pairs},
          {"source.pieces", pieces.source.to_text()},
          {"target.pieces", pieces.target.to_text()}};
}

SetFiles read_packages(const CatalogueEntry& /*entry*/, const DataSources& sources) {
  int exit_code = 0;
  const std::string dump = output_of({sources.apt_cache, "dumpavail"}, exit_code);
  const std::string lines = label_packages(dump);
  if (exit_code == 127 || lines.empty()) {
    throw InputError(
        "data set 'packages' is not there (" +
        (exit_code == 127 ? "no program " + sources.apt_cache : "apt knows no packages") +
        "); it comes from apt's own lists, on Debian: apt-get update");
  }
  return {{"packages.tsv", lines}};
}

SetFiles read_digits_file(const CatalogueEntry& entry, const DataSources& sources) {
  std::error_code error;
  if (!std::filesystem::exists(sources.digits, error)) {
    throw_missing(entry, "no " + sources.digits.string());
  }
  const std::vector<unsigned char> content = read_maybe_gzip(sources.digits);
  return {{"digits.csv", std::string(content.begin(), content.end())}};
}

}  // namespace equinorm::lab
