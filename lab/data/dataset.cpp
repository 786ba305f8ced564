// Loading the data of a run, shared between runs of one process.
#include "lab/data/dataset.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "lab/data/catalogue.hpp"
#include "lab/data/digits.hpp"
#include "lab/data/files.hpp"
#include "lab/data/sha256.hpp"
#include "lab/error.hpp"
#include "lab/nearest.hpp"

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

Dataset read_pairs(const std::string& name, const std::filesystem::path& file) {
  const std::string bytes = read_text_file(file);
  decode_utf8(bytes, name);
  const auto lines = read_parallel_lines(bytes, name);
  return {name, sha256_hex(bytes), encode_parallel(lines, learn_pieces(lines, kMerges))};
}

Dataset read_prepared_pairs(const std::string& name, const std::filesystem::path& directory) {
  std::string list;
  std::vector<std::string> contents;
  for (const char* file : {"pairs.tsv", "source.pieces", "target.pieces"}) {
    contents.push_back(read_text_file(directory / file));
    list += sha256_hex(contents.back()) + "  " + file + "\n";
  }
  return {name, sha256_hex(list),
          encode_parallel(
              read_parallel_lines(contents[0], name),
              {BytePairs::from_text(contents[1], name), BytePairs::from_text(contents[2], name)})};
}

Dataset read_labelled(const std::string& name, const std::filesystem::path& file) {
  const std::string bytes = read_text_file(file);
  return {name, sha256_hex(bytes), read_labelled_texts(bytes, name)};
}

Dataset read_digit_images(const std::string& name, const std::filesystem::path& file) {
  const std::string bytes = read_text_file(file);
  return {name, sha256_hex(bytes), read_digits(bytes, name)};
}

using Reader = Dataset (*)(const std::string& name, const std::filesystem::path& path);

// What a task reads: a set of the catalogue, the file of it that matters (empty: its directory),
// and how the user's own data is read, where it takes any.
struct TaskData {
  const char* task;
  const char* set;
  const char* file;
  Reader read;
  Reader read_source;
  const char* source;  ///< what `source` names, for messages
};

constexpr TaskData kTaskData[] = {
    {"fashion-mnist", "fashion-mnist", "", read_images, nullptr, ""},
    {"bible", "bible", "text.txt", read_text, nullptr, ""},
    {"masked-bible", "bible", "text.txt", read_text, read_text, ""},
    {"translation", "translation", "", read_prepared_pairs, read_pairs, ""},
    {"packages", "packages", "packages.tsv", read_labelled, read_labelled, ""},
    {"digits", "digits", "digits.csv", read_digit_images, read_digit_images, ""},
    {"adding", nullptr, "", nullptr, nullptr, ""},
    {"text", nullptr, "", nullptr, read_text, "FILE"},
    {"idx", nullptr, "", nullptr, read_images, "DIR"},
};

const TaskData& data_of(const std::string& task) {
  std::vector<std::string> names;
  for (const TaskData& data : kTaskData) {
    if (task == data.task) return data;
    names.emplace_back(data.task);
  }
  throw UsageError("task = '" + task + "': " + one_of("must be one of", task, names));
}

Dataset read_packaged(const TaskData& task, const std::filesystem::path& cache_dir) {
  const PreparedData data = prepare_data(task.set, cache_dir);
  Dataset dataset = task.read(catalogue_entry(task.set).title, data.directory / task.file);
  if (dataset.sha256 != data.sha256) {
    throw InputError("the cached data in '" + data.directory.string() +
                     "' was changed after it was prepared; run 'equinorm data prepare " + task.set +
                     "'");
  }
  return dataset;
}

Dataset read_dataset(const RunConfig& config, const std::filesystem::path& cache_dir) {
  check_source(config);
  const TaskData& task = data_of(config.task);
  if (!config.source.empty() && task.read_source != nullptr) {
    return task.read_source("'" + config.source + "'", config.source);
  }
  if (task.set != nullptr) return read_packaged(task, cache_dir);
  return {config.task, sha256_hex(config.task + " 1"), std::monostate{}};
}

}  // namespace

void check_source(const RunConfig& config) {
  const TaskData& task = data_of(config.task);
  if (*task.source == '\0' || !config.source.empty()) return;
  throw UsageError("task = '" + config.task + "': needs source = \"" + task.source +
                   "\", data of your own");
}

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

std::shared_ptr<const Dataset> resolve_source(RunConfig& config,
                                              const std::filesystem::path& cache_dir) {
  if (!config.source.empty()) config.source = std::filesystem::absolute(config.source).string();
  const auto dataset = load_dataset(config, cache_dir);
  config.source_sha256 = dataset->sha256;
  if (const auto* text = std::get_if<TextData>(&dataset->content)) {
    split_text(text->ids.size(), static_cast<std::size_t>(config.context), dataset->name);
  }
  return dataset;
}

}  // namespace equinorm::lab
