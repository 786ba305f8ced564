#include "lab/training/weights.hpp"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "lab/data/files.hpp"

namespace equinorm::lab {

void write_weights(const std::filesystem::path& file, const std::vector<Parameter>& parameters) {
  nlohmann::ordered_json header;
  std::string numbers;
  for (const Parameter& parameter : parameters) {
    const at::Tensor value = parameter.value.detach().to(at::kFloat).contiguous();
    const std::size_t begin = numbers.size();
    numbers.append(reinterpret_cast<const char*>(value.const_data_ptr<float>()), value.nbytes());
    header[parameter.name] = {{"dtype", "F32"},
                              {"shape", value.sizes().vec()},
                              {"data_offsets", {begin, numbers.size()}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the numbers start at a multiple of 8 bytes
  std::string length;
  for (int byte = 0; byte < 8; ++byte) {
    length += static_cast<char>(text.size() >> (8 * byte) & 0xff);
  }
  write_atomically(file, length + text + numbers);
}

}  // namespace equinorm::lab
