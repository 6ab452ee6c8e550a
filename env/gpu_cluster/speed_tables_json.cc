#include "env/gpu_cluster/speed_tables_json.h"

#include <nlohmann/json.hpp>
#include <string>

#include "common/result.h"
#include "env/gpu_cluster/gavel_speeds.h"
#include "env/text/json_file.h"
#include "env/text/json_member.h"

namespace pacml::env {
namespace {

// The number of GPUs that a key of a table spells.
int size_of(const std::string& key, const JsonMember& of) {
  const bool is_number =
      !key.empty() && key.size() < 9 && key.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number) throw UserError(of.path() + ": \"" + key + "\" is no number of GPUs");
  return std::stoi(key);
}

}  // namespace

GpuSpeedTables speed_tables(const JsonMember& config) {
  GpuSpeedTables tables;
  config["types"].for_each_key([&](const std::string& name, const JsonMember& type) {
    GpuJobType& out = tables.types[name];
    if (type.has("host")) out.host_load = type["host"].number();
    type["thr"].for_each_key([&](const std::string& gpu_type, const JsonMember& sizes) {
      sizes.for_each_key([&](const std::string& size, const JsonMember& speed) {
        out.speeds[gpu_type][size_of(size, sizes)] = {speed.at(0).number(), speed.at(1).number()};
      });
    });
  });
  if (!config.has("pairs")) return tables;
  config["pairs"].for_each_key([&](const std::string& gpu_type, const JsonMember& rows) {
    rows.for_each_key([&](const std::string& a, const JsonMember& row) {
      row.for_each_key([&](const std::string& b, const JsonMember& share) {
        if (!share.value().is_null()) tables.pairs[gpu_type][a][b] = share.number();
      });
    });
  });
  return tables;
}

nlohmann::json speed_tables_document(const std::string& file) {
  nlohmann::json document = read_json_file(file);
  if (document.is_object() && document.contains("config")) return document["config"];
  if (is_gavel_speeds(document)) return speed_tables_of_gavel(JsonMember(document, file));
  return document;
}

GpuSpeedTables read_speed_tables(const std::string& file) {
  const nlohmann::json document = speed_tables_document(file);
  return speed_tables(JsonMember(document, file));
}

}  // namespace pacml::env
