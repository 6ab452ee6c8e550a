#pragma once

#include <functional>
#include <optional>
#include <string>

#include "apps/http/http_access.h"
#include "apps/http/http_message.h"
#include "apps/http/role_report.h"

namespace pacml::apps {

// Pages of a role beside those below; each answers a path, or nothing where there is no such page.
struct FurtherPages {
  using Page = std::function<std::optional<HttpReply>(const std::string& path)>;
  Page for_anybody = {};   // they tell nothing that a token keeps
  Page for_readers = {};   // asked for after the token was
  std::string names = {};  // of those that people go to, for who asks for another: "/, "
};

// The pages of a role (docs/monitoring.md):
//   /healthz   200 while it lives and turns, else 503 and which thread hangs
//   /readyz    200 once it can do what the others want of it, else 503
//   /status    its status, JSON
//   /metrics   the same for Prometheus
// and further ones. The first two tell nothing else and are for anybody; the others ask for the
// token where there is one (apps/http/http_access.h). Immutable, but for what `report` does.
class StatusPages {
 public:
  // `token` empty: nobody is asked for one.
  StatusPages(ReportRole report, std::string token, FurtherPages further = {});
  [[nodiscard]] HttpReply answer(const HttpRequest& request, const HttpCounters& counters) const;

 private:
  ReportRole report_;
  HttpAccess access_;
  FurtherPages further_;
};

}  // namespace pacml::apps
