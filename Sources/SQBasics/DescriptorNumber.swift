import CSQSockets
import SQLibC

/// The numbers of files, sockets and pipes that the SDK opens.
package enum DescriptorNumber {
  /// Returns how many descriptors one part of the SDK may keep: `most`, but at most an eighth of
  /// the number that the process may have, and at least one.
  package static func budget(atMost most: Int) -> Int {
    let limit = sq_descriptor_limit()
    return limit < 0 ? most : max(1, min(most, limit / 8))
  }

  /// Moves a new descriptor to a number above those of the standard streams; returns that number.
  ///
  /// If the process has closed a standard stream, the system gives its number to the next file.
  /// Text that the app, a library or a thread of the host prints would then get into that file. A
  /// moved descriptor is closed on `exec`. If `number` is negative, because the file could not be
  /// opened, it is returned as it is. If no other number is free, the descriptor is closed, and the
  /// result is -1 with the reason in `errno`.
  ///
  /// - SeeAlso: fcntl(2), `F_DUPFD_CLOEXEC`
  package static func aboveStandard(_ number: Int32) -> Int32 {
    guard number >= 0, number <= STDERR_FILENO else { return number }
    let copy = fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
    let reason = errno
    close(number)
    errno = reason
    return copy
  }

  /// Moves both ends of a new pipe above the standard streams; returns `nil` and closes them if one
  /// cannot be moved.
  package static func aboveStandard(_ ends: [Int32]) -> [Int32]? {
    let moved = ends.map { aboveStandard($0) }
    guard moved.contains(where: { $0 < 0 }) else { return moved }
    let reason = errno
    for end in moved where end >= 0 { close(end) }
    errno = reason
    return nil
  }
}
