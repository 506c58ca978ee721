import Foundation
import Testing

/// A watch that counts how often any program closes a file.
final class FileWatch {
  private let events: Int32
  private var closings = 0

  init(_ path: String) throws {
    events = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    // The kernel merges equal consecutive events, so two closings in a row would be one event. The
    // watch also gets the opening between them, which keeps them apart.
    let mask = UInt32(IN_OPEN | IN_CLOSE_WRITE | IN_CLOSE_NOWRITE)
    try #require(inotify_add_watch(events, path, mask) >= 0, "\(path)")
  }

  deinit {
    close(events)
  }

  /// Returns how often the file was closed since the watch began.
  func countClosings() -> Int {
    // Events of a watched file have no name, so all have the same size.
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
