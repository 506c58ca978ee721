/// The amount of content on the main screen: less on a low terminal.
struct MainExtent: Sendable, Equatable {
  /// The most files that are shown.
  var files = 5
  /// The most notifications that are shown.
  var news = Coordinator.Main.mostNews
  /// Whether a bar shows the remaining time, besides the words.
  var hasBar = true
  /// Whether the screen shows the scope and the kind of the token.
  var hasFacts = true
  /// Whether the screen also says what will happen next.
  var hasOutlook = true
  /// The most lines of one text, such as the reason of a failure.
  var linesOfText = Int.max

  /// The whole content.
  static let whole = MainExtent()

  /// Smaller and smaller contents, until the last notification fits: it matters more than files.
  static let shorter: [MainExtent] = {
    let steps: [(inout MainExtent) -> Void] = [
      { $0.hasBar = false }, { $0.news = 2 }, { $0.hasOutlook = false }, { $0.files = 3 },
      { $0.hasFacts = false }, { $0.news = 1 }, { $0.files = 2 }, { $0.files = 1 },
      { $0.linesOfText = 2 }, { $0.files = 0 }, { $0.linesOfText = 1 },
    ]
    return steps.reduce(into: []) { extents, step in
      var extent = extents.last ?? .whole
      step(&extent)
      extents.append(extent)
    }
  }()
}
