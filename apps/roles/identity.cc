#include "apps/roles/identity.h"

#include <unistd.h>

#include <array>
#include <chrono>

#include "apps/roles/message_sizes.h"
#include "common/config/dump.h"

namespace pacml::apps {

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "?";
}

wire::Hello make_hello(wire::Role role, ActorId id, const Agreement& agreement,
                       const std::string& run_id) {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  wire::Hello hello;
  hello.role = role;
  hello.actor = id;
  hello.incarnation = Incarnation{static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(since_epoch).count())};
  hello.config_hash = config_hash(agreement);
  hello.config_text = dump_config(agreement);
  hello.run_id = run_id;
  hello.host = host_name();
  hello.pid = static_cast<std::uint32_t>(getpid());
  return hello;
}

wire::Hello make_actor_hello(const TrainConfig& config, ActorId id, const Agreement& agreement,
                             const std::string& run_id) {
  auto hello = make_hello(wire::Role::kActor, id, agreement, run_id);
  hello.unroll_length = static_cast<std::uint32_t>(config.actor.unroll_length);
  hello.most_unrolls = static_cast<std::uint32_t>(config.actor.environments);
  return hello;
}

ExperienceForm form_of(const env::EnvironmentSpec& spec) {
  ExperienceForm form{.shape = spec.observation.shape(), .graphs = {}};
  for (const auto& graph : spec.graphs) {
    form.graphs.emplace(graph->hash, static_cast<std::uint32_t>(graph->num_nodes));
  }
  return form;
}

serving::RunIdentity make_identity(const TrainConfig& config, const env::Task& task,
                                   const Agreement& agreement, const std::string& run_id) {
  serving::RunIdentity identity;
  identity.run_id = run_id;
  identity.run_seed = Seed{static_cast<std::uint64_t>(config.seed)};
  identity.config_hash = config_hash(agreement);
  identity.config_text = dump_config(agreement);
  identity.max_policy_lag = static_cast<std::uint64_t>(update_size_of(config).max_policy_lag);
  identity.room = room_for(config, task);
  identity.form = form_of(task.spec());
  return identity;
}

}  // namespace pacml::apps
