// Reads lines "translation TAB reference" and prints BLEU and chrF of all of them.
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

#include "lab/training/text_scores.hpp"

int main() {
  std::vector<std::string> translations;
  std::vector<std::string> references;
  for (std::string line; std::getline(std::cin, line);) {
    const std::size_t tab = line.find('\t');
    translations.push_back(line.substr(0, tab));
    references.push_back(line.substr(tab + 1));
  }
  const auto scores = equinorm::lab::score_translations(translations, references);
  std::cout << std::setprecision(17) << scores.bleu << ' ' << scores.chrf << '\n';
}
