#pragma once

namespace pacml::env {

// Features are computed in double and shown as float.
[[nodiscard]] constexpr float as_float(double v) { return static_cast<float>(v); }

}  // namespace pacml::env
