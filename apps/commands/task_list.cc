#include "apps/commands/task_list.h"

#include "env/task_config.h"

namespace pacml::apps {

NameList list_of_tasks() {
  NameList list{"Tasks, by env.task of a configuration", {}};
  for (const env::TaskKind& kind : env::task_kinds()) {
    list.rows.emplace_back(kind.name, kind.description);
  }
  return list;
}

}  // namespace pacml::apps
