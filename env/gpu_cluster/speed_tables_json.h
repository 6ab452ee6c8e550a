#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "env/gpu_cluster/job_speeds.h"

namespace pacml::env {

class JsonMember;

// Speeds of jobs alone and in pairs as recorded schedules have them (docs/gpu_cluster.md): of an
// object with "types", and "pairs" where jobs may share. UserError names what is not as it should
// be.
[[nodiscard]] GpuSpeedTables speed_tables(const JsonMember& config);
// ... or of a file that is such an object, has one as its "config", or is a table of Gavel's
// authors (gavel_speeds.h).
[[nodiscard]] GpuSpeedTables read_speed_tables(const std::string& file);
// That object of such a file, with whatever else it holds. UserError: it cannot be read, or is no
// JSON.
[[nodiscard]] nlohmann::json speed_tables_document(const std::string& file);

}  // namespace pacml::env
