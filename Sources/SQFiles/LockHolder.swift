import SQBasics
import SQFoundation
import SQLibC

/// A search in the kernel's list of locks for the process that has a file locked.
///
/// - SeeAlso: proc(5), `/proc/locks`
package enum LockHolder {
  /// How often the list is read until it names the process.
  ///
  /// The kernel passes on a long list in parts. If another lock ends between two parts, a line of
  /// the list can be missing.
  private static let attempts = 3

  /// Returns the process that has a file locked, such as "process 1234 (sq-demo)", or `nil` if it
  /// is not known.
  ///
  /// This finds locks of flock(2) and of fcntl(2). It takes no lock, so it may be called for any
  /// file.
  package static func name(of path: String) -> String? {
    #if os(Linux)
      var status = stat()
      guard lstat(path, &status) == 0,
        let process = process(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
      else { return nil }
      let name = text(of: "/proc/\(process)/comm").map { " (\($0.prefix { $0 != "\n" }))" }
      let note = process == getpid() ? ", this program itself," : ""
      return "process \(process)\((name ?? "").printable)\(note)"
    #else
      return nil
    #endif
  }

  private static func process(device: UInt64, inode: UInt64) -> Int32? {
    for _ in 0..<attempts {
      guard let locks = text(of: "/proc/locks") else { return nil }
      if let process = process(in: locks, device: device, inode: inode) { return process }
    }
    return nil
  }

  /// Finds the number of the process that has a file locked, in a text such as the content of
  /// `/proc/locks`.
  ///
  /// A shared lock counts only if it is on the whole file, because every program with an open
  /// SQLite database holds shared locks on some of its bytes. A process in another container is not
  /// found, because the list does not have its number.
  package static func process(in locks: String, device: UInt64, inode: UInt64) -> Int32? {
    let file = place(device: device, inode: inode)
    var sharing: Int32?
    for line in locks.split(separator: "\n") {
      let fields = line.split(separator: " ")
      // A line with `->` in its second field is skipped: its process still waits for the lock.
      guard fields.count >= 6, ["FLOCK", "POSIX", "OFDLCK"].contains(fields[1]),
        fields[5] == file, let process = Int32(fields[4]), process > 0
      else { continue }
      if fields[3] == "WRITE" { return process }
      if fields[1] == "FLOCK" { sharing = process }
    }
    return sharing
  }

  /// Returns the device's two numbers in hexadecimal and the inode, in the format of `/proc/locks`.
  ///
  /// makedev(3) packs the device's two numbers into one.
  private static func place(device: UInt64, inode: UInt64) -> String {
    let major = device >> 8 & 0xfff | device >> 32 & 0xffff_f000
    let minor = device & 0xff | device >> 12 & 0xffff_ff00
    return [major, minor].map { number in
      let digits = String(number, radix: 16)
      return (digits.count < 2 ? "0" : "") + digits
    }.joined(separator: ":") + ":\(inode)"
  }

  private static func text(of path: String) -> String? {
    (try? FileDescriptor.content(of: path, atMost: 4 * 1024 * 1024)).map {
      String(decoding: $0, as: UTF8.self)
    }
  }
}
