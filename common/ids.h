#pragma once

#include <cstdint>

#include "common/strong.h"

namespace pacml {

using Seed = Strong<struct SeedTag, std::uint64_t>;
using ActorId = Strong<struct ActorIdTag, std::uint32_t>;
// Which life of an actor: a restarted actor keeps its id and gets a larger incarnation.
using Incarnation = Strong<struct IncarnationTag, std::uint64_t>;
using Sequence = Strong<struct SequenceTag, std::uint64_t>;
using PolicyVersion = Strong<struct PolicyVersionTag, std::uint64_t>;
// Content hash of a graph's observation features: equal content, equal hash, on every machine.
using GraphHash = Strong<struct GraphHashTag, std::uint64_t>;

}  // namespace pacml
