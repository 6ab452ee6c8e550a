#pragma once

#include <string_view>

namespace pacml::apps {

// The dashboard's page, whole: style, script and the chart library are inside. Made by the build
// out of apps/dashboard/page/.
[[nodiscard]] std::string_view dashboard_page();

}  // namespace pacml::apps
