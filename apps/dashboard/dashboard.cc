#include "apps/dashboard/dashboard.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apps/dashboard/episode_desk.h"
#include "apps/dashboard/page.h"
#include "apps/run/run_history.h"
#include "apps/run/run_summary.h"
#include "common/heartbeat.h"
#include "common/json_text.h"
#include "common/read_number.h"
#include "common/result.h"

namespace pacml::apps {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kPrefix = "/dashboard/";
constexpr std::string_view kOtherRun = "run:";

HttpReply as_json(const Json& value, unsigned status = 200) {
  return {status, "application/json", json_text(value) + "\n"};
}

HttpReply trouble(unsigned status, const std::string& sentence) {
  return as_json({{"error", sentence}}, status);
}

// "3" of "3/4", which becomes "4".
std::string next_part(std::string& path) {
  const auto slash = std::min(path.find('/'), path.size());
  std::string part = path.substr(0, slash);
  path.erase(0, std::min(slash + 1, path.size()));
  return part;
}

std::optional<std::int64_t> whole_number(const std::string& text) {
  const auto value = read_number<std::int64_t>(text);
  if (!value || *value < 0 || *value > std::int64_t{1} << 53) return std::nullopt;
  return value;
}

// The bytes that a part of a path stands for: "go right" of "go%20right". nullopt: a '%' without
// two hexadecimal digits.
std::optional<std::string> percent_decoded(std::string_view part) {
  std::string bytes;
  while (!part.empty()) {
    if (part.front() != '%') {
      bytes += part.front();
      part.remove_prefix(1);
      continue;
    }
    if (part.size() < 3) return std::nullopt;
    const char* const digits = part.data() + 1;
    unsigned char byte = 0;
    if (std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) return std::nullopt;
    bytes += static_cast<char>(byte);
    part.remove_prefix(3);
  }
  return bytes;
}

// Six digits, which is more than a chart shows: a third of the bytes.
Json rounded(double value) {
  if (!std::isfinite(value)) return nullptr;
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return std::strtod(text, nullptr);
}

}  // namespace

struct Dashboard::Watched {
  explicit Watched(std::filesystem::path folder)
      : path(std::move(folder)), history(path / "metrics.jsonl") {}
  std::filesystem::path path;
  RunHistory history;
};

struct Dashboard::Desk {
  EpisodeDesk desk;
};

Dashboard::Dashboard(std::vector<std::filesystem::path> runs) : desk_(std::make_unique<Desk>()) {
  for (auto& run : runs) runs_.push_back(std::make_unique<Watched>(std::move(run)));
}

Dashboard::~Dashboard() = default;

FurtherPages Dashboard::pages() {
  return {.for_anybody = [](const std::string& path) -> std::optional<HttpReply> {
            if (path != "/") return std::nullopt;
            return HttpReply{200, "text/html; charset=utf-8", std::string(dashboard_page())};
          },
          .for_readers = [this](const std::string& path) { return answer(path); },
          .names = "/, "};
}

std::optional<HttpReply> Dashboard::answer(const std::string& path) {
  if (!path.starts_with(kPrefix)) return std::nullopt;
  const Rest disk;  // that of the runs takes the time that it takes
  std::string rest = path.substr(kPrefix.size());
  const std::string page = next_part(rest);
  if (page == "runs" && rest.empty()) return runs();
  const auto number = whole_number(next_part(rest));
  if (!number || static_cast<std::size_t>(*number) >= runs_.size()) return std::nullopt;
  Watched& run = *runs_[static_cast<std::size_t>(*number)];
  if (page == "curves" && rest.empty()) return curves(run);
  if (page == "episodes") return episode(run, rest);
  return std::nullopt;
}

HttpReply Dashboard::runs() {
  Json list = Json::array();
  for (const auto& run : runs_) {
    Json entry;
    try {
      const RunSummary summary = summarise_run(run->path);
      entry = {{"name", summary.name},           {"path", summary.path.string()},
               {"state", spell(summary.state)},  {"task", summary.task},
               {"algorithm", summary.algorithm}, {"seed", summary.seed}};
      if (summary.since_news) entry["silent_seconds"] = summary.since_news->count();
      entry["settings"] = Json::array();
      for (const auto& [key, here, there] : summary.settings) {
        entry["settings"].push_back({key, here, there});
      }
      entry["notes"] = summary.notes;
    } catch (const UserError& error) {
      entry = {{"name", run->path.filename().string()},
               {"path", run->path.string()},
               {"state", "no run"},
               {"settings", Json::array()},
               {"notes", Json::array({error.what()})}};
    }
    static_cast<void>(run->history.read());
    entry["newest"] = run->history.newest();
    // Where somebody writes, a line that is cut is one that is under way.
    const bool is_cut = run->history.is_cut() && entry["state"] != "training";
    for (auto& sentence : what_is_wrong(run->history.broken(), is_cut)) {
      entry["notes"].push_back(std::move(sentence));
    }
    list.push_back(std::move(entry));
  }
  return as_json(list);
}

HttpReply Dashboard::curves(Watched& run) {
  const bool more = run.history.read();
  const RunHistory::Curves curves = run.history.curves();
  Json columns = Json::object();
  for (const auto& [name, values] : curves.columns) {
    Json column = Json::array();
    for (const double value : values) column.push_back(rounded(value));
    columns[name] = std::move(column);
  }
  return as_json({{"rows", curves.rows}, {"more", more}, {"columns", std::move(columns)}});
}

HttpReply Dashboard::episode(const Watched& run, const std::string& rest) {
  std::string left = rest;
  const auto number = whole_number(next_part(left));
  if (!number) return trouble(404, "an episode has a number, 0 or above");
  EpisodeRequest request{run.path, *number};
  if (left.starts_with(kOtherRun)) {
    const auto other = whole_number(left.substr(kOtherRun.size()));
    if (!other || static_cast<std::size_t>(*other) >= runs_.size()) {
      return trouble(404, "there is no such run");
    }
    request.other = runs_[static_cast<std::size_t>(*other)]->path;
  } else {
    auto baseline = percent_decoded(left);
    if (!baseline) return trouble(404, "there is no such baseline");
    request.baseline = *std::move(baseline);
  }
  const auto answer = desk_->desk.ask(request);
  switch (answer.state) {
    case EpisodeDesk::Answer::State::kPlaying:
      return as_json({{"playing", true}}, 202);
    case EpisodeDesk::Answer::State::kBusy:
      return as_json({{"playing", false}}, 202);
    case EpisodeDesk::Answer::State::kFailed:
      return trouble(409, *answer.text);
    case EpisodeDesk::Answer::State::kReady:
      break;
  }
  return {200, "application/json", *answer.text};
}

}  // namespace pacml::apps
