#pragma once

#include <cstddef>
#include <span>

namespace pacml::fuzz {

// What a client says on one connection to the pages of a role; true: it was shown a page. Aborts
// where the server breaks its promises: it answers in HTTP or not at all, ends the connection when
// the client has, and never fails over what a client says.
bool http_request(std::span<const std::byte> bytes);

}  // namespace pacml::fuzz
