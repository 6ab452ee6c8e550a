#include "apps/decide/decision_request.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/json_text.h"
#include "common/text.h"

namespace pacml::apps {
namespace {

using nlohmann::json;
using Kind = DecisionRequest::Kind;

// Where the clock still tells a thousandth from the next.
constexpr double kMostTime = 1e12;
constexpr double kMostLimit = 1e9;
constexpr std::size_t kMostRunning = 4096;

struct KindKeys {
  std::string_view name;
  Kind kind;
  std::array<std::string_view, 6> keys;  // besides "type"; the rest is empty
};
constexpr std::array<KindKeys, 5> kKinds = {{
    {"describe", Kind::kDescribe, {}},
    {"arrive", Kind::kArrive, {"id", "time", "model", "limit", "steps", "running"}},
    {"ask", Kind::kAsk, {"id", "time", "model", "limit", "steps", "running"}},
    {"finish", Kind::kFinish, {"id", "time"}},
    {"cluster", Kind::kCluster, {"time", "running"}},
}};

Result<double> number_of(const json& value, const std::string& key, double least, double most) {
  if (value.is_number()) {
    const double number = value.get<double>();
    if (number >= least && number <= most) return number;
  }
  const auto text = [](double bound) { return json_text(json(bound)); };
  return wrong(key + ": must be a number in " + text(least) + " .. " + text(most));
}

Result<std::string> name_of(const json& value, const std::string& key) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (!text.empty() && text.size() <= kLongestJobName) return text;
  }
  return wrong(key + ": must be a text of 1 .. " + std::to_string(kLongestJobName) + " bytes");
}

// A number is a share of the sequential time; {"time": T} is a time.
Result<void> read_limit(const json& value, DecisionRequest& out) {
  constexpr double kLeast = std::numeric_limits<double>::min();
  if (value.is_object() && value.size() == 1 && value.contains("time")) {
    auto time = number_of(value["time"], "limit.time", kLeast, kMostTime);
    if (!time) return tl::unexpected(time.error());
    out.limit_time = *time;
    return {};
  }
  if (!value.is_number()) {
    return wrong("limit: must be a share of the sequential time, or {\"time\": T}");
  }
  auto limit = number_of(value, "limit", kLeast, kMostLimit);
  if (!limit) return tl::unexpected(limit.error());
  out.limit = *limit;
  return {};
}

Result<RunningJob> read_running(const json& value, const std::string& key) {
  if (!value.is_object() || !value.contains("id") || !value.contains("servers") ||
      !value.contains("until") || value.size() != 3) {
    return wrong(key + R"(: must be {"id": .., "servers": [..], "until": ..})");
  }
  auto id = name_of(value["id"], key + ".id");
  if (!id) return tl::unexpected(id.error());
  auto until = number_of(value["until"], key + ".until", 0, 2 * kMostTime);
  if (!until) return tl::unexpected(until.error());
  RunningJob out{*std::move(id), {}, *until};
  const json& servers = value["servers"];
  if (!servers.is_array() || servers.empty()) {
    return wrong(key + ".servers: must be a list of the numbers of its servers");
  }
  for (const json& server : servers) {
    if (!server.is_number_unsigned() || server.get<std::uint64_t>() > 1U << 20U) {
      return wrong(key + ".servers: must be a list of the numbers of its servers");
    }
    out.servers.push_back(server.get<int>());
  }
  return out;
}

Result<void> read_running(const json& value, DecisionRequest& out) {
  if (!value.is_array() || value.size() > kMostRunning) {
    return wrong("running: must be a list of at most " + std::to_string(kMostRunning) + " jobs");
  }
  auto& running = out.running.emplace();
  for (std::size_t i = 0; i < value.size(); ++i) {
    auto job = read_running(value[i], "running[" + std::to_string(i) + "]");
    if (!job) return tl::unexpected(job.error());
    running.push_back(*std::move(job));
  }
  return {};
}

Result<void> read_key(const std::string& key, const json& value, DecisionRequest& out) {
  if (key == "limit") return read_limit(value, out);
  if (key == "running") return read_running(value, out);
  if (key == "time") {
    auto time = number_of(value, key, 0, kMostTime);
    if (!time) return tl::unexpected(time.error());
    out.time = *time;
  } else if (key == "steps") {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > 1'000'000'000) {
      return wrong("steps: must be a number of training steps");
    }
    out.steps = value.get<std::int64_t>();
  } else {
    auto name = name_of(value, key);
    if (!name) return tl::unexpected(name.error());
    (key == "id" ? out.id : out.model) = *std::move(name);
  }
  return {};
}

Result<void> check_complete(const KindKeys& kind, const json& object) {
  for (const std::string_view key : {"id", "model", "limit"}) {
    const bool needed = std::ranges::find(kind.keys, key) != kind.keys.end();
    if (needed && !object.contains(std::string(key))) {
      return wrong(std::string(kind.name) + ": needs \"" + std::string(key) + "\"");
    }
  }
  if (kind.kind == Kind::kCluster && !object.contains("running")) {
    return wrong("cluster: needs \"running\"");
  }
  return {};
}

}  // namespace

Result<DecisionRequest> parse_decision_request(std::string_view line, std::string* id) {
  constexpr std::size_t kMostSaid = 200;  // of what the parser says, which quotes the line
  const auto document = parse_json_text(line);
  if (!document && document.error().code == Errc::kOverLimit) return wrong(document.error().detail);
  if (!document) {
    return wrong("a request is one JSON object a line: " +
                 document.error().detail.substr(0, kMostSaid));
  }
  if (!document->is_object()) return wrong("a request is one JSON object a line");
  const json& object = *document;
  if (id != nullptr && object.contains("id")) {
    if (auto name = name_of(object["id"], "id")) *id = *std::move(name);
  }
  const auto type = object.find("type");
  if (type == object.end() || !type->is_string()) {
    return wrong("type: must be describe, arrive, ask, finish or cluster");
  }
  const auto& name = type->get_ref<const std::string&>();
  const auto* const kind = std::ranges::find(kKinds, std::string_view(name), &KindKeys::name);
  if (kind == kKinds.end()) {
    return wrong("type: must be describe, arrive, ask, finish or cluster");
  }
  DecisionRequest out;
  out.kind = kind->kind;
  for (const auto& [key, value] : object.items()) {
    if (key == "type") continue;
    if (key == "schema") {
      if (value == kDecisionSchema) continue;
      return wrong("schema: this is " + std::to_string(kDecisionSchema));
    }
    if (std::ranges::find(kind->keys, std::string_view(key)) == kind->keys.end() || key.empty()) {
      std::vector<std::string> known = {"type", "schema"};
      for (const auto& word : kind->keys) {
        if (!word.empty()) known.emplace_back(word);
      }
      const std::string shown = key.substr(0, 64);
      return wrong(name + ": there is no such key as \"" + shown + "\"" +
                   did_you_mean(shown, known));
    }
    if (auto read = read_key(key, value, out); !read) return tl::unexpected(read.error());
  }
  if (auto complete = check_complete(*kind, object); !complete) {
    return tl::unexpected(complete.error());
  }
  return out;
}

}  // namespace pacml::apps
