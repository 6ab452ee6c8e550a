#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "common/check.h"
#include "common/hash.h"
#include "model/layout.h"
#include "model/parameters_io.h"
#include "tests/fuzz/model/targets.h"

namespace pacml::fuzz {

const model::ParameterLayout& parameters_layout() {
  static const model::ParameterLayout kLayout = [] {
    model::NetworkConfig config;
    config.rounds = 1;
    config.message_width = 2;
    config.hidden_width = config.node_width = config.graph_width = config.readout_width = 1;
    return model::make_layout({config, {{1, 1}}, 1, 1});
  }();
  return kLayout;
}

bool parameters(std::span<const std::byte> bytes) {
  std::string file(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  static_cast<void>(model::decode_parameters(file, parameters_layout()));

  const std::uint64_t hash = content_hash(file);
  std::array<char, sizeof hash> closing{};
  std::memcpy(closing.data(), &hash, sizeof hash);
  file.append(closing.data(), closing.size());
  const auto read = model::decode_parameters(file, parameters_layout());
  if (!read) return false;
  PACML_CHECK(model::encode_parameters(*read, parameters_layout()) == file,
              "a parameter file survives a round trip");
  return true;
}

}  // namespace pacml::fuzz
