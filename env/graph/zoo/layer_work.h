#pragma once

#include "env/graph/zoo/network.h"

namespace pacml::env::zoo {

// What layers cost, one function a kind, whoever describes them: the zoo's builder or an imported
// model. Numbers of elements are those of the whole mini-batch, `element_bytes` is the size of one.
// All are pure.

// A training step's two passes.
struct LayerWork {
  Work forward = {};
  Work backward = {};
};

[[nodiscard]] Work scaled(const Work& work, double factor);
// One after the other.
[[nodiscard]] Work operator+(const Work& a, const Work& b);

// Forward: one matrix product, or one per output position. Backward: one of the same size for each
// operand that needs a gradient: the weights, and the input unless it is data.
struct Product {
  double multiply_adds = 0;
  double inputs = 0;
  double weights = 0;  // biases included
  double outputs = 0;
  int gradients = 2;  // how many operands need one
  double element_bytes = kElementBytes;
};
[[nodiscard]] LayerWork product_work(const Product& product);

// One operation an element; so many bytes are moved for each.
[[nodiscard]] LayerWork pointwise_work(double elements, double forward_bytes,
                                       double backward_bytes);

// Forward: one pass for mean and variance, one that normalises. Backward: one pass over input and
// gradient for the two sums, one that reads both again and writes.
[[nodiscard]] LayerWork normalisation_work(double elements, double element_bytes = kElementBytes);

// Forward: the exponentials and their sum, in one pass. Backward: output and gradient are read and
// one is written.
[[nodiscard]] LayerWork softmax_work(double elements, double element_bytes = kElementBytes);

// Forward also writes where each maximum was; backward clears the gradient and scatters into it.
[[nodiscard]] LayerWork max_pool_work(double inputs, double outputs, double window,
                                      double element_bytes = kElementBytes);

// Every input is read and added once, forth and back: averages, sums.
[[nodiscard]] LayerWork reduction_work(double inputs, double outputs,
                                       double element_bytes = kElementBytes);

// A copy in both directions.
[[nodiscard]] LayerWork copy_work(double elements, double element_bytes = kElementBytes);

// Forward gathers rows of the table. Backward clears a gradient as large as the table, then adds
// the gradients of the rows that were used.
struct Lookup {
  double table = 0;    // elements
  double rows = 0;     // that are looked up
  double outputs = 0;  // elements
  double element_bytes = kElementBytes;
};
[[nodiscard]] LayerWork lookup_work(const Lookup& lookup);

// The product with the input is made for all steps at once; that with the previous state, and the
// gates, step by step, reading the recurrent weights anew each time. Backward does everything
// twice: for the weights and for the inputs.
struct Recurrence {
  int directions = 1;
  double multiply_adds = 0;      // of all directions
  double inputs = 0;             // elements
  double input_weights = 0;      // of one direction, without biases
  double recurrent_weights = 0;  // likewise
  double steps = 0;
  double gates = 0;  // elements, of one direction
  double element_bytes = kElementBytes;
};
[[nodiscard]] LayerWork recurrent_work(const Recurrence& recurrence);

// Forward: the logarithm of the softmax is written and read again by the loss. Backward: it is read
// once more and the gradient written.
[[nodiscard]] LayerWork cross_entropy_work(double elements, double element_bytes = kElementBytes);

}  // namespace pacml::env::zoo
