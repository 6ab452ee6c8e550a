#include "apps/http/status_pages.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "apps/http/exposition.h"
#include "common/asio.h"
#include "common/resident_memory.h"

namespace pacml::apps {
namespace {

constexpr const char* kPages = "/status, /metrics, /healthz and /readyz";

// In a time that tells nothing of where the two differ; their lengths are no secret.
bool equal_secrets(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  volatile unsigned char differ = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    differ = static_cast<unsigned char>(differ | (a[i] ^ b[i]));
  }
  return differ == 0;
}

// RFC 9110: the scheme's name in any case, then spaces.
std::string_view bearer_token(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() < kScheme.size()) return {};
  for (std::size_t i = 0; i < kScheme.size(); ++i) {
    const char c = authorization[i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != kScheme[i]) return {};
  }
  authorization.remove_prefix(kScheme.size());
  authorization.remove_prefix(std::min(authorization.find_first_not_of(' '), authorization.size()));
  return authorization;
}

// "localhost", "localhost:9100", "127.0.0.1:9100", "[::1]:9100": a name of this machine that nobody
// else can give away, or an address, which is no name.
bool leads_here_only(std::string_view host) {
  const bool bracketed = host.starts_with('[');
  const auto end = bracketed ? host.find(']') : host.rfind(':');
  if (bracketed && end == std::string_view::npos) return false;
  const std::string name(host.substr(bracketed ? 1 : 0, bracketed ? end - 1 : end));
  boost::system::error_code is_name;
  static_cast<void>(asio::ip::make_address(name, is_name));
  if (!is_name) return true;
  std::string lower = name;
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower == "localhost" || lower.ends_with(".localhost");
}

HttpReply text(unsigned status, const std::string& line) {
  HttpReply reply;
  reply.status = status;
  reply.body = line + "\n";
  return reply;
}

}  // namespace

StatusPages::StatusPages(ReportRole report, std::string token, FurtherPages further)
    : report_(std::move(report)), token_(std::move(token)), further_(std::move(further)) {}

bool StatusPages::may_read(const HttpRequest& request) const {
  return token_.empty() || equal_secrets(bearer_token(request.authorization), token_);
}

HttpReply StatusPages::answer(const HttpRequest& request, const HttpCounters& counters) const {
  const std::string& path = request.path;
  if (token_.empty() && !request.host.empty() && !leads_here_only(request.host)) {
    return text(403, "without a token, these pages are for localhost, not for " + request.host);
  }
  if (path == "/healthz") {
    const std::string hangs = report_().hangs;
    return hangs.empty() ? text(200, "ok") : text(503, "stuck: " + hangs);
  }
  if (path == "/readyz") return report_().ready ? text(200, "ok") : text(503, "not ready");
  if (further_.for_anybody) {
    if (auto reply = further_.for_anybody(path)) return *std::move(reply);
  }
  const bool known = path == "/status" || path == "/metrics";
  if (!known && !further_.for_readers) return text(404, std::string("there is ") + kPages);
  if (!may_read(request)) return text(401, "this page asks for the token of --http-token-file");
  if (!known) {
    if (auto reply = further_.for_readers(path)) return *std::move(reply);
    return text(404, std::string("there is ") + kPages);
  }
  const RoleReport report = report_();
  if (path == "/status") return {200, "application/json", report.status + "\n"};
  const ProcessState process{report.hangs.empty(), report.ready, resident_bytes()};
  return {200, kExpositionType,
          exposition(nlohmann::json::parse(report.status), process, counters)};
}

}  // namespace pacml::apps
