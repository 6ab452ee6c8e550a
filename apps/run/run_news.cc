#include "apps/run/run_news.h"

#include <sys/statvfs.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>

#include "common/json_at.h"
#include "common/json_text.h"

namespace pacml::apps {

using nlohmann::json;

RunNews::RunNews(std::filesystem::path run, Duration patience, TimePoint now)
    : run_(std::move(run)), patience_(patience), tail_(run_ / "metrics.jsonl"), last_news_(now) {}

bool RunNews::look(TimePoint now, TrainProgress& progress) {
  const auto line = tail_.newest();
  if (line) {
    last_news_ = now;
    read(*line, progress);
  }
  progress.silent.reset();
  if (now - last_news_ < patience_) return line.has_value();
  progress.silent = std::chrono::duration_cast<std::chrono::seconds>(now - last_news_);
  progress.trouble = why_silent();
  return line.has_value();
}

void RunNews::extend(std::vector<double>& curve, double value) {
  if (curve.size() == kMostPoints) {
    for (std::size_t i = 0; i < kMostPoints / 2; ++i) {
      curve[i] = (curve[2 * i] + curve[2 * i + 1]) / 2;
    }
    curve.resize(kMostPoints / 2);
  }
  curve.push_back(value);
}

void RunNews::read(std::string_view text, TrainProgress& progress) {
  const auto parsed = parse_json_text(text);
  if (!parsed || !parsed->is_object()) return;
  const json& line = *parsed;
  const auto whole = [&line](const char* pointer) {
    return static_cast<std::int64_t>(number_at(line, pointer).value_or(0));
  };
  progress.decisions = whole("/decisions");
  progress.decisions_per_second = number_at(line, "/decisions_per_second").value_or(0);
  if (!first_decisions_) first_decisions_ = progress.decisions;
  learned_ =
      learned_ || progress.decisions_per_second > 0 || progress.decisions > *first_decisions_;
  progress.evaluating = line.contains("evaluating");
  progress.actors = static_cast<int>(whole("/actors"));
  progress.evaluation = evaluation_of(line);
  progress.lately = number_at(line, json::json_pointer("/episode") / progress.evaluation.objective);
  if (progress.lately) extend(progress.curve, *progress.lately);
  progress.limiter = text_at(line, "/limiter");
  progress.entropy = number_at(line, "/entropy");
  progress.lag_p99 = number_at(line, "/policy_lag/p99");
  progress.skipped = whole("/skipped");
  progress.warm_start.reset();
  if (line.contains("warm_start")) {
    progress.warm_start = {whole("/warm_start/done"), whole("/warm_start/of"),
                           text_at(line, "/warm_start/unit")};
  }
  // The newest failure is told for as long as there are further ones.
  const double failures = number_at(line, "/faults/checkpoint_failures").value_or(0) +
                          number_at(line, "/faults/metrics_failures").value_or(0);
  progress.trouble = failures > failures_ ? text_at(line, "/faults/last") : std::string();
  failures_ = failures;
}

std::string RunNews::why_silent() const {
  std::error_code none;
  if (!std::filesystem::is_directory(run_, none)) return "the run's folder is gone";
  struct statvfs disk {};
  if (::statvfs(run_.c_str(), &disk) == 0 && disk.f_blocks > 0 && disk.f_bavail == 0) {
    return "the disk is full";
  }
  return {};
}

}  // namespace pacml::apps
