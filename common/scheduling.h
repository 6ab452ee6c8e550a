#pragma once

namespace pacml {

// Where threads have to share cores, one that wakes up may interrupt who computes. Whoever serves
// or acts wakes up with every message and can wait for a moment; whoever learns computes all the
// time, and everybody waits for it. So the processes of a run are scheduled as a batch
// (SCHED_BATCH: of the same weight, but interrupting nobody), and the thread that learns is not.
//
// Both are about the calling thread, and about those that it starts from then on; where the system
// does not allow it, or the process was started with a policy of its own, they do nothing.
// Thread-safe.
void use_batch_scheduling();
void use_normal_scheduling();  // again, after use_batch_scheduling() in whoever started this thread

}  // namespace pacml
