#pragma once

#include <span>
#include <string_view>

#include "model/network_config.h"
#include "model/parameters.h"

namespace pacml::model {

// The flat vector's plan for the network of network_config.h. Pure; the same on every machine.
//
// Entries of head: dense, in this order and without gaps, for r = 0 .. rounds - 1 and then once:
//   round{r}.node_norm    round{r}.node    node half of a message
//   round{r}.edge_norm    round{r}.edge    edge half of a message
//   round{r}.reduce_norm  round{r}.reduce  what each message is put through before the mean
//   graph_norm  graph                      globals and mask
//   readout  logits  value                 heads
// and of the others, behind the layers of each slot's encoder in the order of
// encoders/graph_encoder.h, all of them named "encoder.SLOT. ...":
//   first  second  logits (without a bias)  situation  state  value    head: candidates
//   first  second  logits  value                                       head: perceptron
// Each has a `.weight` and a `.bias`: [width] for a norm, [out, in] and [out] for a linear layer.
//
// Pre: every width of `shape` is positive and the message width even (PACML_CHECK; users are told
// by validate).
[[nodiscard]] ParameterLayout make_layout(const NetworkShape& shape);

// The hash that make_layout stores: of names, shapes and offsets.
[[nodiscard]] std::uint64_t hash_entries(std::span<const ParameterEntry> entries);

// One weight by name. Borrowed from `parameters`. An unknown name, or values of another length than
// the layout's, is a bug (PACML_CHECK).
[[nodiscard]] std::span<const float> view(const Parameters& parameters,
                                          const ParameterLayout& layout, std::string_view name);
[[nodiscard]] std::span<float> view(Parameters& parameters, const ParameterLayout& layout,
                                    std::string_view name);

}  // namespace pacml::model
