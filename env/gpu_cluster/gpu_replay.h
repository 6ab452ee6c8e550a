#pragma once

#include <functional>
#include <vector>

#include "env/gpu_cluster/gpu_candidates.h"
#include "env/gpu_cluster/gpu_cluster_simulator.h"
#include "env/gpu_cluster/gpu_decision.h"

namespace pacml::env {

// Runs to the end with decisions that somebody else took, each at its time, an instant of the
// schedule or not; times that are equal to within rounding (1e-9 of them) are the same. An action
// that chooses a candidate is followed by the placement. Each scheduler has its own servers, but
// where jobs are pre-empted one decides for all: where `preempts`, or where a decision does.
// UserError, one sentence: a decision that is earlier than the one before, or about a job that is
// not where it would have to be, or that nobody could take.
void run_decisions(GpuClusterSimulator& simulator, const std::vector<GpuDecision>& decisions,
                   const CandidateRules& rules,
                   const std::function<void(const GpuClusterState&)>& before_instant = nullptr,
                   bool preempts = false);

}  // namespace pacml::env
