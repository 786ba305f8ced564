// Event files for TensorBoard from the metrics.jsonl of finished runs, without its libraries:
// records of length, checksum, data, checksum, each an Event in protobuf's encoding with scalars by
// tag.
//
// What it is not: more than scalars, or anything that metrics.jsonl lacks. The one trap:
// TensorBoard keeps f32, so numbers are rounded to it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace equinorm::lab {

/// The bytes of an event file with the numbers of metrics.jsonl; null and what is no number is left
/// out. The wall time of an event is its step in seconds, so that equal runs give equal bytes.
/// Throws InputError naming the line that is no event.
[[nodiscard]] std::string tensorboard_events(std::string_view metrics);

/// Writes out/tensorboard/RUN/events.out.tfevents.equinorm for every finished training run under
/// out/runs that has none or an older one; each file appears whole. Throws InputError.
void write_tensorboard(const std::filesystem::path& out);

}  // namespace equinorm::lab
