// What the side with another class at::Tensor offers to the tests.
#ifndef SCONCE_TESTS_EXTENSIONS_FOREIGN_HPP
#define SCONCE_TESTS_EXTENSIONS_FOREIGN_HPP

#include <cstddef>
#include <cstdint>

// How many tensors of that side were destroyed.
extern int foreign_destroyed;
// The elements of so many of its tensors in a vector, 7 each.
std::int64_t foreign_count(std::size_t tensors);

#endif
