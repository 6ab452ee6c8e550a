#include "apps/tensorboard/tensorboard_log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "apps/tensorboard/events.pb.h"
#include "common/config/source.h"
#include "common/read_number.h"
#include "common/result.h"

namespace pacml::apps {
namespace {

using nlohmann::json;
namespace pb = pacml::tensorboard;

double seconds_since_1970() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

constexpr std::string_view kFilePrefix = "events.out.tfevents.";

// The time in one of our files' names, in microseconds.
std::optional<std::int64_t> time_of(std::string_view name) {
  if (!name.starts_with(kFilePrefix)) return std::nullopt;
  name.remove_prefix(kFilePrefix.size());
  if (name.size() < 18 || name[10] != '.' || name[17] != '.') return std::nullopt;
  const auto seconds = read_number<std::int64_t>(name.substr(0, 10));
  const auto rest = read_number<std::int64_t>(name.substr(11, 6));
  if (!seconds || !rest) return std::nullopt;
  return *seconds * 1'000'000 + *rest;
}

// TensorBoard reads a run's files in the order of their names, whose time has ten digits until
// 2286. A new one comes after those that are there, though the clock was set back, or is another
// host's.
std::string file_name(const std::filesystem::path& folder) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  std::int64_t micros = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (const auto there = time_of(it->path().filename().string())) {
      micros = std::max(micros, *there + 1);
    }
  }
  return fmt::format("{}{:010}.{:06}.{}", kFilePrefix, micros / 1'000'000, micros % 1'000'000,
                     ::getpid());
}

// Where a line's own numbers belong; those that are not here are the algorithm's.
constexpr auto kGroups = std::to_array<std::pair<std::string_view, std::string_view>>(
    {{"decisions_per_second", "speed/decisions_per_second"},
     {"samples_per_second", "speed/samples_per_second"},
     {"updates_per_second", "speed/updates_per_second"},
     {"return", "episode/return"},
     {"queue_depth", "work/queue_depth"},
     {"window", "work/window"},
     {"in_flight", "work/in_flight"},
     {"resident_bytes", "memory/learner_bytes"},
     {"disk_free_bytes", "memory/disk_free_bytes"},
     {"decisions", ""},  // the step
     {"seconds", "count/training_seconds"},
     {"updates", "count/updates"},
     {"samples", "count/samples"},
     {"stale", "count/stale"},
     {"misfits", "count/misfits"},
     {"episodes", "count/episodes"},
     {"skipped", "count/skipped"},
     {"unfinished", "count/unfinished"},
     {"actors", "count/actors"},
     {"messages", "count/messages"},
     {"duplicates", "count/duplicates"},
     {"gaps", "count/gaps"},
     {"malformed", "count/malformed"},
     {"refused", "count/refused"},
     {"denied", "count/denied"},
     {"no_room", "count/no_room"}});

std::string tag_of(const std::string& key) {
  const auto known = std::ranges::find(kGroups, std::string_view(key),
                                       &std::pair<std::string_view, std::string_view>::first);
  return known != kGroups.end() ? std::string(known->second) : "learning/" + key;
}

class Scalars {
 public:
  void add(const std::string& tag, const json& value) {
    if (tag.empty() || !value.is_number()) return;
    const auto number = value.get<double>();
    if (std::isfinite(number)) all_.push_back({tag, number});
  }
  void add_members(const std::string& group, const json& object) {
    if (!object.is_object()) return;
    for (const auto& [key, value] : object.items()) add(group + "/" + key, value);
  }
  [[nodiscard]] std::vector<TaggedScalar> take() {
    std::ranges::stable_sort(all_, {}, &TaggedScalar::tag);
    // A task may have a metric of a name that is ours: one number a tag.
    const auto twice = std::ranges::unique(all_, {}, &TaggedScalar::tag);
    all_.erase(twice.begin(), twice.end());
    if (all_.size() > kMostTags) all_.resize(kMostTags);
    return std::move(all_);
  }

