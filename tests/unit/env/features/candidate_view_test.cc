#include "env/candidate_view.h"

#include <vector>

#include "tests/support/catch.h"
#include "tests/support/plain_observations.h"

namespace pacml::env {
namespace {

TEST_CASE("candidates that are sent are read as they are, the valid ones in order", "[unit][env]") {
  ObservationSpec spec = plain_spec(2, 3);
  spec.candidates.features = {{"a", "1"}, {"b", "1"}};
  const auto view = plain_view(spec);
  CHECK(view->width() == 2);
  CHECK(view->situation().size() == 2);
  CHECK(view->knows(0, GraphHash{7}));

  Observations batch(spec.shape());
  static_cast<void>(batch.append());
  const ObservationRow row = batch.append();
  row.globals[0] = 0.5F;
  row.globals[1] = 0.25F;
  for (std::size_t i = 0; i < 6; ++i) row.candidates[i] = static_cast<float>(i);
  row.mask[0] = 1;
  row.mask[2] = 1;

  const auto reader = view->make_reader();
  std::vector<float> rows(6, -1.0F);
  std::vector<float> situation(2);
  CHECK(reader->read(batch, 1, rows.data(), 3, situation.data()) == 2);
  CHECK(rows == std::vector<float>{0, 1, -1, 4, 5, -1});
  CHECK(situation == std::vector<float>{0.5F, 0.25F});
  CHECK(reader->read(batch, 1, rows.data(), 3, nullptr) == 2);
}

}  // namespace
}  // namespace pacml::env
