#include "learner/export/policy_safetensors.h"

#include <span>

#include "common/atomic_file.h"
#include "learner/export/reference_cases.h"
#include "learner/export/safetensors.h"
#include "model/layout.h"

namespace pacml::learner {

std::filesystem::path reference_file_of(const std::filesystem::path& file) {
  return file.string() + ".reference.json";
}

Result<void> export_safetensors(const PolicyExport& policy, const std::filesystem::path& file) {
  const model::ParameterLayout layout = model::make_layout(policy.shape);
  Safetensors out;
  for (const model::ParameterEntry& entry : layout.entries) {
    const auto values = model::view(policy.parameters, layout, entry.name);
    out.tensors.push_back({entry.name, entry.shape, {values.begin(), values.end()}});
  }
  out.metadata = export_metadata(policy);
  auto written = write_file_atomically(file, encode_safetensors(out));
  if (!written) return written;
  return write_file_atomically(reference_file_of(file), reference_cases(policy));
}

}  // namespace pacml::learner