 private:
  std::vector<TaggedScalar> all_;
};

std::string encode(std::int64_t step, pb::Event event) {
  event.set_wall_time(seconds_since_1970());
  event.set_step(step);
  return event.SerializeAsString();
}

// One bucket an action, from half below its number to half above.
void fill(std::span<const std::int64_t> counts, pb::HistogramProto& histogram) {
  double number = 0;
  double sum = 0;
  double squares = 0;
  for (std::size_t a = 0; a < counts.size(); ++a) {
    const auto action = static_cast<double>(a);
    const auto times = static_cast<double>(counts[a]);
    number += times;
    sum += times * action;
    squares += times * action * action;
    if (histogram.bucket_size() == 0) {
      if (counts[a] == 0) continue;
      histogram.set_min(action);
      if (a > 0) {  // readers let the first bucket begin at its limit
        histogram.add_bucket_limit(action - 0.5);
        histogram.add_bucket(0);
      }
    }
    if (counts[a] > 0) histogram.set_max(action);
    histogram.add_bucket_limit(action + 0.5);
    histogram.add_bucket(times);
  }
  histogram.set_num(number);
  histogram.set_sum(sum);
  histogram.set_sum_squares(squares);
}

// Every setting by its dotted key, as long as it is one number, word or truth value.
void add_settings(const ConfigNode& node, const std::string& prefix,
                  google::protobuf::Map<std::string, pb::Value>& out) {
  for (const auto& [key, value] : node.entries) {
    const std::string name = prefix.empty() ? std::string(key) : prefix + "." + std::string(key);
    if (value.kind == ConfigNode::Kind::kMap) add_settings(value, name, out);
    if (value.kind != ConfigNode::Kind::kScalar) continue;
    const auto number = read_number<double>(value.text);
    if (value.text == "true" || value.text == "false") {
      out[name].set_bool_value(value.text == "true");
    } else if (number && std::isfinite(*number)) {
      out[name].set_number_value(*number);
    } else {
      out[name].set_string_value(value.text);
    }
  }
}

// A summary that speaks to the plugin of hyper-parameters.
std::string hyper_parameters(std::int64_t step, const std::string& tag,
                             pb::HParamsPluginData data) {
  pb::Event event;
  pb::Summary::Value& value = *event.mutable_summary()->add_value();
  value.set_tag(tag);
  pb::SummaryMetadata::PluginData& plugin = *value.mutable_metadata()->mutable_plugin_data();
  plugin.set_plugin_name("hparams");
  data.set_version(0);
  plugin.set_content(data.SerializeAsString());
  return encode(step, std::move(event));
}

pb::DataType type_of(const pb::Value& value) {
  if (value.kind_case() == pb::Value::kBoolValue) return pb::DATA_TYPE_BOOL;
  return value.kind_case() == pb::Value::kNumberValue ? pb::DATA_TYPE_FLOAT64
                                                      : pb::DATA_TYPE_STRING;
}

// What a file begins with.
std::deque<std::string> first_records(std::int64_t step, const std::string& settings) {
  pb::Event version;
  version.set_file_version("brain.Event:2");
  pb::Event begun;
  begun.mutable_session_log()->set_status(pb::SessionLog::START);
  pb::HParamsPluginData session;
  pb::SessionStartInfo& info = *session.mutable_session_start_info();
  info.set_start_time_secs(seconds_since_1970());
  add_settings(ConfigSource::from_text("the run's settings", settings).root(), {},
               *info.mutable_hparams());
  pb::HParamsPluginData experiment;
  for (const auto& [name, value] : info.hparams()) {
    pb::HParamInfo& described = *experiment.mutable_experiment()->add_hparam_infos();
    described.set_name(name);
    described.set_type(type_of(value));
  }
  for (const char* tag : {"evaluation/best", "evaluation/score", "evaluation/best_baseline"}) {
    experiment.mutable_experiment()->add_metric_infos()->mutable_name()->set_tag(tag);
  }
  // What a former process told of the step from which this one goes on stands.
  return {encode(0, std::move(version)), encode(step + 1, std::move(begun)),
          hyper_parameters(step, "_hparams_/experiment", std::move(experiment)),
          hyper_parameters(step, "_hparams_/session_start_info", std::move(session))};
}

}  // namespace

