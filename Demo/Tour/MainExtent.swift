/// The amount of content on the main screen: less on a terminal with few rows.
struct MainExtent: Sendable, Equatable {
  /// The maximum number of files that are shown.
  var files = 5
  /// The maximum number of notifications that are shown.
  var news = Coordinator.Main.mostNews
  /// Whether a bar also shows the remaining time.
  var hasBar = true
  /// Whether the screen shows the scope and type of the token.
  var hasFacts = true
  /// Whether the screen also shows what will happen next.
  var hasOutlook = true
  /// The maximum number of lines of a text, such as the reason of a failure.
  var linesOfText = Int.max

  /// The complete content.
  static let whole = MainExtent()

  /// The contents for terminals with fewer rows, each smaller than the one before.
  ///
  /// The newest notification is kept longest, because it matters more than the files.
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
