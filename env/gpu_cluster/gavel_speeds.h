#pragma once

#include <nlohmann/json_fwd.hpp>

namespace pacml::env {

class JsonMember;

// Tables of speeds as Gavel's authors publish them (stanford-futuredata/gavel,
// simulation_throughputs.json; Narayanan et al., OSDI 2020), in steps a second:
//
//   {"v100": {"('LM (batch size 5)', 1)": {"null": alone, "('A3C', 1)": [own, other's], ...}, ...},
//    "v100_unconsolidated": the same over servers, ...}
//
// Whether a document looks like it.
[[nodiscard]] bool is_gavel_speeds(const nlohmann::json& document);

// As an object with "types" and "pairs" (docs/gpu_cluster.md). Types keep their names, as Gavel's
// traces spell them; a speed of 0 was not measured; a pair of which one has a speed of 0 does not
// fit, and only pairs of one GPU each count: no others were measured. UserError names what is not
// as it should be.
[[nodiscard]] nlohmann::json speed_tables_of_gavel(const JsonMember& document);

}  // namespace pacml::env
