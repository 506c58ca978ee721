/// The colour of a line.
///
/// Colour-blind people can tell all these colours apart.
package enum ChartColor: Sendable, CaseIterable {
  case blue
  case orange
  case green
  case purple
}

/// The colours of a picture on a light or a dark page.
package enum ChartTheme: Sendable, CaseIterable {
  case light
  case dark

  var page: String { self == .light ? "#ffffff" : "#14181c" }
  var text: String { self == .light ? "#1c2328" : "#edf2f5" }
  /// The colour of secondary text: ticks and names of axes.
  var quietText: String { self == .light ? "#566169" : "#a5b1ba" }
  var grid: String { self == .light ? "#e3e8eb" : "#2b3339" }

  /// Returns the colour's code, with a contrast of at least 4.5 to the page.
  func code(_ color: ChartColor) -> String {
    switch (self, color) {
    case (.light, .blue): "#0a63b0"
    case (.light, .orange): "#b85000"
    case (.light, .green): "#007a58"
    case (.light, .purple): "#9a3d8f"
    case (.dark, .blue): "#6cb6ff"
    case (.dark, .orange): "#ffa25c"
    case (.dark, .green): "#4fd1a5"
    case (.dark, .purple): "#e79bdc"
    }
  }
}
