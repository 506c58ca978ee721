import Foundation
import Testing

/// Sees how often any program opens a file and closes it again.
final class FileWatch {
  private let events: Int32
  private var closings = 0

  init(_ path: String) throws {
    events = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    // The kernel counts equal events that follow one another as one, so openings are watched too.
    let mask = UInt32(IN_OPEN | IN_CLOSE_WRITE | IN_CLOSE_NOWRITE)
    try #require(inotify_add_watch(events, path, mask) >= 0, "\(path)")
  }

  deinit {
    close(events)
  }

  /// How often the file was closed since the watch began.
  func countClosings() -> Int {
    // An event of a file that is watched itself has no name, so all have one size.
    var seen = [inotify_event](repeating: inotify_event(), count: 64)
    while true {
      let count = read(events, &seen, seen.count * MemoryLayout<inotify_event>.size)
      guard count > 0 else { return closings }
      closings += seen.prefix(count / MemoryLayout<inotify_event>.size).count { event in
        event.mask & UInt32(IN_CLOSE_WRITE | IN_CLOSE_NOWRITE) != 0
      }
    }
  }
}
