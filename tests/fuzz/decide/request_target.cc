#include <string_view>
#include <vector>

#include "apps/decide/cluster_ledger.h"
#include "apps/decide/decision_request.h"
#include "common/check.h"
#include "tests/fuzz/decide/targets.h"

namespace pacml::fuzz {

bool request(std::span<const std::byte> bytes) {
  const auto read =
      apps::parse_decision_request({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!read) {
    PACML_CHECK(!read.error().detail.empty(), "a refusal says why");
    return false;
  }
  apps::ClusterLedger ledger(8, env::RecentArrivals(3));
  if (read->time) PACML_CHECK(ledger.advance(*read->time), "time begins at 0");
  const auto before = ledger.num_free();
  if (read->running) {
    const auto replaced = ledger.replace(*read->running);
    if (!replaced) {
      PACML_CHECK(ledger.num_free() == before && !replaced.error().detail.empty(),
                  "what is refused changes nothing");
      return false;
    }
    PACML_CHECK(ledger.jobs().size() == read->running->size(), "every job is in the books");
  }
  for (const auto& job : std::vector(ledger.jobs().begin(), ledger.jobs().end())) {
    PACML_CHECK(ledger.finish(job.id), "what runs can finish");
  }
  PACML_CHECK(ledger.num_free() == 8, "what has finished holds nothing");
  return true;
}

}  // namespace pacml::fuzz
