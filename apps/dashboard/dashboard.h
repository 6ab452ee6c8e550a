#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/http/status_pages.h"

namespace pacml::apps {

// What people watch runs with: a page, and what it shows as JSON (docs/monitoring.md, "Dashboard").
//   /                                     the page, which tells nothing of the runs itself
//   /dashboard/runs                       what each is, its newest figures, its settings
//   /dashboard/curves/RUN                 its curves; RUN is the number of a run
//   /dashboard/episodes/RUN/EPISODE       a held-out episode, decision after decision, of its best
//                                         policy; .../BASELINE: of a baseline, whose name is
//                                         percent-encoded;
//                                         .../run:OTHER: as that run's best policy plays it
// Reads the runs' folders and nothing else. Thread-confined to whoever serves it, but for episodes,
// which it plays on a thread of its own.
class Dashboard {
 public:
  // Folders of runs, at least one; what is no run shows as a sentence.
  explicit Dashboard(std::vector<std::filesystem::path> runs);
  Dashboard(const Dashboard&) = delete;
  Dashboard& operator=(const Dashboard&) = delete;
  ~Dashboard();

  // For whoever may read them, but for the page, which is for anybody. Borrows the dashboard.
  [[nodiscard]] FurtherPages pages();

 private:
  struct Watched;
  [[nodiscard]] std::optional<HttpReply> answer(const std::string& path);
  [[nodiscard]] HttpReply runs();
  [[nodiscard]] HttpReply curves(Watched& run);
  [[nodiscard]] HttpReply episode(const Watched& run, const std::string& rest);

  std::vector<std::unique_ptr<Watched>> runs_;
  struct Desk;
  std::unique_ptr<Desk> desk_;
};

}  // namespace pacml::apps
