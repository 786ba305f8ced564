// Loading the data of a run, shared between runs of one process.
#include "lab/data/dataset.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "lab/data/catalogue.hpp"
#include "lab/data/files.hpp"
#include "lab/data/sha256.hpp"
#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

std::string images_sha256(const std::filesystem::path& directory) {
  std::string list;
  for (const std::string& name : idx_file_names()) {
    list += sha256_hex(read_maybe_gzip(find_idx_file(directory, name))) + "  " + name + "\n";
  }
  return sha256_hex(list);
}

Dataset read_images(const std::string& name, const std::filesystem::path& directory) {
  ImageData images = read_image_directory(directory);  // first: its errors say what is missing
  return {name, images_sha256(directory), std::move(images)};
}

Dataset read_text(const std::string& name, const std::filesystem::path& file) {
  const std::string bytes = read_text_file(file);
  return {name, sha256_hex(bytes), encode_text(bytes, name)};
}

Dataset read_packaged(const RunConfig& config, const std::filesystem::path& cache_dir) {
  const PreparedData data = prepare_data(config.task, cache_dir);
  const std::string& title = catalogue_entry(config.task).title;
  Dataset dataset = config.task == "bible" ? read_text(title, data.directory / "text.txt")
                                           : read_images(title, data.directory);
  if (dataset.sha256 != data.sha256) {
    throw InputError("the cached data in '" + data.directory.string() +
                     "' was changed after it was prepared; run 'equinorm data prepare " +
                     config.task + "'");
  }
  return dataset;
}

Dataset read_dataset(const RunConfig& config, const std::filesystem::path& cache_dir) {
  if (config.task == "fashion-mnist" || config.task == "bible") {
    return read_packaged(config, cache_dir);
  }
  if (config.task != "text" && config.task != "idx") {
    throw UsageError("task = '" + config.task +
                     "': must be fashion-mnist, bible, text (with --text FILE) or idx (with --idx "
                     "DIR)");
  }
  if (config.source.empty()) {
    throw UsageError("task = '" + config.task + "': needs --" + config.task +
                     (config.task == "text" ? " FILE" : " DIR"));
  }
  return config.task == "text" ? read_text("'" + config.source + "'", config.source)
                               : read_images("'" + config.source + "'", config.source);
}

}  // namespace

std::shared_ptr<const Dataset> load_dataset(const RunConfig& config,
                                            const std::filesystem::path& cache_dir) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<const Dataset>> loaded;
  const std::string key = config.task + '\n' + config.source + '\n' + cache_dir.string();
  const std::lock_guard lock(mutex);
  if (auto dataset = loaded[key].lock()) return dataset;
  auto dataset = std::make_shared<const Dataset>(read_dataset(config, cache_dir));
  loaded[key] = dataset;
  return dataset;
}

void resolve_source(RunConfig& config, const std::filesystem::path& cache_dir) {
  if (!config.source.empty()) config.source = std::filesystem::absolute(config.source).string();
  const auto dataset = load_dataset(config, cache_dir);
  config.source_sha256 = dataset->sha256;
  if (const auto* text = std::get_if<TextData>(&dataset->content)) {
    split_text(text->ids.size(), static_cast<std::size_t>(config.context), dataset->name);
  }
}

}  // namespace equinorm::lab
