#pragma once

#include "env/onnx/layer_shapes.h"

namespace pacml::env {

// The values of small constants: what exporters compute of shapes before they use it as a shape.
// `outputs` are those of the shape rule; their values are set where they can be told, and stay away
// where not. Numbers are doubles, so sums of whole ones are exact up to 2^53. Pure.
namespace constant_values {

using shapes::Outputs;

void passed_on(const OnnxCall& call, Outputs& outputs);   // in the same order: Reshape, Squeeze
void cast(const OnnxCall& call, Outputs& outputs);        // whole where the type is
void arithmetic(const OnnxCall& call, Outputs& outputs);  // Add, Mul, Equal, Where, Floor, ...
void concat(const OnnxCall& call, Outputs& outputs);
void slice(const OnnxCall& call, Outputs& outputs);
void gather(const OnnxCall& call, Outputs& outputs);
void repeated(const OnnxCall& call, Outputs& outputs);  // Expand, Tile: of one value
void reduce(const OnnxCall& call, Outputs& outputs);    // to one value

}  // namespace constant_values
}  // namespace pacml::env
