/// How much the main screen shows: less on a low terminal.
struct MainExtent: Sendable, Equatable {
  /// The most files.
  var files = 5
  /// The most notifications.
  var news = Coordinator.Main.mostNews
  /// Whether the time that is left is a bar too, and not in words alone.
  var hasBar = true
  /// Whether it tells what the token is for and of which kind it is.
  var hasFacts = true
  /// Whether it tells what is going to happen, and not only what has happened.
  var hasOutlook = true
  /// The most lines of one text, such as the reason of a failure.
  var linesOfText = Int.max

  /// All that there is to show.
  static let whole = MainExtent()

  /// Less and less, until what happened last has room; that goes before the files.
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
