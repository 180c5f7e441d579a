// Compares what the numbers of compat/numbers compute with what PyTorch's compute, row by row, with
// the file that scripts/check-numbers-against-torch recorded. Uses neither a device nor the
// library.
//
//   numbers_golden FILE
#include <fstream>
#include <iostream>
#include <sconce/compat/numbers/types.hpp>

namespace c10 = sconce::compat::c10;
namespace at = sconce::compat::at;

// Integers and doubles become singles on purpose.
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#include "values.hpp"

int main(int argc, char** argv) {
  const numbers::Table table = numbers::all();
  std::ifstream file(argc == 2 ? argv[1] : "");
  std::vector<std::string> recorded;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') {
      recorded.push_back(line);
    }
  }
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < table.lines().size() || i < recorded.size(); ++i) {
    const std::string ours = i < table.lines().size() ? table.lines()[i] : "nothing";
    const std::string torchs = i < recorded.size() ? recorded[i] : "nothing";
    if (ours != torchs) {
      std::cout << "here:    " << ours << "\nPyTorch: " << torchs << '\n';
      ++wrong;
    }
  }
  std::cout << table.lines().size() << " rows, " << wrong << " of them not PyTorch's\n";
  return wrong == 0 ? 0 : 1;
}
