#include "model/encoders/encoder_config.h"

namespace pacml::model {

std::vector<std::string> validate(const EncoderConfig& config) {
  // Far above what is sensible, far below what would exhaust memory by a slip of the keyboard.
  constexpr int kMostBlocks = 32;
  constexpr int kMostWidth = 1024;
  std::vector<std::string> problems;
  if (config.slot.empty()) {
    problems.emplace_back("slot must name one of the graphs that the task's decisions show");
  }
  if (config.width < 1 || config.width > kMostWidth) {
    problems.push_back("width must be from 1 to " + std::to_string(kMostWidth) + ", not " +
                       std::to_string(config.width));
  }
  if (config.blocks < 1 || config.blocks > kMostBlocks) {
    problems.push_back("blocks must be from 1 to " + std::to_string(kMostBlocks) + ", not " +
                       std::to_string(config.blocks));
  }
  return problems;
}

}  // namespace pacml::model
