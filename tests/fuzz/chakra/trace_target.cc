#include <cmath>
#include <sstream>
#include <string>

#include "common/check.h"
#include "common/result.h"
#include "env/chakra/read_chakra_trace.h"
#include "tests/fuzz/chakra/targets.h"

namespace pacml::fuzz {

bool chakra_trace(std::span<const std::byte> bytes) {
  std::istringstream in(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  try {
    const env::ChakraTrace trace = env::read_chakra_trace(in, "fuzz", env::zoo::a100());
    std::size_t nodes = 0;
    for (const env::ChakraKind& kind : trace.kinds) nodes += kind.nodes;
    PACML_CHECK(nodes == trace.graph.ops.size(), "each node is of a kind");
    PACML_CHECK(nodes <= bytes.size(), "and takes a byte at least");
    for (const env::OpSpec& op : trace.graph.ops) {
      PACML_CHECK(std::isfinite(op.cost_us) && op.cost_us >= 0, "a cost is one");
      PACML_CHECK(op.output_bytes.size() == 1 && op.output_bytes[0] >= 0, "a size is one");
    }
    const env::OpGraph graph(trace.graph);  // or says what is wrong with it
    return true;
  } catch (const UserError&) {
    return false;
  }
}

}  // namespace pacml::fuzz
