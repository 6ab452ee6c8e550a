#pragma once

namespace pacml::apps {

// The first of `count` TCP ports in a row that nobody had a moment ago. UserError: none were found.
[[nodiscard]] int free_ports(int count);

}  // namespace pacml::apps
