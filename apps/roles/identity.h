#pragma once

#include <string>

#include "apps/run/train_config.h"
#include "common/serving/sessions.h"
#include "common/wire/messages.h"
#include "env/task.h"

namespace pacml::apps {

// What this machine calls itself.
[[nodiscard]] std::string host_name();

// What a process of a run says of itself to another one: its role and number, and what must agree.
// Later lives of a process have larger incarnations, also on another host, as far as clocks agree;
// where they do not, the server says which one is large enough (docs/protocol.md, Joining).
[[nodiscard]] wire::Hello make_hello(wire::Role role, ActorId id, const Agreement& agreement,
                                     const std::string& run_id);

// The same of an actor, with what it can do.
[[nodiscard]] wire::Hello make_actor_hello(const TrainConfig& config, ActorId id,
                                           const Agreement& agreement, const std::string& run_id);

// What decisions of a task look like on the wire.
[[nodiscard]] ExperienceForm form_of(const env::EnvironmentSpec& spec);

// What a server compares with it. `run_id` empty: any run is welcome.
[[nodiscard]] serving::RunIdentity make_identity(const TrainConfig& config, const env::Task& task,
                                                 const Agreement& agreement,
                                                 const std::string& run_id);

}  // namespace pacml::apps
