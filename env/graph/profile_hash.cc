#include "env/graph/profile_hash.h"

#include <array>

#include "common/hash.h"

namespace pacml::env {

std::uint64_t profile_hash(std::span<const Profile> profiles) {
  std::uint64_t hash = 0;
  for (const Profile& profile : profiles) {
    hash = content_hash(profile.model, hash);
    for (const ForwardOp& op : profile.ops) {
      const auto numbers =
          std::to_array({static_cast<double>(op.id), op.forward_time, op.backward_time,
                         op.activation_bytes, op.parameter_bytes, op.optimizer_bytes});
      hash = content_hash(std::span<const double>(numbers), hash);
    }
    for (const auto& [producer, consumer] : profile.dependencies) {
      hash = content_hash(std::span<const int>(std::to_array({producer, consumer})), hash);
    }
  }
  return hash;
}

}  // namespace pacml::env
