#include "env/gpu_cluster/gavel_speeds.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "common/read_number.h"
#include "common/result.h"
#include "env/text/json_member.h"

namespace pacml::env {
namespace {

constexpr std::string_view kSpread = "_unconsolidated";

struct Shape {
  std::string type;
  int gpus = 0;
};

// Of "('LM (batch size 5)', 1)".
std::optional<Shape> read_shape(std::string_view key) {
  constexpr std::string_view kBegin = "('";
  constexpr std::string_view kMiddle = "', ";
  const auto middle = key.rfind(kMiddle);
  if (!key.starts_with(kBegin) || !key.ends_with(")") || middle == std::string_view::npos ||
      middle <= kBegin.size()) {
    return std::nullopt;
  }
  const auto from = middle + kMiddle.size();
  const auto gpus = read_number<int>(key.substr(from, key.size() - 1 - from));
  if (!gpus || *gpus < 1) return std::nullopt;
  return Shape{std::string(key.substr(kBegin.size(), middle - kBegin.size())), *gpus};
}

Shape shape_of(const std::string& key, const JsonMember& of) {
  auto shape = read_shape(key);
  if (!shape) {
    throw UserError(of.path() + ": \"" + key +
                    "\" is no type of job and number of GPUs, ('LM', 1) say");
  }
  return *std::move(shape);
}

// How fast the job of a row is alone; 0: not measured.
double alone(const JsonMember& row) { return row.has("null") ? row["null"].number() : 0.0; }

void add_pairs(const JsonMember& row, double own_alone, nlohmann::json& shares) {
  row.for_each_key([&](const std::string& key, const JsonMember& speeds) {
    if (key == "null") return;
    const Shape beside = shape_of(key, row);
    if (beside.gpus != 1) return;
    const double own = speeds.at(0).number();
    const double other = speeds.at(1).number();
    shares[beside.type] = own > 0 && other > 0 ? own / own_alone : 0.0;
  });
}

}  // namespace

bool is_gavel_speeds(const nlohmann::json& document) {
  if (!document.is_object() || document.empty()) return false;
  const nlohmann::json& first = document.front();
  return first.is_object() && !first.empty() && read_shape(first.begin().key()).has_value();
}

nlohmann::json speed_tables_of_gavel(const JsonMember& document) {
  nlohmann::json types = nlohmann::json::object();
  nlohmann::json pairs = nlohmann::json::object();
  document.for_each_key([&](const std::string& gpu, const JsonMember& rows) {
    if (gpu.ends_with(kSpread)) return;
    const std::string spread_gpu = gpu + std::string(kSpread);
    rows.for_each_key([&](const std::string& key, const JsonMember& row) {
      const Shape shape = shape_of(key, rows);
      const double together = alone(row);
      const bool is_spread =
          document.has(spread_gpu.c_str()) && document[spread_gpu].has(key.c_str());
      const double spread = is_spread ? alone(document[spread_gpu][key]) : 0.0;
      if (together > 0 || spread > 0) {
        types[shape.type]["thr"][gpu][std::to_string(shape.gpus)] = {together, spread};
      }
      if (shape.gpus == 1 && together > 0) {
        // A type that shares its GPU with nobody has an entry too.
        auto& shared = pairs[gpu].emplace(shape.type, nlohmann::json::object()).first.value();
        add_pairs(row, together, shared);
      }
    });
  });
  return {{"types", std::move(types)}, {"pairs", std::move(pairs)}};
}

}  // namespace pacml::env
