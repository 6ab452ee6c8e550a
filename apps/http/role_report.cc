#include "apps/http/role_report.h"

#include <nlohmann/json.hpp>

namespace pacml::apps {

RoleReport report_of(const serving::StatusBoard& board, const std::string& ready_key) {
  const auto newest = board.newest();
  RoleReport report;
  report.status = newest ? newest->text : "{}";
  report.ready = newest != nullptr;
  if (report.ready && !ready_key.empty()) {
    report.ready = nlohmann::json::parse(newest->text).value(ready_key, false);
  }
  return report;
}

}  // namespace pacml::apps
