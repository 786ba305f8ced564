// SVG text: escaping, numbers, nesting.
#include "lab/report/svg.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace equinorm::lab::report {
namespace {

TEST(Escape, LeavesNoMarkupAndNoForbiddenCharacter) {
  EXPECT_EQ(escape("a<b>&\"c\"'d'"), "a&lt;b&gt;&amp;&quot;c&quot;&#39;d&#39;");
  EXPECT_EQ(escape(std::string("\x01\x1b[0m\n", 6)), "??[0m\n");
  EXPECT_EQ(escape("\u00e4\u2212"), "\u00e4\u2212");
}

TEST(Coordinate, IsShortAndNeverMinusZero) {
  EXPECT_EQ(coordinate(12), "12");
  EXPECT_EQ(coordinate(12.5), "12.5");
  EXPECT_EQ(coordinate(-0.001), "0");
  EXPECT_EQ(coordinate(1.0 / 3), "0.33");
  EXPECT_EQ(coordinate(100), "100");
}

TEST(Coordinate, WritesNoNaNAndNoInfinity) {
  EXPECT_EQ(coordinate(std::nan("")), "0");
  EXPECT_EQ(coordinate(std::numeric_limits<double>::infinity()), "0");
}

TEST(Svg, NamesItselfForScreenReadersAndEscapesWhatItIsGiven) {
  Svg svg(10, 20, "fig", "a < b", "it's");
  svg.text(1, 2, "tick", "<x>", {{"fill", "\"red\""}});
  EXPECT_EQ(svg.finish(),
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 10 20\" role=\"img\" "
            "aria-labelledby=\"fig-title fig-desc\"><title id=\"fig-title\">a &lt; b</title>"
            "<desc id=\"fig-desc\">it&#39;s</desc><text x=\"1\" y=\"2\" class=\"tick\" "
            "fill=\"&quot;red&quot;\">&lt;x&gt;</text></svg>");
}

TEST(Svg, IdsCarryTheFiguresName) {
  Svg svg(1, 1, "fig", "", "");
  EXPECT_EQ(svg.reference("clip"), "url(#fig-clip)");
}

}  // namespace
}  // namespace equinorm::lab::report
