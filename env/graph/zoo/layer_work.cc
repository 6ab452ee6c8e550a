#include "env/graph/zoo/layer_work.h"

namespace pacml::env::zoo {
namespace {

constexpr double kIndexBytes = 8;  // where a pooling window had its maximum; which row is meant

}  // namespace

Work scaled(const Work& work, double factor) {
  return {.flops = work.flops * factor,
          .half_flops = work.half_flops * factor,
          .memory_bytes = work.memory_bytes * factor,
          .launches = work.launches * factor};
}

Work operator+(const Work& a, const Work& b) {
  return {.flops = a.flops + b.flops,
          .half_flops = a.half_flops + b.half_flops,
          .memory_bytes = a.memory_bytes + b.memory_bytes,
          .launches = a.launches + b.launches,
          .decoded_images = a.decoded_images + b.decoded_images,
          .host_bytes = a.host_bytes + b.host_bytes};
}

LayerWork product_work(const Product& product) {
  LayerWork work;
  // Half-precision products run where they are fastest.
  const bool is_half = product.element_bytes < kElementBytes;
  (is_half ? work.forward.half_flops : work.forward.flops) = 2 * product.multiply_adds;
  work.forward.memory_bytes =
      product.element_bytes * (product.inputs + product.weights + product.outputs);
  work.forward.launches = 1;
  work.backward = scaled(work.forward, product.gradients);
  return work;
}

LayerWork pointwise_work(double elements, double forward_bytes, double backward_bytes) {
  return {
      .forward = {.flops = elements, .memory_bytes = forward_bytes * elements, .launches = 1},
      .backward = {.flops = elements, .memory_bytes = backward_bytes * elements, .launches = 1}};
}

LayerWork normalisation_work(double elements, double element_bytes) {
  return {.forward = {.flops = 6 * elements,
                      .memory_bytes = 3 * element_bytes * elements,
                      .launches = 2},
          .backward = {
              .flops = 10 * elements, .memory_bytes = 5 * element_bytes * elements, .launches = 2}};
}

LayerWork softmax_work(double elements, double element_bytes) {
  return {.forward = {.flops = 5 * elements,
                      .memory_bytes = 2 * element_bytes * elements,
                      .launches = 1},
          .backward = {
              .flops = 4 * elements, .memory_bytes = 3 * element_bytes * elements, .launches = 1}};
}

LayerWork max_pool_work(double inputs, double outputs, double window, double element_bytes) {
  const double bytes = element_bytes * (inputs + outputs) + kIndexBytes * outputs;
  return {.forward = {.flops = outputs * window, .memory_bytes = bytes, .launches = 1},
          .backward = {.flops = outputs, .memory_bytes = bytes, .launches = 2}};
}

LayerWork reduction_work(double inputs, double outputs, double element_bytes) {
  const Work pass = {
      .flops = inputs, .memory_bytes = element_bytes * (inputs + outputs), .launches = 1};
  return {.forward = pass, .backward = pass};
}

LayerWork copy_work(double elements, double element_bytes) {
  const Work pass = {.memory_bytes = 2 * element_bytes * elements, .launches = 1};
  return {.forward = pass, .backward = pass};
}

LayerWork lookup_work(const Lookup& lookup) {
  const double moved = lookup.element_bytes * lookup.outputs;
  return {
      .forward = {.memory_bytes = 2 * moved + kIndexBytes * lookup.rows, .launches = 1},
      .backward = {.memory_bytes = lookup.element_bytes * lookup.table + 3 * moved, .launches = 2}};
}

LayerWork recurrent_work(const Recurrence& r) {
  LayerWork work;
  (r.element_bytes < kElementBytes ? work.forward.half_flops : work.forward.flops) =
      2 * r.multiply_adds;
  work.forward.memory_bytes =
      r.element_bytes * r.directions *
      (r.inputs + r.input_weights + r.steps * r.recurrent_weights + 2 * r.gates);
  work.forward.launches = r.directions * (1 + 2 * r.steps);
  work.backward = scaled(work.forward, 2);
  return work;
}

LayerWork cross_entropy_work(double elements, double element_bytes) {
  return {.forward = {.flops = 5 * elements,
                      .memory_bytes = 3 * element_bytes * elements,
                      .launches = 2},
          .backward = {
              .flops = 2 * elements, .memory_bytes = 2 * element_bytes * elements, .launches = 2}};
}

}  // namespace pacml::env::zoo
