// TFRecord and the few fields of protobuf's Event, Summary and Value that scalars need.
#include "lab/experiment/tensorboard.hpp"

#include <unistd.h>

#include <array>
#include <bit>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "lab/data/files.hpp"
#include "lab/error.hpp"
#include "lab/experiment/run_store.hpp"

namespace equinorm::lab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kFileName = "events.out.tfevents.equinorm";

// CRC-32C (Castagnoli), a byte at a time.
constexpr std::array<std::uint32_t, 256> kCrcTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78U : 0U);
    table[byte] = crc;
  }
  return table;
}();

// As TFRecord stores it: rotated, plus a constant.
std::uint32_t masked_crc(std::string_view data) {
  std::uint32_t crc = ~0U;
  for (const char c : data)
    crc = kCrcTable[(crc ^ static_cast<unsigned char>(c)) & 0xff] ^ (crc >> 8);
  return std::rotr(~crc, 15) + 0xa282ead8U;
}

template <class Unsigned>
std::string little_endian(Unsigned value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof value; ++i)
    bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

void append_record(std::string& file, const std::string& data) {
  const std::string length = little_endian(std::uint64_t{data.size()});
  file += length + little_endian(masked_crc(length)) + data + little_endian(masked_crc(data));
}

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
  return bytes + static_cast<char>(value);
}

// Fields of a protobuf message: its number and wire type, then the value.
enum Wire : unsigned { kVarint = 0, k64Bit = 1, kBytes = 2, k32Bit = 5 };

std::string key(unsigned number, Wire wire) { return varint(number << 3 | wire); }

std::string bytes_field(unsigned number, const std::string& content) {
  return key(number, kBytes) + varint(content.size()) + content;
}

std::string event_at(double wall_time) {
  return key(1, k64Bit) + little_endian(std::bit_cast<std::uint64_t>(wall_time));
}

// Adds a Summary.Value for each number in `json`, lists with the place in them, from 1, in the tag.
void append_scalars(std::string& summary, const std::string& tag, const Json& json) {
  if (json.is_number()) {
    const auto value = std::bit_cast<std::uint32_t>(json.get<float>());
    summary += bytes_field(1, bytes_field(1, tag) + key(2, k32Bit) + little_endian(value));
  } else if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) {
      append_scalars(summary, tag + "/" + std::to_string(i + 1), json[i]);
    }
  } else if (json.is_object()) {
    for (const auto& [name, part] : json.items()) append_scalars(summary, tag + "/" + name, part);
  }
}

// "layers/3/NAME" for what a layer has, "NAME/head" for parts outside the layers.
void append_instrument(std::string& summary, const std::string& name, const Json& json) {
  const Json& layers = json.is_object() ? json.at("layers") : json;
  if (layers.is_array()) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      append_scalars(summary, "layers/" + std::to_string(i + 1) + "/" + name, layers[i]);
    }
    if (!json.is_object()) return;
    for (const auto& [part, value] : json.items()) {
      if (part != "layers") append_scalars(summary, name + "/" + part, value);
    }
  } else {
    append_scalars(summary, name, json);
  }
}

std::string encoded(const Json& event) {
  const auto kind = event.at("event").get<std::string>();
  const auto step = event.at("step").get<std::uint64_t>();
  std::string summary;
  for (const auto& [name, value] : event.items()) {
    if (name == "event" || name == "step") continue;
    if (kind == "layers") {
      append_instrument(summary, name, value);
    } else {
      append_scalars(summary, kind + "/" + name, value);
    }
  }
  return event_at(static_cast<double>(step)) + key(2, kVarint) + varint(step) +
         bytes_field(5, summary);
}

bool is_current(const fs::path& events, const fs::path& result) {
  std::error_code missing;
  const auto made = fs::last_write_time(events, missing);
  return !missing && made >= fs::last_write_time(result);
}

void convert(const fs::path& run_dir, const fs::path& to) {
  std::string events;
  try {
    events = tensorboard_events(read_text_file(run_dir / "metrics.jsonl"));
  } catch (const InputError& error) {
    throw InputError((run_dir / "metrics.jsonl").string() + ": " + error.what());
  }
  make_directories(to);
  // TensorBoard reads every file with tfevents in its name, so one that is being made has another.
  remove_leftovers(to);
  const fs::path made = to / ("new.tmp" + std::to_string(getpid()));
  write_atomically(made, events);
  std::error_code error;
  fs::rename(made, to / kFileName, error);
  if (error)
    throw InputError("cannot write '" + (to / kFileName).string() + "': " + error.message());
}

}  // namespace

std::string tensorboard_events(std::string_view metrics) {
  std::string file;
  append_record(file, event_at(0) + bytes_field(3, "brain.Event:2"));
  std::istringstream lines{std::string(metrics)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    try {
      append_record(file, encoded(Json::parse(line)));
    } catch (const Json::exception& error) {
      throw InputError("line " + std::to_string(number) + ": " + error.what());
    }
  }
  return file;
}

void write_tensorboard(const fs::path& out) {
  for (const auto& entry : fs::directory_iterator(out / "runs")) {
    const fs::path& run_dir = entry.path();
    const fs::path to = out / "tensorboard" / run_dir.filename();
    // A measurement has a result and no metrics.jsonl.
    if (!is_finished(run_dir) || !fs::exists(run_dir / "metrics.jsonl")) continue;
    if (!is_current(to / kFileName, run_dir / "result.json")) convert(run_dir, to);
  }
}

}  // namespace equinorm::lab
