#include "apps/roles/replay_role.h"

#include <spdlog/spdlog.h>

#include <filesystem>
#include <optional>
#include <system_error>

#include "apps/cli/files.h"
#include "apps/process/open_files.h"
#include "apps/roles/encryption.h"
#include "apps/roles/identity.h"
#include "apps/roles/message_sizes.h"
#include "apps/roles/role_threads.h"
#include "apps/run/run_directory.h"
#include "common/log.h"
#include "common/result.h"
#include "common/scheduling.h"
#include "common/transport/router.h"
#include "common/try_again.h"
#include "env/task.h"
#include "replay/server.h"

namespace pacml::apps {

int run_replay(const TrainConfig& config, const ReplayRoleOptions& options) {
  use_batch_scheduling();
  if (!uses_replay(config.algorithm)) {
    throw UserError("algorithm: " + std::string(name_of(config.algorithm)) +
                    " uses no replay; apex does");
  }
  set_up_logging({.role = "replay-" + std::to_string(options.shard),
                  .run_id = options.run_id,
                  .level = options.log_level,
                  .file = options.log,
                  .to_stderr = options.log.empty()});
  std::optional<SnapshotLock> lock;
  if (options.snapshot) {
    std::error_code ignored;  // the next line says what is wrong
    const auto folder = std::filesystem::path(*options.snapshot).parent_path();
    std::filesystem::create_directories(folder, ignored);
    check_writable(*options.snapshot);
    lock.emplace(*options.snapshot);  // a former shard's last snapshot is the one to go on from
    if (options.run_begins && is_there(*options.snapshot)) {
      throw UserError(*options.snapshot +
                      " is there: a former run's table; remove it, or go on with that run");
    }
  }
  // Whoever started us takes a shard that gave no sign of life for one that has not begun.
  LifeLine life_line(in_seconds(config.supervision.silence_seconds),
                     in_seconds(config.supervision.stop_seconds));
  const auto endpoint = transport::Endpoint::parse(options.bind);
  const auto task = config.env.make();
  check_replay_fits(config, *task);
  raise_open_file_limit();  // each actor takes a connection
  replay::Server server(make_identity(config, *task, agreement_of(config, *task), options.run_id),
                        config.replay, Seed{static_cast<std::uint64_t>(config.seed)}, options.shard,
                        options.snapshot);
  transport::Context context(1, encryption_of(config.security, Party::kServer));
  run_role_threads({{"serve",
                     [&](const std::stop_token& stop) {
                       transport::Router router(context, endpoint, sockets_for(config, *task));
                       spdlog::info("serving actors and learners at {}", router.endpoint().str());
                       server.run(router, stop);
                     }}},
                   [&server] { server.request_snapshot(); },
                   {.http = options.http,
                    .report = [&server] { return report_of(server.board()); },
                    .silence = in_seconds(config.supervision.silence_seconds),
                    .life_line = &life_line});
  spdlog::info("{}", server.status());
  return 0;
}

}  // namespace pacml::apps
