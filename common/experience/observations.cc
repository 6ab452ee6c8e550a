#include "common/experience/observations.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "common/check.h"
#include "common/finite.h"

namespace pacml {
namespace {

// So many more elements, zero, at the end of a column.
template <class T>
std::span<T> grow(std::vector<T>& column, std::size_t count) {
  if (count == 0) return {};
  const std::size_t at = column.size();
  column.resize(at + count);
  return {column.data() + at, count};
}

template <class T>
void extend(std::vector<T>& column, const std::vector<T>& from, std::size_t begin,
            std::size_t count) {
  const auto first = from.begin() + static_cast<std::ptrdiff_t>(begin);
  column.insert(column.end(), first, first + static_cast<std::ptrdiff_t>(count));
}

// Ends of parts that follow what is there.
std::uint32_t end_of(std::size_t values) {
  PACML_CHECK(values <= std::numeric_limits<std::uint32_t>::max(),
              "rows that are together have fewer than 2^32 values");
  return static_cast<std::uint32_t>(values);
}

void append_ends(std::vector<std::uint32_t>& ends, std::size_t there,
                 std::span<const std::uint32_t> from, std::size_t begin_of_from) {
  for (const std::uint32_t end : from) {
    ends.push_back(end_of(there + end - begin_of_from));
  }
}

template <class T>
void pack(std::span<const T> values, Bytes& out) {
  const auto bytes = std::as_bytes(values);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

// Takes so many values off the front, to the end of a column. Pre: they are there.
template <class T>
void unpack(std::span<const std::byte>& from, std::vector<T>& column, std::size_t count) {
  const auto into = grow(column, count);
  if (count == 0) return;
  std::memcpy(into.data(), from.data(), into.size_bytes());
  from = from.subspan(into.size_bytes());
}

std::uint32_t peek_u32(std::span<const std::byte> from) {
  std::uint32_t value = 0;
  std::memcpy(&value, from.data(), sizeof(value));
  return value;
}

tl::unexpected<Error> corrupt_observations(const char* what) {
  return fail(Errc::kCorruptFrame, std::string("observations: ") + what);
}

template <class T>
bool all_below(const std::vector<T>& values, std::size_t end) {
  return std::ranges::all_of(values, [end](T value) { return value < end; });
}

}  // namespace

std::uint64_t column_bytes(const ObservationShape& shape, const ObservationCounts& counts) {
  // A row's columns, but for what the numbers of its nodes and candidates decide.
  std::uint64_t row = std::uint64_t{shape.globals} * sizeof(float);
  for (const auto& slot : shape.slots) {
    row += sizeof(std::uint16_t) + (slot.focus ? sizeof(std::uint32_t) : 0) +
           (slot.dynamic_width > 0 ? sizeof(std::uint32_t) : 0);
  }
  if (shape.candidates_vary) row += sizeof(std::uint32_t);
  if (shape.agents > 1) row += sizeof(std::uint16_t);
  const std::uint64_t candidate = std::uint64_t{shape.candidate_width} * sizeof(float) +
                                  (shape.candidates_name_nodes ? sizeof(std::uint32_t) : 0) +
                                  sizeof(std::uint8_t);
  return counts.graphs * sizeof(GraphHash) + counts.rows * row +
         counts.node_values * sizeof(float) + counts.candidates * candidate;
}

Observations::Observations(ObservationShape shape, std::size_t rows)
    : Observations(std::move(shape), ObservationCounts{rows, 0, 0, 0}) {
  PACML_CHECK(shape_.rectangular(), "rows without lengths are all alike");
  mask_.resize(rows * shape_.candidates);
  candidates_.resize(mask_.size() * shape_.candidate_width);
  if (shape_.candidates_name_nodes) candidate_nodes_.resize(mask_.size());
}

Observations::Observations(ObservationShape shape, const ObservationCounts& counts)
    : shape_(std::move(shape)), rows_(counts.rows), graphs_(counts.graphs) {
  const Widths w = widths();
  graph_.resize(rows_ * w.slots);
  focus_.resize(rows_ * w.focuses);
  node_end_.resize(rows_ * w.dynamic);
  node_features_.resize(counts.node_values);
  globals_.resize(rows_ * shape_.globals);
  if (shape_.candidates_vary) candidate_end_.resize(rows_);
  candidates_.resize(counts.candidates * shape_.candidate_width);
  if (shape_.candidates_name_nodes) candidate_nodes_.resize(counts.candidates);
  mask_.resize(counts.candidates);
  if (shape_.agents > 1) agent_.resize(rows_);
}

Observations::Widths Observations::widths() const {
  Widths w;
  w.slots = shape_.slots.size();
  for (const auto& slot : shape_.slots) {
    w.focuses += slot.focus ? 1 : 0;
    w.dynamic += slot.dynamic_width > 0 ? 1 : 0;
  }
  return w;
}

ObservationCounts Observations::counts() const {
  return {rows_, graphs_.size(), node_features_.size(), mask_.size()};
}

void Observations::restart_as(const Observations& other) {
  if (shape() != other.shape()) *this = Observations(other.shape());
  clear();
  set_graphs(other.graphs());
}

void Observations::clear() {
  rows_ = 0;
  graph_.clear();
  focus_.clear();
  node_end_.clear();
  node_features_.clear();
  globals_.clear();
  candidate_end_.clear();
  candidates_.clear();
  candidate_nodes_.clear();
  mask_.clear();
  agent_.clear();
}

void Observations::reserve(std::size_t rows) {
  const Widths w = widths();
  graph_.reserve(rows * w.slots);
  focus_.reserve(rows * w.focuses);
  node_end_.reserve(rows * w.dynamic);
  globals_.reserve(rows * shape_.globals);
  if (shape_.candidates_vary) candidate_end_.reserve(rows);
  mask_.reserve(rows * shape_.candidates);
  candidates_.reserve(rows * shape_.candidates * shape_.candidate_width);
  if (shape_.candidates_name_nodes) candidate_nodes_.reserve(rows * shape_.candidates);
  if (shape_.agents > 1) agent_.reserve(rows);
}

ObservationRow Observations::append(const RowLengths& lengths) {
  const Widths w = widths();
  std::size_t candidates = shape_.candidates;
  if (shape_.candidates_vary) {
    candidates = lengths.candidates;
    PACML_CHECK(candidates >= 1 && candidates <= shape_.candidates,
                "a row has from one candidate to as many as its shape allows");
    candidate_end_.push_back(static_cast<std::uint32_t>(mask_.size() + candidates));
  }
  ObservationRow row;
  if (w.dynamic > 0) {
    PACML_CHECK(lengths.nodes.size() == w.dynamic, "the nodes of every graph that changes");
    const std::size_t begin = node_features_.size();
    std::size_t end = begin;
    const std::uint32_t* nodes = lengths.nodes.data();
    for (const auto& slot : shape_.slots) {
      if (slot.dynamic_width == 0) continue;
      end += std::size_t{*nodes++} * slot.dynamic_width;
      node_end_.push_back(end_of(end));
    }
    row.node_features = grow(node_features_, end - begin);
  }
  ++rows_;
  row.graph = grow(graph_, w.slots);
  row.focus = grow(focus_, w.focuses);
  row.globals = grow(globals_, shape_.globals);
  row.mask = grow(mask_, candidates);
  row.candidates = grow(candidates_, candidates * shape_.candidate_width);
  if (shape_.candidates_name_nodes) row.candidate_nodes = grow(candidate_nodes_, candidates);
  if (shape_.agents > 1) row.agent = grow(agent_, 1);
  return row;
}

void Observations::pop_row() {
  PACML_CHECK(rows_ > 0, "there is a row to take off");
  const Widths w = widths();
  const std::size_t candidates = num_candidates(--rows_);
  const auto drop = [](auto& column, std::size_t count) { column.resize(column.size() - count); };
  if (w.dynamic > 0) {
    node_features_.resize(first_node_value(rows_, w.dynamic));
    drop(node_end_, w.dynamic);
  }
  drop(graph_, w.slots);
  drop(focus_, w.focuses);
  drop(globals_, shape_.globals);
  drop(mask_, candidates);
  drop(candidates_, candidates * shape_.candidate_width);
  if (shape_.candidates_vary) candidate_end_.pop_back();
  if (shape_.candidates_name_nodes) drop(candidate_nodes_, candidates);
  if (shape_.agents > 1) drop(agent_, 1);
}

void Observations::append_columns(const Observations& other, std::size_t begin, std::size_t count) {
  PACML_CHECK(shape_ == other.shape_, "rows of one store are of one shape");
  PACML_CHECK(begin + count <= other.rows_, "rows that the other store has");
  const Widths w = widths();
  extend(focus_, other.focus_, begin * w.focuses, count * w.focuses);
  extend(globals_, other.globals_, begin * shape_.globals, count * shape_.globals);
  if (w.dynamic > 0) {
    const std::size_t first = other.first_node_value(begin, w.dynamic);
    const std::size_t last = other.first_node_value(begin + count, w.dynamic);
    append_ends(node_end_, node_features_.size(),
                std::span(other.node_end_).subspan(begin * w.dynamic, count * w.dynamic), first);
    extend(node_features_, other.node_features_, first, last - first);
  }
  const std::size_t first = other.first_candidate(begin);
  const std::size_t candidates = other.first_candidate(begin + count) - first;
  if (shape_.candidates_vary) {
    append_ends(candidate_end_, mask_.size(), std::span(other.candidate_end_).subspan(begin, count),
                first);
  }
  extend(candidates_, other.candidates_, first * shape_.candidate_width,
         candidates * shape_.candidate_width);
  if (shape_.candidates_name_nodes) {
    extend(candidate_nodes_, other.candidate_nodes_, first, candidates);
  }
  extend(mask_, other.mask_, first, candidates);
  if (shape_.agents > 1) extend(agent_, other.agent_, begin, count);
  rows_ += count;
}

void Observations::append_rows(const Observations& other, std::size_t begin, std::size_t count) {
  const std::size_t slots = shape_.slots.size();
  if (rows_ == 0 && graphs_.empty()) graphs_ = other.graphs_;
  if (graphs_ == other.graphs_) {
    append_columns(other, begin, count);
    extend(graph_, other.graph_, begin * slots, count * slots);
    return;
  }
  std::vector<std::uint16_t> graph_index;
  for (const GraphHash hash : other.graphs_) {
    const auto found = std::ranges::find(graphs_, hash);
    PACML_CHECK(found - graphs_.begin() <= std::numeric_limits<std::uint16_t>::max(),
                "a list of graphs that an index can reach");
    graph_index.push_back(static_cast<std::uint16_t>(found - graphs_.begin()));
    if (found == graphs_.end()) graphs_.push_back(hash);
  }
  append_rows(other, begin, count, graph_index);
}

void Observations::append_rows(const Observations& other, std::size_t begin, std::size_t count,
                               std::span<const std::uint16_t> graph_index) {
  const std::size_t slots = shape_.slots.size();
  append_columns(other, begin, count);
  std::ranges::transform(std::span(other.graph_).subspan(begin * slots, count * slots),
                         grow(graph_, count * slots).begin(),
                         [&](std::uint16_t graph) { return graph_index[graph]; });
}

std::span<const std::uint8_t> Observations::padded_masks(std::vector<std::uint8_t>& scratch) const {
  if (!shape_.candidates_vary) return mask_;
  scratch.assign(rows_ * shape_.candidates, 0);
  for (std::size_t b = 0; b < rows_; ++b) {
    std::ranges::copy(mask(b),
                      scratch.begin() + static_cast<std::ptrdiff_t>(b * shape_.candidates));
  }
  return scratch;
}

void Observations::pack_row(std::size_t b, std::span<const std::uint16_t> graph_index,
                            Bytes& out) const {
  const Widths w = widths();
  for (std::size_t slot = 0; slot < w.slots; ++slot) {
    const std::uint16_t index = graph_index[graph(b, slot)];
    pack(std::span(&index, 1), out);
  }
  if (shape_.candidates_vary) {
    const auto count = static_cast<std::uint32_t>(num_candidates(b));
    pack(std::span(&count, 1), out);
  }
  if (w.dynamic > 0) {
    const std::size_t begin = first_node_value(b, w.dynamic);
    std::size_t part = begin;
    for (std::size_t d = b * w.dynamic; d < (b + 1) * w.dynamic; ++d) {
      const auto length = static_cast<std::uint32_t>(node_end_[d] - part);
      pack(std::span(&length, 1), out);
      part = node_end_[d];
    }
    pack(std::span(node_features_).subspan(begin, part - begin), out);
  }
  pack(std::span(focus_).subspan(b * w.focuses, w.focuses), out);
  pack(globals(b), out);
  pack(candidates(b), out);
  pack(candidate_nodes(b), out);
  pack(mask(b), out);
  if (shape_.agents > 1) pack(std::span(agent_).subspan(b, 1), out);
}

bool Observations::append_packed(std::span<const std::byte>& packed) {
  const Widths w = widths();
  // Everything is measured before anything is taken.
  std::size_t size = w.slots * sizeof(std::uint16_t) + w.focuses * sizeof(std::uint32_t) +
                     shape_.globals * sizeof(float) +
                     (shape_.agents > 1 ? sizeof(std::uint16_t) : 0);
  std::size_t at = w.slots * sizeof(std::uint16_t);  // of the next length
  std::size_t candidates = shape_.candidates;
  const auto next_length = [&]() -> std::size_t {
    const std::size_t end = at + sizeof(std::uint32_t);
    if (packed.size() < end) return std::numeric_limits<std::uint32_t>::max();
    const std::size_t length = peek_u32(packed.subspan(at));
    at = end;
    size += sizeof(std::uint32_t);
    return length;
  };
  if (shape_.candidates_vary) {
    candidates = next_length();
    if (candidates == 0 || candidates > shape_.candidates) return false;
  }
  const std::size_t lengths_at = at;
  std::size_t node_values = 0;
  for (const auto& slot : shape_.slots) {
    if (slot.dynamic_width == 0) continue;
    const std::size_t length = next_length();
    if (length % slot.dynamic_width != 0) return false;
    node_values += length;
  }
  size += node_values * sizeof(float) +
          candidates * (shape_.candidate_width * sizeof(float) + sizeof(std::uint8_t) +
                        (shape_.candidates_name_nodes ? sizeof(std::uint32_t) : 0));
  if (packed.size() < size) return false;

  auto graph_part = packed;
  unpack(graph_part, graph_, w.slots);
  if (shape_.candidates_vary) {
    candidate_end_.push_back(static_cast<std::uint32_t>(mask_.size() + candidates));
  }
  std::size_t node_end = node_features_.size();
  for (std::size_t d = 0; d < w.dynamic; ++d) {
    node_end += peek_u32(packed.subspan(lengths_at + d * sizeof(std::uint32_t)));
    node_end_.push_back(end_of(node_end));
  }
  auto rest = packed.subspan(at);
  unpack(rest, node_features_, node_values);
  unpack(rest, focus_, w.focuses);
  unpack(rest, globals_, shape_.globals);
  unpack(rest, candidates_, candidates * shape_.candidate_width);
  if (shape_.candidates_name_nodes) unpack(rest, candidate_nodes_, candidates);
  unpack(rest, mask_, candidates);
  if (shape_.agents > 1) unpack(rest, agent_, 1);
  packed = rest;
  ++rows_;
  return true;
}

ObservationRow Observations::row(std::size_t b) {
  const Widths w = widths();
  const std::size_t first = first_candidate(b);
  const std::size_t count = num_candidates(b);
  ObservationRow row;
  row.graph = std::span(graph_).subspan(b * w.slots, w.slots);
  row.focus = std::span(focus_).subspan(b * w.focuses, w.focuses);
  row.globals = std::span(globals_).subspan(b * shape_.globals, shape_.globals);
  row.mask = std::span(mask_).subspan(first, count);
  row.candidates = std::span(candidates_)
                       .subspan(first * shape_.candidate_width, count * shape_.candidate_width);
  if (shape_.candidates_name_nodes) {
    row.candidate_nodes = std::span(candidate_nodes_).subspan(first, count);
  }
  if (w.dynamic > 0) {
    const std::size_t begin = first_node_value(b, w.dynamic);
    row.node_features =
        std::span(node_features_).subspan(begin, first_node_value(b + 1, w.dynamic) - begin);
  }
  if (shape_.agents > 1) row.agent = std::span(agent_).subspan(b, 1);
  return row;
}

std::span<const float> Observations::candidates(std::size_t b) const {
  return std::span(candidates_)
      .subspan(first_candidate(b) * shape_.candidate_width,
               num_candidates(b) * shape_.candidate_width);
}

std::span<const std::uint32_t> Observations::candidate_nodes(std::size_t b) const {
  if (!shape_.candidates_name_nodes) return {};
  return std::span(candidate_nodes_).subspan(first_candidate(b), num_candidates(b));
}

std::span<const float> Observations::node_features(std::size_t b, std::size_t slot) const {
  if (shape_.slots[slot].dynamic_width == 0) return {};
  std::size_t part = b * widths().dynamic;
  for (std::size_t s = 0; s < slot; ++s) part += shape_.slots[s].dynamic_width > 0 ? 1 : 0;
  const std::size_t begin = part == 0 ? 0 : node_end_[part - 1];
  return std::span(node_features_).subspan(begin, node_end_[part] - begin);
}

std::uint32_t Observations::focus(std::size_t b, std::size_t slot) const {
  PACML_CHECK(shape_.slots[slot].focus, "a slot with a focus");
  std::size_t at = b * widths().focuses;
  for (std::size_t s = 0; s < slot; ++s) at += shape_.slots[s].focus ? 1 : 0;
  return focus_[at];
}

Result<void> validate(const Observations& o, const ObservationLimits& limits) {
  const ObservationShape& shape = o.shape_;
  if (auto problem = beyond(shape, limits)) {
    return fail(Errc::kOverLimit, "observations: " + *problem);
  }
  if (o.rows_ > limits.max_rows || o.graphs_.size() > limits.max_graphs ||
      o.node_features_.size() > limits.max_values || o.candidates_.size() > limits.max_values) {
    return fail(Errc::kOverLimit, "observations: larger than the limits allow");
  }
  if (shape.slots.empty() || shape.candidates == 0 || shape.agents == 0) {
    return corrupt_observations("a decision shows at least one graph and one candidate");
  }
  // Where rows begin and end, before anything is looked up by it.
  if (shape.candidates_vary) {
    std::size_t begin = 0;
    for (const std::uint32_t end : o.candidate_end_) {
      if (end <= begin || end - begin > shape.candidates) {
        return corrupt_observations("a row has no candidate, or too many");
      }
      begin = end;
    }
    if (begin != o.mask_.size()) return corrupt_observations("the rows' candidates do not add up");
  } else if (o.mask_.size() != o.rows_ * shape.candidates) {
    return corrupt_observations("the rows' candidates do not add up");
  }
  std::size_t begin = 0;
  const std::uint32_t* end = o.node_end_.data();
  for (std::size_t b = 0; b < o.rows_ && !o.node_end_.empty(); ++b) {
    for (const auto& slot : shape.slots) {
      if (slot.dynamic_width == 0) continue;
      const std::size_t length = *end - begin;
      if (*end < begin || length % slot.dynamic_width != 0 ||
          length / slot.dynamic_width > limits.max_nodes) {
        return corrupt_observations("features of nodes have the wrong length");
      }
      begin = *end++;
    }
  }
  if (begin != o.node_features_.size())
    return corrupt_observations("the features of nodes do not add up");

  if (!all_below(o.graph_, o.graphs_.size()))
    return corrupt_observations("a graph index is out of range");
  if (!all_below(o.focus_, limits.max_nodes) || !all_below(o.candidate_nodes_, limits.max_nodes)) {
    return corrupt_observations("a node is out of range");
  }
  if (!all_below(o.agent_, shape.agents)) return corrupt_observations("an agent is out of range");
  if (!all_finite(o.globals_) || !all_finite(o.node_features_) || !all_finite(o.candidates_)) {
    return corrupt_observations("a feature is not finite");
  }
  // First all bits of all masks at once; then a row's first 1, which is soon found.
  unsigned bits = 0;
  for (const std::uint8_t valid : o.mask_) bits |= valid;
  bool each_allows = bits <= 1;
  const std::uint8_t* mask = o.mask_.data();
  for (std::size_t b = 0; b < o.rows_ && each_allows; ++b) {
    const std::uint8_t* const mask_end = mask + o.num_candidates(b);
    each_allows = std::find(mask, mask_end, std::uint8_t{1}) != mask_end;
    mask = mask_end;
  }
  if (!each_allows) {
    return corrupt_observations("a mask holds something other than 0 and 1, or allows no action");
  }
  return {};
}

}  // namespace pacml
