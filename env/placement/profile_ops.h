#pragma once

#include "env/graph/profile.h"
#include "env/placement/op_graph.h"

namespace pacml::env {

enum class ProfilePass { kForward, kBoth };

// A profile as operations to place, "node1", ... in topological order. With the backward pass each
// layer has a second operation "node1/b" that moves with it (group "node1"): it consumes what the
// layer put out, and gradients of those that consumed it; it puts out a gradient for each parent,
// as large as the parent's output. Times become whole microseconds, rounded half to even. Pure.
[[nodiscard]] OpGraphSpec profile_ops(const Profile& profile, ProfilePass pass);

}  // namespace pacml::env
