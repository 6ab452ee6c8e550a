#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace pacml::apps {

// A role's status for people: who waits for whom, where it says so; a figure a line, those within
// others by dotted names, in the order of their names; then a table for each list of objects, such
// as the peers. Tables are `width` characters wide at most. Pre: an object. Pure.
[[nodiscard]] std::string status_text(const nlohmann::json& status, std::size_t width);

}  // namespace pacml::apps
