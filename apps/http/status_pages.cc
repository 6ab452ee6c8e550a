#include "apps/http/status_pages.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "apps/http/exposition.h"
#include "common/resident_memory.h"

namespace pacml::apps {
namespace {

constexpr const char* kPages = "/status, /metrics, /healthz and /readyz";

HttpReply text(unsigned status, const std::string& line) {
  HttpReply reply;
  reply.status = status;
  reply.body = line + "\n";
  return reply;
}

}  // namespace

StatusPages::StatusPages(ReportRole report, std::string token, FurtherPages further)
    : report_(std::move(report)), access_(std::move(token)), further_(std::move(further)) {}

HttpReply StatusPages::answer(const HttpRequest& request, const HttpCounters& counters) const {
  const std::string& path = request.path;
  if (auto refused = access_.refuse_host(request)) return *std::move(refused);
  if (path == "/healthz") {
    const std::string hangs = report_().hangs;
    return hangs.empty() ? text(200, "ok") : text(503, "stuck: " + hangs);
  }
  if (path == "/readyz") return report_().ready ? text(200, "ok") : text(503, "not ready");
  if (further_.for_anybody) {
    if (auto reply = further_.for_anybody(path)) return *std::move(reply);
  }
  const bool known = path == "/status" || path == "/metrics";
  const std::string pages = "there is " + further_.names + kPages;
  if (!known && !further_.for_readers) return text(404, pages);
  if (auto refused = access_.refuse_reader(request)) return *std::move(refused);
  if (!known) {
    if (auto reply = further_.for_readers(path)) return *std::move(reply);
    return text(404, pages);
  }
  const RoleReport report = report_();
  if (path == "/status") return {200, "application/json", report.status + "\n"};
  const ProcessState process{report.hangs.empty(), report.ready, resident_bytes()};
  return {200, kExpositionType,
          exposition(nlohmann::json::parse(report.status), process, counters)};
}

}  // namespace pacml::apps
