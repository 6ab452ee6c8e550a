#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

#include "model/fused_policy.h"
#include "tests/support/catch.h"
#include "tests/support/random_network.h"

namespace {
std::size_t allocations = 0;

void* counted(std::size_t size, std::size_t alignment) {
  ++allocations;
  // aligned_alloc wants whole multiples of the alignment.
  void* p = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
}  // namespace

void* operator new(std::size_t size) { return counted(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
// The standard library's temporary buffers use this form; it must match the delete below.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace pacml::model {
namespace {

TEST_CASE("evaluate allocates nothing once it has seen a batch size") {
  const NetworkShape shape = published_shape();
  Rng rng(Seed{1});
  const std::vector graphs{random_graph(rng, shape, 30, 40), random_graph(rng, shape, 50, 60)};
  const auto policy = make_fused_policy(shape);
  policy->set_graphs(graphs);
  const env::ObservationBatch large = random_batch(rng, shape, 64, graphs.size());
  const env::ObservationBatch small = random_batch(rng, shape, 3, graphs.size());
  PolicyOutput out;
  policy->set_parameters(random_parameters(shape, Seed{1}));
  policy->evaluate(large, out);
  policy->set_parameters(random_parameters(shape, Seed{2}));

  const std::size_t before = allocations;
  policy->evaluate(large, out);  // embeds the graphs again
  policy->evaluate(small, out);
  policy->evaluate(large, out);
  const std::size_t after = allocations;
  CHECK(after == before);
  CHECK(before > 0);
}

}  // namespace
}  // namespace pacml::model
