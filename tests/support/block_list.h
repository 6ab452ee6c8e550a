#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "replay/block_sink.h"
#include "replay/snapshot_format.h"

namespace pacml::testing {

// Keeps the blocks of a snapshot; `behind` makes it refuse them.
class BlockList final : public replay::BlockSink {
 public:
  [[nodiscard]] bool try_take(replay::Block& block) override {
    if (behind) return false;
    blocks.push_back(std::move(block));
    return true;
  }
  // As a file would hold them.
  [[nodiscard]] std::istringstream stream() const { return stream_of(blocks); }

  static std::istringstream stream_of(const std::vector<replay::Block>& blocks) {
    std::string file;
    const auto append = [&file](const Bytes& bytes) {
      file.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    append(replay::encode_magic());
    for (const auto& block : blocks) {
      append(replay::encode_frame(block));
      append(block.bytes);
    }
    return std::istringstream(file);
  }

  bool behind = false;
  std::vector<replay::Block> blocks;
};

}  // namespace pacml::testing