std::vector<TaggedScalar> scalars_of(const json& line) {
  Scalars scalars;
  if (!line.is_object()) return {};
  for (const auto& [key, value] : line.items()) {
    if (value.is_number()) scalars.add(tag_of(key), value);
  }
  for (const auto& [key, group] :
       {std::pair("policy_lag", "lag"), std::pair("episode", "episode"),
        std::pair("evaluation", "evaluation"), std::pair("replay", "replay"),
        std::pair("replicas", "replicas"), std::pair("faults", "faults")}) {
    if (line.contains(key)) scalars.add_members(group, line[key]);
  }
  const json::json_pointer baseline("/evaluation/baseline/score");
  if (line.contains(baseline)) scalars.add("evaluation/best_baseline", line[baseline]);
  return scalars.take();
}

TensorboardLog::TensorboardLog(std::filesystem::path folder, std::string settings,
                               std::int64_t step, const Clock& clock)
    : folder_(std::move(folder)),
      settings_(std::move(settings)),
      first_step_(step),
      clock_(&clock),
      begun_(clock.now()),
      next_(begun_) {
  static_cast<void>(opened());
}

bool TensorboardLog::opened() {
  if (!file_) {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);  // where it cannot, the file tells
    try {
      file_.emplace(folder_ / file_name(folder_));
    } catch (const UserError& trouble) {
      faults_.failed(trouble.what());
      return false;
    }
    first_records_ = first_records(first_step_, settings_);
  }
  // Where the disk is full they are tried again: readers make nothing of a file without them.
  while (!first_records_.empty() && append(first_records_.front())) first_records_.pop_front();
  return first_records_.empty();
}

bool TensorboardLog::append(const std::string& record) {
  const auto written = file_->append(record);
  if (written) {
    faults_.succeeded();
  } else {
    faults_.failed(written.error().detail);
  }
  return written.has_value();
}

void TensorboardLog::count(std::span<const std::int64_t> actions) {
  actions_.resize(std::max(actions_.size(), actions.size()));
  for (std::size_t a = 0; a < actions.size(); ++a) actions_[a] += actions[a];
}

void TensorboardLog::tell(std::int64_t step, const json& line) {
  if (!opened()) return;
  pb::Event event;
  pb::Summary& summary = *event.mutable_summary();
  for (const TaggedScalar& scalar : scalars_of(line)) {
    pb::Summary::Value& value = *summary.add_value();
    value.set_tag(scalar.tag);
    value.set_simple_value(static_cast<float>(scalar.value));
  }
  if (std::ranges::any_of(actions_, [](std::int64_t times) { return times > 0; })) {
    pb::Summary::Value& value = *summary.add_value();
    value.set_tag("actions");
    fill(actions_, *value.mutable_histo());
  }
  append(encode(step, std::move(event)));
  actions_.clear();
}

void TensorboardLog::write(std::int64_t step, const json& line,
                           std::span<const std::int64_t> actions) {
  count(actions);
  const TimePoint now = clock_->now();
  if (now < next_) return;
  next_ = now + (now - begun_) / 1000;
  tell(step, line);
}

void TensorboardLog::finish(std::int64_t step, const json& line,
                            std::span<const std::int64_t> actions) {
  count(actions);
  tell(step, line);
  if (!opened()) return;
  pb::HParamsPluginData data;
  data.mutable_session_end_info()->set_status(pb::STATUS_SUCCESS);
  data.mutable_session_end_info()->set_end_time_secs(seconds_since_1970());
  append(hyper_parameters(step, "_hparams_/session_end_info", std::move(data)));
}

}  // namespace pacml::apps
