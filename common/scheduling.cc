#include "common/scheduling.h"

#include <sched.h>

#include <atomic>

namespace pacml {
namespace {

std::atomic<bool> is_ours{false};  // the policy, where it is SCHED_BATCH

void set_policy(int policy) {
  const sched_param none{};
  ::sched_setscheduler(0, policy, &none);
}

}  // namespace

void use_batch_scheduling() {
  if (::sched_getscheduler(0) != SCHED_OTHER) return;
  set_policy(SCHED_BATCH);
  is_ours = true;
}

void use_normal_scheduling() {
  if (is_ours && ::sched_getscheduler(0) == SCHED_BATCH) set_policy(SCHED_OTHER);
}

}  // namespace pacml
