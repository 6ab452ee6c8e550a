#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/launch/site.h"
#include "apps/run/train_config.h"

namespace pacml::apps {

// What is to run, wherever that is.
struct LaunchRequest {
  TrainConfig config;                     // effective: file, overrides and profiles
  std::vector<std::string> config_words;  // CONFIG and its options, as the user gave them
  std::string run;                        // folder of the run
  std::optional<std::int64_t> actors;     // absent: as many as the configuration or the hosts have
  std::optional<double> minutes;
  std::optional<std::int64_t> decisions;
  bool resume = false;
  std::string keys;  // folder of the keys; empty: in the clear
  Site site;
};

// Replay shards of the run: none where the algorithm does not replay.
[[nodiscard]] std::int64_t shards_of(const LaunchRequest& request);
[[nodiscard]] std::int64_t actors_of(const LaunchRequest& request);

// The configuration's patience for a run to stop in order, in whole seconds.
[[nodiscard]] std::int64_t stop_seconds(const LaunchRequest& request);

// What the run is called: the last part of its folder's path.
[[nodiscard]] std::string run_name(const LaunchRequest& request);

// The program on the other hosts: the site's, or this one's path.
[[nodiscard]] std::string program_of(const LaunchRequest& request);

// "--keys DIR", or nothing.
[[nodiscard]] std::vector<std::string> key_words(const LaunchRequest& request);

// "--decisions N --minutes M", as far as there are limits.
[[nodiscard]] std::vector<std::string> limit_words(const LaunchRequest& request);

// "--http HOST:PORT --http-token-file FILE", as far as the site has one: on every interface where
// there is a token, else on loopback.
[[nodiscard]] std::vector<std::string> http_words(const LaunchRequest& request);

// Roles of several hosts talk over the network: UserError, unless there are keys or the
// configuration allows to do without.
void require_keys(const LaunchRequest& request);

// UserError: the run is there and is not to be resumed, or the other way round.
void check_run_folder(const LaunchRequest& request);

}  // namespace pacml::apps
